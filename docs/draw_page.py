"""The page *How a draw works*: one triangle, layer by layer, as a run of it wrote it down.

    python docs/draw_page.py build/live/live/draw.html

The layers and their files are those of the diagram of docs/architecture.md (`diagram.py`); what is
shown at each is from the run: calls, keys, vertices, coverage, and the history of a pixel that the
reader chooses.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from diagram import LAYERS

from gallette.inspector.observe import observe
from gallette.lessons import command_stream, triangle
from gallette.lessons.page import Page
from gallette.reports.html import write_lesson

TITLE = "How a draw works"
DRIVER = "numpipe"
COLUMNS = range(24, 150, 14)  # of the pixels to choose from, in one row
ROW = 44


def page() -> Page:
    """The page, made from one run of the triangle."""
    made = Page(TITLE)
    run = triangle.run_once(DRIVER)
    made.prose(
        "An application draws a triangle. Choose a layer, and see what the draw is there: a call, "
        "commands, state, lanes, pixels. Everything below was written down by one run."
    )
    made.pictures(("what the application sees in the end", run.picture))
    steps = _steps(made, run)
    folders = {folder: (what, boxes) for folder, what, _, boxes in LAYERS}

    def at(folder: str) -> None:
        what, boxes = folders[folder]
        made.prose(f"## {folder.rstrip('/')}: {what}")
        steps[folder]()
        made.table(("file or call", "what it does"), boxes)

    made.control("Follow the draw through the layers", list(folders), at)
    made.prose("[The architecture](../architecture.html) names the functions of each step.")
    return made


def _steps(made: Page, run: triangle.Run) -> dict[str, Callable[[], None]]:
    """What the run knows of each layer, by the layer's folder."""
    calls, asked = triangle.gl_calls(run), triangle.pipe_calls(run)
    frame = observe(run.capture, DRIVER)
    drawn = next(d for d in reversed(frame.draws) if d.state)

    def application() -> None:
        made.prose(f"Its {len(calls)} calls of OpenGL end with the one that draws.")
        made.code("\n".join(calls[-12:]), "c")

    def stream() -> None:
        commands = command_stream.drawn(DRIVER).commands
        made.prose(
            "A program in C calls functions that return nothing. They are not executed when they "
            f"are called, but written into a ring of memory: another program's first commands, of "
            f"{len(commands)} in a frame."
        )
        made.code("\n".join(text for _, text in commands[:12]), "c")

    def state_tracker() -> None:
        bound = [c for c in asked if c.startswith(("bind_", "set_"))]
        made.prose(
            f"What OpenGL has set is derived into {len(bound)} pieces of pipe state, now that a "
            "draw needs them."
        )
        made.code("\n".join(bound), "c")

    def pipe() -> None:
        made.prose("The draw itself is one call of the interface that any driver implements.")
        made.code(asked[-1], "c")

    def queue() -> None:
        made.prose(
            "State decides which variants of the shaders are needed. A variant is compiled once; "
            "small draws wait for others like them."
        )
        rows = [
            (stage, v["key"], v["reason"])
            for stage, told in run.stages.items()
            for v in told["variants"]
        ]
        made.table(("stage", "variant's key", "because it"), rows)

    def vertices() -> None:
        made.prose("All vertices are fetched at once, and each runs the vertex shader once.")
        rows = triangle.vertex_rows(run, DRIVER)
        made.table(("vertex", "clip position", "in the window", "mixed"), rows)

    def raster() -> None:
        covered = frame.pictures[drawn.overlays["overdraw"]][..., 0] > 0
        rows = int(covered.any(axis=1).sum())
        made.prose(
            f"The corners are put on a grid of 1/256 pixel. The edges are solved for each of "
            f"{rows} rows, which gives {drawn.fragments:,} fragments; each becomes a lane."
        )
        grey = np.repeat((covered[::-1] * 255).astype(np.uint8)[..., None], 3, axis=-1)
        made.pictures(("covered pixels", grey))

    def output() -> None:
        made.prose("Fragments are shaded in lanes, tested, blended and stored. Choose a pixel:")

        def pixel(x: int) -> None:
            rows, stored = triangle.history_rows(run, x, ROW, DRIVER)
            made.pictures((f"pixel {x}, {ROW}", triangle.with_mark(run.picture, x, ROW)))
            made.table(("what", "when", "value"), rows)
            made.prose(f"Its bytes in memory: `{stored}`.")

        made.control(f"column of the pixel, in row {ROW}", list(COLUMNS), pixel)

    steps = (application, stream, state_tracker, pipe, queue, vertices, raster, output)
    return dict(zip((folder for folder, *_ in LAYERS), steps, strict=True))


def write(path: Path) -> None:
    """Make the page and write it."""
    write_lesson(page(), path, subtitle="one triangle, layer by layer")


if __name__ == "__main__":
    write(Path(sys.argv[1]))
