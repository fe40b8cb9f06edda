"""The site's living part: a report, the course, how a draw works, an explorer's page and a frame.

    python docs/live_pages.py build/live/live [--lessons NAME,NAME]

Each page is one file that fetches nothing. `--lessons` makes only some of the course (for tests).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import draw_page

from gallette.cli import main as gallette
from gallette.inspector.examples import FRAGMENT, VERTEX
from gallette.lessons.course import write_course

MOST = 2_000_000  # bytes of a page
SCENES = ("shadow_map", "depth_prepass", "transparency")


def make(folder: Path, lessons: list[str] | None) -> None:
    """Write every page."""
    folder.mkdir(parents=True, exist_ok=True)
    # 1: there are differences, which is what a report is for.
    assert gallette(["diff", *SCENES, "--html", str(folder / "report")]) in (0, 1)
    assert gallette(["inspect", SCENES[0], "--html", str(folder / "inspector.html")]) == 0
    with tempfile.TemporaryDirectory() as sources:
        for name, text in (("wave.vert", VERTEX), ("wave.frag", FRAGMENT)):
            (Path(sources) / name).write_text(text, encoding="utf-8")
        shader = str(Path(sources) / "wave.frag")
        assert gallette(["explain", shader, "--html", str(folder / "explorer.html")]) == 0
    draw_page.write(folder / "draw.html")
    _, written = write_course(folder / "lessons", "numpipe", lambda text: None, lessons)
    for page in written:
        if page.path is None:
            print(f"left out: {page.lesson.name} ({page.missing})", file=sys.stderr)
    for path in folder.rglob("*.html"):
        assert path.stat().st_size < MOST, f"{path} has {path.stat().st_size} bytes"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--lessons", default=None, help="only these, separated by commas")
    options = parser.parse_args()
    make(options.folder, options.lessons.split(",") if options.lessons else None)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
