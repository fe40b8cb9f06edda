"""The diagram of docs/architecture.md: the layers that a draw passes through.

    python docs/diagram.py docs/pictures/draw_call.svg

A test draws it again and looks whether the files exist.
"""

from __future__ import annotations

import sys
from html import escape
from pathlib import Path

LAYERS = (
    ("the application", "C or Python", "#b4541a", (
        ("glDrawArrays", "a C function pointer"),
        ("gl.draw_arrays", "a Python method"),
    )),
    ("state_tracker/stream/", "calls from C as commands", "#8a4f9e", (
        ("stubs.py", "a call becomes a command"),
        ("ring.py", "commands of a batch"),
        ("batch.py", "state of every draw of it"),
    )),
    ("state_tracker/", "OpenGL", "#8a4f9e", (
        ("entry_points/dispatch.py", "arguments, GL errors"),
        ("drawing/draw.py", "rules of the specification"),
        ("drawing/validate.py", "dirty bits to pipe state"),
    )),
    ("pipe/", "interface", "#2e7d5b", (
        ("interface.py", "Context.draw_vbo"),
        ("state.py", "DrawInfo and pipe state"),
    )),
    ("drivers/common/draw/", "pending draws", "#3f62a8", (
        ("programs.py", "variant keys and variants"),
        ("queue.py", "pending draws, snapshots"),
        ("execution.py", "merges and orders draws"),
    )),
    ("drivers/common/vertex/", "vertices", "#3f62a8", (
        ("fetch.py", "attributes as lanes"),
        ("assembly.py", "vertices to primitives"),
        ("clip.py", "primitives at clip planes"),
    )),
    ("drivers/common/raster/", "coverage", "#3f62a8", (
        ("setup.py", "edges in 1/256 pixel"),
        ("spans.py", "covered pixels of a row"),
        ("fragments.py", "fragments as lanes"),
        ("interpolate.py", "varyings as planes"),
    )),
    ("drivers/common/output/", "fragments", "#3f62a8", (
        ("engine.py", "order of tests and shading"),
        ("order.py", "visible fragments, layers"),
        ("depth.py", "depth and stencil"),
        ("color.py", "blend, pack, store"),
    )),
)  # fmt: skip
"""Folder, what it does, colour, and boxes: file (or call), and what it does."""

WIDTH, ROW, TOP = 1000, 88, 14
STYLE = """
.f { font-size: 15px; font-weight: 700; fill: #22252b; }
.l { font-size: 13px; fill: #5e636c; }
.t { font-size: 13px; font-weight: 600; fill: #22252b; text-anchor: middle; font-family: ui-monospace, DejaVu Sans Mono, monospace; }
.s { font-size: 11px; fill: #5e636c; text-anchor: middle; }
.b { fill: #ffffff; stroke: #e3e0da; }
.a { stroke: #5e636c; stroke-width: 2; fill: none; marker-end: url(#h); }
"""  # noqa: E501


def diagram() -> str:
    """The SVG."""
    height = TOP + len(LAYERS) * ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="system-ui, Segoe UI, DejaVu Sans, sans-serif">',
        "<title>The layers that a draw passes through</title>",
        f"<style>{STYLE}</style>",
        '<defs><marker id="h" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="#5e636c"/></marker>'
        "</defs>",
        f'<rect width="{WIDTH}" height="{height}" fill="#fbfaf8"/>',
    ]
    for number, (folder, what, color, boxes) in enumerate(LAYERS):
        y = TOP + number * ROW
        parts.append(
            f'<rect x="10" y="{y}" width="{WIDTH - 20}" height="{ROW - 22}" rx="10" '
            f'fill="{color}" fill-opacity="0.10" stroke="{color}" stroke-opacity="0.5"/>'
            f'<text x="24" y="{y + 28}" class="f">{escape(folder)}</text>'
            f'<text x="24" y="{y + 48}" class="l">{escape(what)}</text>'
        )
        left, gap = 250, 14
        width = (WIDTH - 24 - left - gap * (len(boxes) - 1)) / len(boxes)
        for place, (name, words) in enumerate(boxes):
            x = left + place * (width + gap)
            middle = x + width / 2
            parts.append(
                f'<rect x="{x:.1f}" y="{y + 8}" width="{width:.1f}" height="{ROW - 38}" rx="8" '
                f'class="b"/><text x="{middle:.1f}" y="{y + 30}" class="t">{escape(name)}</text>'
                f'<text x="{middle:.1f}" y="{y + 48}" class="s">{escape(words)}</text>'
            )
            if place and number:
                parts.append(f'<path d="M{x - gap + 1:.1f} {y + 33} h{gap - 3}" class="a"/>')
        if number + 1 < len(LAYERS):
            parts.append(f'<path d="M{WIDTH / 2} {y + ROW - 21} v18" class="a"/>')
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(diagram(), encoding="utf-8")
