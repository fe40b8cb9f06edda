"""The results of comparing pictures, as a page and as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gallette.compiler.output_files import write_whole
from gallette.golden.comparing import Comparison


def write_page(results: Sequence[Comparison], target: Path, title: str, hint: str = "") -> Path:
    """A page with each picture beside its golden, the difference, and a closer look (swipe)."""
    from gallette.reports.html import page_path, render_page

    return render_page(
        "golden.html.jinja",
        page_path(target),
        title=title,
        subtitle="pictures and their golden images",
        results=sorted(results, key=lambda result: result.ok),
        hint=hint,
    )


def write_json(data: dict[str, Any], path: Path) -> None:
    """Write to a file, or to standard output if it is `-`."""
    text = json.dumps(data, indent=2) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
    else:
        write_whole(path, text, folder=True)
