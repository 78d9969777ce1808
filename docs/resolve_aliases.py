"""Sphinx extension: a name resolves to its place in the reference however it is reached.

``Graph`` is ``sottovoce.Graph``, ``sottovoce.graphs.Graph`` and ``sottovoce.graphs.graph.Graph``; the
reference has it once. A docstring may also name its neighbours in the same module without a prefix. A
name that exists and has no page of its own (a module inside a package, a constant) is shown without a
link; a name that does not exist is an error, as ever.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode


def find(dotted: str) -> Any:
    """The object at ``dotted``, or None."""
    parts = dotted.split(".")
    if parts[0] != "sottovoce":
        return None
    for cut in range(len(parts), 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:cut]))
        except ImportError:
            continue
        for part in parts[cut:]:
            declared = getattr(found, "__annotations__", {}).get(part)
            found = getattr(found, part, declared)
        return found
    return None


def home(dotted: str) -> str | None:
    """Where the class, function or property at ``dotted`` was defined."""
    found = find(dotted)
    found = getattr(found, "fget", found)
    found = getattr(found, "func", found)  # cached_property
    name = getattr(found, "__qualname__", None)
    return f"{found.__module__}.{name}" if name and getattr(found, "__module__", None) else None


def candidates(node: pending_xref) -> Iterator[str]:
    """Full names that a reference may mean, nearest first."""
    target = node["reftarget"].lstrip(".")
    yield target
    around = [node.get("py:module"), node.get("py:class")]
    parent: nodes.Node | None = node
    while parent is not None and not parent.source:
        parent = parent.parent
    written_in = re.search(r"docstring of ([\w.]+)", (parent.source or "") if parent is not None else "")
    if written_in:
        around.append(written_in[1])
    for place in filter(None, around):
        parts = place.split(".")
        for length in range(len(parts), 0, -1):
            yield ".".join([*parts[:length], target])


def resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement) -> nodes.Element | None:
    """Answer to Sphinx's ``missing-reference``."""
    if node.get("refdomain") != "py":
        return None
    objects = env.domains.python_domain.objects
    homes = getattr(env, "sottovoce_homes", None)
    if homes is None:
        homes = {home(name): name for name in objects}
        env.sottovoce_homes = homes  # type: ignore[attr-defined]
    for name in candidates(node):
        documented = name if name in objects else homes.get(home(name) or "")
        if documented:
            entry = objects[documented]
            return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, documented)
    return content if any(find(name) is not None for name in candidates(node)) else None


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
