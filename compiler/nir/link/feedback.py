"""Transform feedback: the parts of outputs that can be captured, and their places in buffers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.layout import align
from gallette.compiler.nir.ir.types import VOID, Type


@lazy_dataclass(frozen=True)
class StreamVarying:
    """One captured run of components, or all components of a captured name."""

    name: str
    type: Type
    array_size: int
    slot: int
    """VaryingSlot"""
    component: int
    num_components: int
    buffer: int
    offset: int
    """bytes from the start of the vertex in its buffer"""
    stream: int = 0

    @property
    def is_gap(self) -> bool:
        """Whether it is gl_NextBuffer or gl_SkipComponents1 to 4, whose size is that of the gap."""
        return self.type is VOID


@lazy_dataclass(frozen=True)
class StreamOutput:
    """The outputs that transform feedback captures."""

    outputs: tuple[StreamVarying, ...]
    """the runs of components to copy"""
    strides: tuple[int, ...]
    """bytes per vertex of each buffer"""
    varyings: tuple[StreamVarying, ...] = ()
    """as named by the application, gaps included"""


@lazy_dataclass(frozen=True)
class Target:
    """A value that can be captured by its name: a leaf of an output, or an array of leaves."""

    name: str
    type: Type
    array_size: int
    slot: int
    component: int
    packed: bool
    """whether elements lie across slots, rather than in one slot each"""
    stream: int

    @property
    def words(self) -> int:
        return self.type.words * max(1, self.array_size)

    def captured(self, buffer: int, offset: int) -> StreamVarying:
        """The whole value at a place of a buffer."""
        return self._run(self.slot, self.component, self.words, buffer, offset)

    def runs(self, buffer: int, offset: int) -> Iterator[StreamVarying]:
        """The runs of components, each in one slot, for a place of a buffer."""
        element = self.type
        slot, component = self.slot, self.component
        for _ in range(max(1, self.array_size)):
            at_slot = slot
            for _ in range(element.columns):
                words = element.words // element.columns
                where, c = at_slot, component
                if self.packed:
                    component = (c + words) % 4
                while words:
                    n = min(words, 4 - c)
                    yield self._run(where, c, n, buffer, offset)
                    offset += 4 * n
                    words -= n
                    where, c = where + 1, 0
                at_slot = max(where, at_slot + 1)
                if self.packed and component:
                    at_slot -= 1  # the last slot has room left
            slot = at_slot

    def _run(self, slot: int, component: int, n: int, buffer: int, offset: int) -> StreamVarying:
        return StreamVarying(
            self.name, self.type, self.array_size, slot, component, n, buffer, offset, self.stream
        )


def targets(
    roots: Iterable[tuple[str, Type]], slot: int, component: int, packed: bool, stream: int
) -> dict[str, Target]:
    """Every name by which a part of an output can be captured.

    The parts of the output that `roots` names are placed one after the other (OpenGL 4.6,
    11.1.2.1).
    """
    found: dict[str, Target] = {}
    stack: list[tuple[str, Type, int, int]] = []

    def after(at: int, c: int, kind: Type, count: int = 1) -> tuple[int, int]:
        """The place after `count` values of a type."""
        if packed:
            return at + (c + count * kind.words) // 4, (c + count * kind.words) % 4
        return at + count * kind.slots(), c

    for name, kind in roots:
        stack.append((name, kind, slot, component))
        slot, component = after(slot, component, kind)
    while stack:
        name, kind, at, c = stack.pop()
        if kind.is_struct:
            for f in kind.fields:
                stack.append((f"{name}.{f.name}", f.type, at, c))
                at, c = after(at, c, f.type)
            continue
        if kind.element is not None:
            element = kind.element
            if not element.is_array and not element.is_struct:
                found[name] = Target(name, element, kind.length, at, c, packed, stream)
            for i in range(kind.length):
                stack.append((f"{name}[{i}]", element, *after(at, c, element, i)))
            continue
        found[name] = Target(name, kind, 0, at, c, packed, stream)
    return found


def captured(
    name: str, found: dict[str, Target], buffer: int, offset: int
) -> Iterator[tuple[StreamVarying, Iterator[StreamVarying]]]:
    """The leaves of a variable with a declared offset, each with its runs.

    Members of structures follow each other, those of 64 bits at multiples of 8 (GLSL 4.60,
    4.4.2.1).
    """
    if name in found:
        leaves = [found[name]]
    else:
        inner = [
            t
            for n, t in found.items()
            if n.startswith((f"{name}.", f"{name}["))
            and not (n.endswith("]") and n.rpartition("[")[0] in found)
        ]
        leaves = sorted(inner, key=lambda t: (t.slot, t.component))
    for target in leaves:
        if target.type.bit_size == 64:
            offset = align(offset, 8)
        yield target.captured(buffer, offset), target.runs(buffer, offset)
        offset += 4 * target.words
