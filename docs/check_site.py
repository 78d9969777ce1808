"""Check a built site: every link to another page or place in it exists, and nothing is loaded from another host.

Sphinx checks the references that it resolves itself; this reads the HTML that readers get.

    python docs/check_site.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADING = {
    "script": ("src",),
    "img": ("src", "srcset"),
    "iframe": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "embed": ("src",),
}
"""Attributes whose address a browser fetches by itself."""

LOADING_LINKS = {"stylesheet", "preload", "prefetch", "icon", "preconnect", "dns-prefetch", "modulepreload", "manifest"}


class Page(HTMLParser):
    """Collects what a page loads, what it links to, and the places that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.links: list[str] = []
        self.places: set[str] = {"", "top"}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Sort one tag's addresses."""
        given = {name: value or "" for name, value in attrs}
        self.places.update(given[name] for name in ("id", "name") if name in given)
        self.loads += [given[name] for name in LOADING.get(tag, ()) if given.get(name)]
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        elif tag == "link" and given.get("href"):
            loading = LOADING_LINKS & set(given.get("rel", "").split())
            (self.loads if loading else self.links).append(given["href"])


def is_remote(address: str) -> bool:
    """Whether fetching ``address`` would leave the site."""
    return bool(urlsplit(address).netloc)


def problems(site: Path) -> list[str]:
    """One line for every remote load and every broken internal link."""
    pages = {path.resolve(): Page(path.read_text(encoding="utf-8")) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name} loads {address} from another host" for address in page.loads if is_remote(address)]
        for address in page.loads + page.links:
            if is_remote(address) or urlsplit(address).scheme:
                continue
            parts = urlsplit(address)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{name} refers to {address}, which does not exist")
            elif target in pages and unquote(parts.fragment) not in pages[target].places:
                found.append(f"{name} refers to {address}, and there is no such place on that page")
    for path in sorted(site.rglob("*.css")):
        text = path.read_text(encoding="utf-8")
        if "url(http" in text or "url(//" in text or "@import url" in text:
            found.append(f"{path.relative_to(site)} loads something from another host")
    if not pages:
        found.append(f"{site} contains no pages")
    return found


def main() -> int:
    """Print the problems; exit with 1 if there are any."""
    found = problems(Path(sys.argv[1]))
    for line in found:
        print(line, file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
