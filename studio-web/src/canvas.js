// Canvases as sharp as the screen.

/**
 * Empty a canvas and make it fit its place on the page.
 * @param {HTMLCanvasElement} canvas
 * @returns {{pen: CanvasRenderingContext2D, width: number, height: number} | null} a pen that counts in the page's
 *   pixels, or nothing where the canvas is not shown
 */
export function cleared(canvas) {
  const ratio = devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  if (!width) return null;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  return { pen, width, height };
}
