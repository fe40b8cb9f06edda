"""Does a built site have all it needs? Its pages load nothing from elsewhere, and every
link to one of its own files leads to one.

    python docs/check_site.py build/docs
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# What a browser fetches by itself; a link (`a`) is followed only by people.
FETCHED = {"script": "src", "img": "src", "iframe": "src", "link": "href", "source": "src"}
HARMLESS = {"canonical", "author", "search", "index", "next", "prev", "help"}


class Links(HTMLParser):
    """What a page refers to: (is it fetched, where)."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[bool, str]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if tag in FETCHED and given.get(FETCHED[tag]):
            fetched = tag != "link" or given.get("rel") not in HARMLESS
            self.found.append((fetched, given[FETCHED[tag]] or ""))
        elif tag == "a" and given.get("href"):
            self.found.append((False, given["href"] or ""))


def problems(site: Path) -> Iterator[str]:
    """One line for each."""
    for page in sorted(site.rglob("*.html")):
        links = Links()
        links.feed(page.read_text(encoding="utf-8"))
        for fetched, target in links.found:
            parts = urlsplit(target)
            if parts.scheme == "data" or target.startswith("?"):
                continue
            if parts.scheme or parts.netloc:
                if fetched:
                    yield f"{page.relative_to(site)} fetches {target}"
            elif parts.path:
                place = page.parent / unquote(parts.path)
                if not (place / "index.html" if place.is_dir() else place).exists():
                    yield f"{page.relative_to(site)} refers to {target}, which is not there"
    for style in site.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        if "url(http" in text or "@import" in text:
            yield f"{style.relative_to(site)} fetches something"


if __name__ == "__main__":
    wrong = list(problems(Path(sys.argv[1])))
    print("\n".join(wrong) or "the site has all it needs", file=sys.stderr)
    raise SystemExit(bool(wrong))
