// Bundles src/ into ../src/sottovoce/studio/static/. Run with `npm ci && npm run build`.
// --watch rebuilds on every change, without minifying.
import { context, build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises";

const out = "../src/sottovoce/studio/static";
const bundled = ["uplot", "d3-force", "d3-dispatch", "d3-quadtree", "d3-timer"];
const watch = process.argv.includes("--watch");
const options = {
  entryPoints: { studio: "src/main.js", style: "src/style.css" },
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: !watch,
  legalComments: "none", // the licences are in LICENSES.txt, whole
  outdir: out,
};

async function licences() {
  const parts = ["The studio's page contains these packages, built into studio.js and style.css.\n"];
  for (const name of bundled) {
    const { version } = JSON.parse(await readFile(`node_modules/${name}/package.json`, "utf8"));
    const text = await readFile(`node_modules/${name}/LICENSE`, "utf8");
    parts.push(`${"-".repeat(80)}\n${name} ${version}\n\n${text.trim()}\n`);
  }
  return parts.join("\n");
}

/** Names the sources that were built, so that a test can tell when somebody forgot to. */
async function digest() {
  const hash = createHash("sha256");
  const names = (await readdir("src")).sort().map((name) => `src/${name}`);
  for (const name of [...names, "package-lock.json"]) hash.update(await readFile(name));
  return hash.digest("hex");
}

await mkdir(out, { recursive: true });
await copyFile("src/index.html", `${out}/index.html`);
await copyFile("src/icon.svg", `${out}/icon.svg`);
await writeFile(`${out}/sources.sha256`, `${await digest()}\n`);
await writeFile(`${out}/LICENSES.txt`, await licences());
if (watch) await (await context(options)).watch();
else await build(options);
