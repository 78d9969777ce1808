"""Runs the notebooks of ``examples/`` and writes a page for each: text, code, what it printed and drew.

Cells run as in Jupyter: one namespace for a notebook, the value of a last expression is shown (not after a semicolon),
figures of pyplot are shown at the end of the cell and closed. A cell that fails stops the build. Beside each page
stands the executed notebook as a file.

    python docs/gallery.py docs/_generated/gallery         also without Sphinx
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).parent.parent / "examples"

Output = dict[str, Any]
"""One output of a cell, as the notebook format has it."""


class NotebookFailed(Exception):
    """A cell of a notebook raised an error."""


def run_notebook(path: Path) -> dict[str, Any]:
    """The notebook with the outputs of its cells, run from the first to the last in an empty folder.

    Raises
    ------
    NotebookFailed
        With the file, the number of the cell and the error.
    """
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with _empty_folder():
        for number, cell in enumerate(notebook["cells"], start=1):
            if cell["cell_type"] != "code":
                continue
            try:
                cell["outputs"] = list(_run_cell("".join(cell["source"]), namespace, f"{path.name}, cell {number}"))
            except Exception as error:
                raise NotebookFailed(f"{path.name}, cell {number}: {type(error).__name__}: {error}") from error
    return notebook


def page(notebook: dict[str, Any], name: str, folder: Path) -> str:
    """Markdown for Sphinx; figures are written to ``folder``."""
    parts: list[str] = []
    figures = 0
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                figures += 1
                picture = f"{name}-{figures}.png"
                (folder / picture).write_bytes(base64.b64decode(data["image/png"]))
                parts.append(f"![Figure {figures}, drawn by the cell above.]({picture})")
            elif "text/html" in data:
                parts.append(f"```{{raw}} html\n{data['text/html']}\n```")
            else:
                parts.append(f"```text\n{(data.get('text/plain') or output['text']).rstrip()}\n```")
    parts.append(f"{{download}}`This notebook with its results <{name}.ipynb>`")
    return "\n\n".join(parts) + "\n"


def write(folder: Path, examples: Path = EXAMPLES) -> None:
    """Run every notebook and write pages, figures and executed notebooks to ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    cards = []
    for path in sorted(examples.glob("*.ipynb")):
        executed = run_notebook(path)
        cards.append(card(executed, path.stem, folder.name))
        (folder / path.name).write_text(json.dumps(executed, indent=1, ensure_ascii=False), encoding="utf-8")
        (folder / f"{path.stem}.md").write_text(page(executed, path.stem, folder), encoding="utf-8")
    (folder.parent / "gallery.inc.md").write_text("\n".join(cards), encoding="utf-8")


def card(notebook: dict[str, Any], name: str, folder: str) -> str:
    """Markdown of a notebook's place in the gallery: its last figure, made small, its title and first sentence."""
    title, _, text = "".join(notebook["cells"][0]["source"]).partition("\n")
    sentence = re.match(r".*?[.?](?=\s|$)", " ".join(text.split()))
    target = f"_generated/{folder}/{name}"
    kinds = [output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", [])]
    count = sum("image/png" in data for data in kinds)
    picture = f"[![]({target}-{count}.png)]({target}.md)\n\n" if count else ""
    said = sentence[0] if sentence else ""
    return f":::{{container}} card\n{picture}**[{title.removeprefix('# ')}]({target}.md)**\n\n{said}\n:::\n"


@contextlib.contextmanager
def _empty_folder() -> Iterator[None]:
    """Whatever a notebook writes goes away with the folder."""
    here = Path.cwd()
    with tempfile.TemporaryDirectory(prefix="sottovoce-gallery-") as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(here)


def _run_cell(source: str, namespace: dict[str, Any], name: str) -> Iterator[Output]:
    tree = ast.parse(source, filename=name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, name, "exec", dont_inherit=True), namespace)  # noqa: S102  our own notebooks
        if isinstance(last, ast.Expr):
            code = compile(ast.Expression(last.value), name, "eval", dont_inherit=True)
            value = eval(code, namespace)  # noqa: S307
    if printed.getvalue():
        yield {"output_type": "stream", "name": "stdout", "text": printed.getvalue()}
    if value is not None and not source.rstrip().endswith(";"):
        yield {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": _shown(value)}
    yield from _figures()


def _shown(value: object) -> dict[str, str]:
    shown = {"text/plain": repr(value)}
    png, html = getattr(value, "_repr_png_", None), getattr(value, "_repr_html_", None)
    if png is not None:
        return shown | {"image/png": base64.b64encode(png()).decode("ascii")}
    return shown | {"text/html": html()} if html is not None else shown


def _figures() -> Iterator[Output]:
    from matplotlib import pyplot as plt

    for number in plt.get_fignums():
        drawn = io.BytesIO()
        plt.figure(number).savefig(drawn, format="png", dpi=110, metadata={"Software": None})
        plt.close(number)
        picture = base64.b64encode(drawn.getvalue()).decode("ascii")
        yield {"output_type": "display_data", "metadata": {}, "data": {"image/png": picture}}


if __name__ == "__main__":
    os.environ.setdefault("MPLBACKEND", "Agg")
    write(Path(sys.argv[1]))
