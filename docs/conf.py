"""Sphinx configuration. The build needs no network: nothing is downloaded, nothing is linked from a CDN."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import gallery  # noqa: E402  the path above comes first
import generated_pages  # noqa: E402

import sottovoce  # noqa: E402

project = "sottovoce"
author = "The sottovoce authors"
copyright = "2026, the sottovoce authors"
version = release = sottovoce.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "numpydoc",
    "resolve_aliases",
]
exclude_patterns = ["_build", "_generated/*.inc.md", "_static", "_templates"]

# -- pages ------------------------------------------------------------------------------------------

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "fieldlist", "smartquotes"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# -- reference -------------------------------------------------------------------------------

generated_pages.write(HERE / "_generated")
os.environ["MPLBACKEND"] = "Agg"
gallery.write(HERE / "_generated" / "gallery")  # runs the notebooks; one that fails ends the build
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
autodoc_default_options = {"members": True}
python_maximum_signature_line_length = 100
numpydoc_show_class_members = False  # autodoc lists them, once
numpydoc_xref_param_type = False  # our types are in the signatures
numpydoc_class_members_toctree = False

_ARRAY_LIKE = """
    _Buffer | _SupportsArray[dtype[Any]] | _NestedSequence[_SupportsArray[dtype[Any]]]
    | complex | bytes | str | _NestedSequence[complex | bytes | str]
"""
_READABLE = {
    r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)(?:\[Any\])?\]\]": r"NDArray[\1]",
    re.escape(" ".join(_ARRAY_LIKE.split())): "ArrayLike",
}


def shorten(*event: str | None) -> tuple[str, str | None] | None:
    """Write NumPy's types in a signature by the names that people know."""
    *_, arguments, result = event
    if arguments is None:
        return None
    texts = []
    for given in (arguments, result or ""):
        text = re.sub(r"~(numpy|collections|typing)\.([\w.]*\.)?", "", given)
        text = text.replace("<factory>", "...")  # a default that is made anew each time; not an expression
        for pattern, word in _READABLE.items():
            text = re.sub(pattern, word, text)
        texts.append(text)
    return texts[0], texts[1] or None


def keep_bars(*event: Any) -> None:
    """In docstrings |x| is an absolute value, not a substitution of reStructuredText."""
    lines, in_example = event[-1], False
    for number, line in enumerate(lines):
        in_example = bool(line.strip()) and (in_example or line.lstrip().startswith(">>>"))
        if not in_example:
            parts = line.split("``")
            parts[::2] = [re.sub(r"(?<!\\)\|(?=\S)([^|`]*[^|`\s])\|", r"\\|\1\\|", part) for part in parts[::2]]
            lines[number] = "``".join(parts)


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", keep_bars, priority=100)
    app.connect("autodoc-process-signature", shorten)


# Every name in our own pages must resolve. Names of other packages cannot be looked up without a
# network, and private aliases have no page.
nitpicky = True
_PACKAGES = "numpy np npt scipy networkx nx pandas pyarrow matplotlib numba click rich grpc cryptography google"
_STANDARD = (
    "abc asyncio collections concurrent contextlib dataclasses datetime enum logging os pathlib ssl types typing"
)
_NAMES = """
    ndarray NDArray ArrayLike DTypeLike float64 int32 int64 uint64 integer floating bool_ Generator Path PathLike Any
    Callable Iterable Iterator Sequence Mapping Self Literal ClassVar Enum StrEnum IntEnum Axes Figure DataFrame
    csr_array sparray spmatrix Executor Awaitable Coroutine AsyncIterator Array Edges
    None True False bool bytes dict float frozenset int list object set str tuple type optional
    ArithmeticError Exception ImportError KeyError OSError RuntimeError TypeError ValueError
"""
nitpick_ignore_regex = [
    (r"py:.*", rf"({'|'.join((_PACKAGES + ' ' + _STANDARD).split())})(\..*)?"),
    (r"py:.*", "|".join(_NAMES.split())),
    (r"py:.*", r"sottovoce\.(.*\.)?_.*"),
]

# -- site -------------------------------------------------------------------------------------------

html_theme = "furo"
html_title = f"sottovoce {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
templates_path = ["_templates"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "friendly"
pygments_dark_style = "monokai"

mathjax_path = "mathjax/tex-svg-full.js"
mathjax3_config = {
    "tex": {"macros": {"R": r"\mathbb{R}", "E": [r"\mathbb{E}\left[#1\right]", 1]}},
    "svg": {"fontCache": "global"},
    "options": {"enableMenu": False},  # its speech rules would be fetched from a file that is not vendored
}
