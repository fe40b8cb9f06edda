"""A shader as two graphs, in SVG: its blocks with the edges of control flow, and its values with
edges from definitions to uses.

Structured control flow places the blocks: a body is a column, the two bodies of an `if` stand side
by side, and a loop has a frame. Edges are those of the CFG. A value stands one row below the last
of its sources; constants are written into their uses. Colours are classes of the page's style, and
`data-line` is the source line, as in every other form of the shader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.cf import Block, If, Loop, Node
from gallette.compiler.nir.ir.instrs import Instr, Intrinsic, LoadConst, Phi
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.text.printer import Printer

_NAME = re.compile(r"(%\d+)(?:\.(\w+))?")
LETTER = 6.7  # width of a letter of the page's code font at 11 px
LINE, GAP, PAD = 15, 26, 8
MOST_LINES = 14  # of a block
MOST_VALUES = 400


def control_flow(shader: Shader) -> str:
    """The entry point's blocks and the edges between them."""
    impl = _entry(shader)
    impl.require(Metadata.CFG)
    printer = Printer()
    printer.impl(impl)
    boxes: dict[Block, _Box] = {}
    frames: list[_Box] = []
    width, height = _column(impl.body, printer, boxes, frames, 0.0, 0.0, draw=True)
    margin = 40.0
    parts = [
        f'<rect class="frame" x="{f.x + margin:.1f}" y="{f.y + margin:.1f}" '
        f'width="{f.width:.1f}" height="{f.height:.1f}" rx="8"/>'
        for f in frames
    ]
    for block, box in boxes.items():
        for following in block.successors:
            if following in boxes:
                parts.append(_edge(box, boxes[following], margin, _label(block, following)))
    for box in boxes.values():
        parts.append(box.drawn(margin))
    count = len(boxes)
    words = f"control flow of {count} block{'s' if count != 1 else ''}"
    return _svg(parts, width + 2 * margin, height + 2 * margin, words)


def data_flow(shader: Shader) -> str:
    """The entry point's values, each below those that it is computed from."""
    impl = _entry(shader)
    printer = Printer()
    printer.impl(impl)
    rows, place = _ranks(impl)
    if not rows:
        return _message("This shader computes no values.")
    if sum(map(len, rows)) > MOST_VALUES:
        return _message(f"More than {MOST_VALUES} values: too many to draw.")
    boxes: dict[Instr, _Box] = {}
    widest = max(sum(_value_box(i, printer).width + 14 for i in row) for row in rows)
    for level, row in enumerate(rows):
        row.sort(key=lambda i: _pull(i, boxes))
        made = [_value_box(instr, printer) for instr in row]
        x = (widest - sum(box.width + 14 for box in made)) / 2
        for instr, box in zip(row, made, strict=True):
            box.x, box.y = x + 7, level * 58.0
            x += box.width + 14
            boxes[instr] = box
    parts = []
    for instr, box in boxes.items():
        for source in _sources(instr):
            if source in boxes:
                back = place[source] >= place[instr]
                parts.append(_curve(boxes[source], box, 12.0, "back" if back else "edge"))
    parts += [box.drawn(12.0) for box in boxes.values()]
    words = f"data flow of {len(boxes)} value{'s' if len(boxes) != 1 else ''}"
    return _svg(parts, widest + 24, len(rows) * 58.0, words)


@lazy_dataclass()
class _Box:
    """A rectangle with lines of text: (source line, text)."""

    kind: str
    lines: list[tuple[int, str]]
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    def __post_init__(self) -> None:
        longest = max((len(text) for _, text in self.lines), default=0)
        self.width = self.width or longest * LETTER + 2 * PAD
        self.height = self.height or len(self.lines) * LINE + PAD

    def drawn(self, margin: float) -> str:
        x, y = self.x + margin, self.y + margin
        parts = [
            f'<rect class="node {self.kind}" x="{x:.1f}" y="{y:.1f}" width="{self.width:.1f}" '
            f'height="{self.height:.1f}" rx="5"/>'
        ]
        for row, (line, text) in enumerate(self.lines):
            mark = f' data-line="{line}"' if line else ""
            parts.append(
                f'<text{mark} x="{x + PAD:.1f}" y="{y + 14 + LINE * row:.1f}">{escape(text)}</text>'
            )
        return "".join(parts)


def _entry(shader: Shader) -> FunctionImpl:
    return next(
        (f.impl for f in shader.functions if f.is_entry and f.impl is not None),
        next(iter(shader.impls())),
    )


def _svg(parts: Sequence[str], width: float, height: float, words: str) -> str:
    return (
        f'<svg class="flow" role="img" aria-label="{words}" width="{width:.0f}" '
        f'height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}">' + "".join(parts) + "</svg>"
    )


def _message(text: str) -> str:
    return _svg([f'<text x="8" y="20">{escape(text)}</text>'], 420, 34, text)


# -- control flow ----------------------------------------------------------------------------------


def _column(
    body: Sequence[Node],
    printer: Printer,
    boxes: dict[Block, _Box],
    frames: list[_Box],
    x: float,
    y: float,
    draw: bool,
) -> tuple[float, float]:
    """Measure a body, and place it with its middle at `x` + half of its width if asked to."""
    sizes = [_size(node, printer) for node in body]
    width = max(w for w, _ in sizes)
    height = sum(h for _, h in sizes) + GAP * (len(sizes) - 1)
    if draw:
        for node, (w, h) in zip(body, sizes, strict=True):
            _place(node, printer, boxes, frames, x + (width - w) / 2, y)
            y += h + GAP
    return width, height


def _size(node: Node, printer: Printer) -> tuple[float, float]:
    if isinstance(node, Block):
        box = _block_box(node, printer)
        return box.width, box.height
    if isinstance(node, If):
        sides = [
            _column(side, printer, {}, [], 0, 0, draw=False)
            for side in (node.then_body, node.else_body)
        ]
        return sum(w for w, _ in sides) + GAP, max(h for _, h in sides)
    width, height = _column(node.body, printer, {}, [], 0, 0, draw=False)
    return width + 4 * PAD, height + 4 * PAD


def _place(
    node: Node,
    printer: Printer,
    boxes: dict[Block, _Box],
    frames: list[_Box],
    x: float,
    y: float,
) -> None:
    if isinstance(node, Block):
        box = _block_box(node, printer)
        box.x, box.y = x, y
        boxes[node] = box
    elif isinstance(node, If):
        for side in (node.then_body, node.else_body):
            width, _ = _column(side, printer, boxes, frames, x, y, draw=True)
            x += width + GAP
    else:
        assert isinstance(node, Loop)
        frame = _Box("frame", [], x, y, *_size(node, printer))
        frames.append(frame)
        _column(node.body, printer, boxes, frames, x + 2 * PAD, y + 2 * PAD, draw=True)


def _block_box(block: Block, printer: Printer) -> _Box:
    lines = [(0, f"block {printer.block(block)}")]
    for instr in block.instrs():
        lines.append((instr.loc, _shortened(printer.instr(instr), 44)))
    if len(lines) > MOST_LINES:
        left = len(lines) - MOST_LINES + 1
        lines = [*lines[: MOST_LINES - 1], (0, f"... {left} more instructions")]
    return _Box("block", lines)


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _label(block: Block, following: Block) -> str:
    """The label of the edge from an `if`."""
    place = block.owner.index(block)
    after = block.owner[place + 1] if place + 1 < len(block.owner) else None
    if not isinstance(after, If) or block.jump is not None:
        return ""
    return "then" if after.then_body[0] is following else "else"


def _edge(a: _Box, b: _Box, margin: float, label: str) -> str:
    """An edge: down to a later block, up and around to an earlier one."""
    if b.y > a.y:
        return _curve(a, b, margin, "edge", label)
    left = min(a.x, b.x) + margin - 18
    x1, y1, x2, y2 = a.x + margin, a.y + a.height / 2 + margin, b.x + margin, b.y + 10 + margin
    return (
        f'<path class="back" d="M{x1:.1f} {y1:.1f} '
        f'C{left:.1f} {y1:.1f} {left:.1f} {y2:.1f} {x2:.1f} {y2:.1f}"/>'
        f'<path class="tip" d="M{x2:.1f} {y2:.1f} l-7 -3.5 v7 z"/>'
    )


def _curve(a: _Box, b: _Box, margin: float, kind: str, label: str = "") -> str:
    x1, y1 = a.x + a.width / 2 + margin, a.y + a.height + margin
    x2, y2 = b.x + b.width / 2 + margin, b.y + margin
    bend = max(12.0, abs(y2 - y1) / 2)
    middle = f'x="{(x1 + x2) / 2 + 4:.1f}" y="{(y1 + y2) / 2 + 4:.1f}"'
    text = f'<text class="faint" {middle}>{label}</text>' if label else ""
    return (
        f'<path class="{kind}" d="M{x1:.1f} {y1:.1f} '
        f'C{x1:.1f} {y1 + bend:.1f} {x2:.1f} {y2 - bend:.1f} {x2:.1f} {y2:.1f}"/>'
        f'<path class="tip" d="M{x2:.1f} {y2:.1f} l-3.5 -7 h7 z"/>{text}'
    )


# -- data flow -------------------------------------------------------------------------------------


def _ranks(impl: FunctionImpl) -> tuple[list[list[Instr]], dict[Instr, int]]:
    """Instructions by row, and their order; back edges (through a phi of a loop) do not move
    instructions down.
    """
    rows: list[list[Instr]] = []
    level: dict[Instr, int] = {}
    place: dict[Instr, int] = {}
    for instr in _drawn(impl):
        place[instr] = len(place)
        level[instr] = 1 + max((level.get(s, -1) for s in _sources(instr)), default=-1)
        while len(rows) <= level[instr]:
            rows.append([])
        rows[level[instr]].append(instr)
    return rows, place


def _drawn(impl: FunctionImpl) -> Iterator[Instr]:
    for block in impl.blocks():
        for instr in block.instrs():
            if not isinstance(instr, LoadConst) and (instr.dest is not None or instr.srcs):
                yield instr


def _sources(instr: Instr) -> Iterator[Instr]:
    for src in instr.srcs:
        if not isinstance(src.value.instr, LoadConst):
            yield src.value.instr


def _pull(instr: Instr, boxes: dict[Instr, _Box]) -> float:
    """The mean position of a node's sources. Rows in that order have few crossing edges."""
    xs = [boxes[s].x + boxes[s].width / 2 for s in _sources(instr) if s in boxes]
    return sum(xs) / len(xs) if xs else 1e9


def _value_box(instr: Instr, printer: Printer) -> _Box:
    name, equals, text = printer.instr(instr).rpartition(" = ")
    constants = {
        printer.value(src.value): printer.instr(src.value.instr).partition(" // ")[2].split(", ")
        for src in instr.srcs
        if isinstance(src.value.instr, LoadConst)
    }

    def said(match: re.Match[str]) -> str:
        values = constants.get(match[1])
        if values is None:
            return match[0]
        letters = (match[2] or "xyzw"[: len(values)]) if len(values) <= 4 else ""
        chosen = [values["xyzw".index(c)] for c in letters] or values
        return chosen[0] if len(set(chosen)) == 1 else f"({', '.join(chosen)})"

    text = _NAME.sub(said, text)
    text = _shortened(f"{name.split()[-1]} {text}" if equals else text, 38)
    kind = "phi" if isinstance(instr, Phi) else "io" if isinstance(instr, Intrinsic) else "value"
    return _Box(kind, [(instr.loc, text)])
