"""The figures as tables and as a chart, for the terminal and for a page of the documentation.

A page holds the table between two comments; the chart is a picture beside it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from pathlib import Path

from gallette.compiler.errors import InputError
from gallette.compiler.output_files import write_whole

from .sides import Side

_BEGIN, _END = "<!-- figures: gallette bench --docs -->", "<!-- end of figures -->"


def ratios(
    ours: Side, other: Side, names: Sequence[str], processor: bool = False
) -> dict[str, float]:
    """The other side's time divided by ours, for every benchmark that both have drawn."""
    found = {}
    for name in names:
        mine, theirs = ours.median(name, processor), other.median(name, processor)
        if mine and theirs:
            found[name] = theirs / mine
    return found


def geometric_mean(values: Sequence[float]) -> float:
    """0 for no values.

    >>> round(geometric_mean([2.0, 8.0]), 6)
    4.0
    """
    return math.exp(sum(map(math.log, values)) / len(values)) if values else 0.0


def markdown(sides: Sequence[Side], names: Sequence[str], processor: bool = False) -> str:
    """A Markdown table: milliseconds of every side, ratios of the native ones to the first,
    geometric means.
    """
    ours = sides[0]
    natives = [side for side in sides if side.native]
    head = ["benchmark", *(s.name for s in sides), *(f"{s.name} / {ours.name}" for s in natives)]
    rows = [head, ["---", *["---:"] * (len(head) - 1)]]
    compared = [ratios(ours, side, names, processor) for side in natives]
    for name in names:
        cells = [f"`{name}`"]
        for side in sides:
            median = side.median(name, processor)
            cells.append("" if median is None else f"{median * 1000:.1f}")
        cells += [f"{found[name]:.2f}" if name in found else "" for found in compared]
        rows.append(cells)
    means = [f"**{geometric_mean(list(found.values())):.2f}**" for found in compared]
    rows.append(["geometric mean", *[""] * len(sides), *means])
    lines = [f"| {' | '.join(cells)} |" for cells in rows]
    parts = [profile_table(side, names) for side in sides if side.profiles]
    return "\n\n".join(["\n".join(lines), *parts])


def profile_table(side: Side, names: Sequence[str]) -> str:
    """The profile as a table: per cent of the processor time by part."""
    from .profiling import PARTS

    rows = [[f"{side.name}, % of the time", *PARTS], ["---", *["---:"] * len(PARTS)]]
    for name in names:
        shares = side.profiles.get(name)
        if shares:
            cells = [f"{shares[p] * 100:.0f}" if shares[p] >= 0.005 else "" for p in PARTS]
            rows.append([f"`{name}`", *cells])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


_ROW, _LEFT, _WIDTH = 22, 150, 760
_COLORS = ("#2f6f4f", "#b5651d", "#3b5b92")


def chart(sides: Sequence[Side], names: Sequence[str], processor: bool = False) -> str:
    """An SVG of every ratio on a logarithmic axis; right of 1 our first side is faster."""
    ours, natives = sides[0], [side for side in sides if side.native]
    compared = [ratios(ours, side, names, processor) for side in natives]
    values = [v for found in compared for v in found.values()] or [1.0]
    low = min(-1, math.floor(math.log10(min(values))))
    high = max(1, math.ceil(math.log10(max(values))))

    def x(value: float) -> float:
        return _LEFT + (math.log10(value) - low) / (high - low) * (_WIDTH - _LEFT - 20)

    height = _ROW * (len(names) + 1 + len(natives))
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{height}" fill="#fff"/>',
    ]
    for power in range(low, high + 1):
        at, label = x(10.0**power), f"{10.0**power:g}"
        out.append(
            f'<path d="M{at:.1f} {_ROW}V{height - 4}" stroke="#{"888" if not power else "ddd"}"/>'
        )
        out.append(f'<text x="{at:.1f}" y="15" text-anchor="middle" fill="#555">{label}</text>')
    for k, (side, color) in enumerate(zip(natives, _COLORS, strict=False)):
        text = html.escape(f"{side.name} / {ours.name}")
        y = height - _ROW * (len(natives) - k) + 16
        out.append(f'<text x="8" y="{y}" fill="{color}">{text}</text>')
    for row, name in enumerate(names, 1):
        y = _ROW * row + 16
        out.append(f'<text x="{_LEFT - 8}" y="{y}" text-anchor="end">{html.escape(name)}</text>')
        for found, color in zip(compared, _COLORS, strict=False):
            if name in found:
                out.append(f'<circle cx="{x(found[name]):.1f}" cy="{y - 4}" r="5" fill="{color}"/>')
    return "\n".join([*out, "</svg>"]) + "\n"


def update_page(
    page: Path, sides: Sequence[Side], names: Sequence[str], processor: bool = False
) -> Path:
    """Replace the table between the page's two comments, and write the chart beside it; returns the
    chart's path.
    """
    try:
        text = page.read_text(encoding="utf-8")
    except OSError as error:
        raise InputError(f"{page}: cannot read: {error.strerror or error}") from None
    before, begin, rest = text.partition(_BEGIN)
    _, end, after = rest.partition(_END)
    if not begin or not end:
        raise InputError(f"{page}: needs {_BEGIN} ... {_END}")
    picture = page.parent / "pictures" / "benchmarks.svg"
    what = "Processor time of all threads" if processor else "Time by the clock"
    table = f"{what}, milliseconds per frame:\n\n{markdown(sides, names, processor)}"
    body = f"\n\n![Ratios](pictures/benchmarks.svg)\n\n{table}\n\n"
    write_whole(picture, chart(sides, names, processor), folder=True)
    write_whole(page, f"{before}{_BEGIN}{body}{_END}{after}")
    return picture
