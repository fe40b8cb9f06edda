"""The documentation as a site: Sphinx, its theme furo, Markdown by MyST. `make docs` builds it.

The site has the colours and the type of gallette's own pages, taken from their style sheet. It is
complete: a page fetches nothing from elsewhere when it is opened.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pygments.lexers.special import TextLexer

from gallette import __version__
from gallette.reports.highlight import NirLexer

project = "gallette"
author = "the authors of gallette"
version = release = __version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3
# Pages link to files of the repository too, which are not part of the site.
suppress_warnings = ["myst.xref_missing"]
exclude_patterns = ["live_pages.py", "ci/sample"]
html_theme = "furo"
html_title = f"gallette {__version__}"
_TEMPLATES = Path(__file__).parent.parent / "gallette" / "templates"
_STYLE = "".join((_TEMPLATES / f"{name}.css").read_text("utf-8") for name in ("shared", "style"))
_ROLES = {
    "color-background-primary": "ground",
    "color-background-secondary": "card",
    "color-background-hover": "code",
    "color-background-border": "line",
    "color-foreground-primary": "ink",
    "color-foreground-secondary": "faint",
    "color-foreground-muted": "faint",
    "color-foreground-border": "faint",
    "color-brand-primary": "accent",
    "color-brand-content": "accent",
    "color-brand-visited": "accent",
    "color-code-background": "code",
    "color-inline-code-background": "code",
    "color-card-background": "card",
    "color-table-border": "line",
}
"""The theme's names for colours, and those of gallette's pages."""


def _colors(scheme: int) -> dict[str, str]:
    """The colours of gallette's pages: light (the style sheets' first `:root`) or dark."""
    roots = re.findall(r":root \{(.*?)\}", _STYLE, re.S)
    found = dict(re.findall(r"--([\w-]+): (#\w+);", roots[scheme]))
    return {name: found[ours] for name, ours in _ROLES.items()} | {"font-stack": _FONT}


_FONT = re.findall(r"font: [^;]*? (system-ui[^;]*);", _STYLE)[0]
html_theme_options = {"light_css_variables": _colors(0), "dark_css_variables": _colors(1)}
html_show_sphinx = False
html_show_copyright = False
html_show_sourcelink = False
html_copy_source = False
html_static_path = ["site"]
html_css_files = ["site.css"]
# Made by `live_pages.py` just before: a report, the course, an explorer's page.
_LIVE = Path(__file__).resolve().parent.parent / "build" / "live"
html_extra_path = [str(_LIVE)] if _LIVE.is_dir() else []
autodoc_default_options = {"members": True, "member-order": "bysource", "undoc-members": False}
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
# Styles whose every colour can be read on their ground (contrast of 4.5 and more).
pygments_style = "xcode"
pygments_dark_style = "github-dark"


def setup(app: Any) -> None:
    """Colour NIR as the reports do, and read `code` of docstrings as Markdown."""
    app.add_lexer("nir", NirLexer)
    for language in ("shader_test", "simd", "tiler"):
        app.add_lexer(language, TextLexer)
    app.connect("autodoc-process-docstring", _markdown)
    app.connect("build-finished", _accessible)


def _markdown(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    for i, line in enumerate(lines):
        if line.lstrip().startswith(">>>"):
            continue
        line = re.sub(r"(?<!`)`([^`]+)`(?![`_])", r"``\1``", line)
        parts = re.split(r"(``[^`]*``)", line)  # outside of code, | means nothing
        lines[i] = "".join(
            part if part.startswith("``") else re.sub(r"([|])", r"\\\1", part) for part in parts
        )


# What the theme leaves out for people who use a screen reader or no mouse.
_LEFT_OUT = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="all pages">'),
    ('<aside class="toc-drawer', '<aside aria-label="this page" class="toc-drawer'),
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
)


def _accessible(app: Any, error: Exception | None) -> None:
    """Give headings levels and landmarks names, and let the keyboard reach what scrolls."""
    if error is None and app.builder.format == "html":
        for page in Path(app.outdir).rglob("*.html"):
            if "live" not in page.relative_to(app.outdir).parts:
                text = page.read_text(encoding="utf-8")
                for given, wanted in _LEFT_OUT:
                    text = text.replace(given, wanted)
                page.write_text(text, encoding="utf-8")
