"""The documentation as a site: Sphinx, its theme furo, Markdown by MyST. `make docs` builds it.

Everything lies in the site itself; a page fetches nothing from anywhere when it is looked at.
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
exclude_patterns = ["live_pages.py"]
html_theme = "furo"
html_title = f"gallette {__version__}"
html_show_sphinx = False
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
pygments_style = "friendly"
pygments_dark_style = "monokai"


def setup(app: Any) -> None:
    """NIR is coloured as in the reports; docstrings are Markdown where they have `code`."""
    app.add_lexer("nir", NirLexer)
    for language in ("shader_test", "simd", "tiler"):
        app.add_lexer(language, TextLexer)
    app.connect("autodoc-process-docstring", _markdown)


def _markdown(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    for i, line in enumerate(lines):
        if line.lstrip().startswith(">>>"):
            continue
        line = re.sub(r"(?<!`)`([^`]+)`(?![`_])", r"``\1``", line)
        parts = re.split(r"(``[^`]*``)", line)  # outside of code, | means nothing
        lines[i] = "".join(
            part if part.startswith("``") else re.sub(r"([|])", r"\\\1", part) for part in parts
        )
