"""Workgroup memory: parts of addresses that loads have in common are computed once.

The byte offset of a load is a sum. The terms that differ between lanes become an element number per
lane: one operation for all loads that share these terms, placed before the loops that do not change
them. The terms that are equal for all lanes (constants, loop counters) become a distance from that
element, which costs nothing:

    at, low, high = shared_index(y << 6)            # tile[y][0], outside the loop
    x = shared_load(at, low, high, k << 2)          # tile[y][k]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Intrinsic, Shader

from .lane_ir import LaneValue, LoopOp, Op, Region
from .translate_storage import StorageOp, StorageTranslator

if TYPE_CHECKING:
    from .translate_memory import MemoryTranslator

_WORD = (1 << 32) - 1
_MOST_TERMS, _MOST_STEPS = 4, 16


@lazy_dataclass(frozen=True)
class SharedLoad:
    """Loads elements of a size at element numbers; `further` bytes on, if that is constant."""

    size: int
    further: int | None = None


@lazy_dataclass()
class _Sum:
    """A 32-bit sum: a constant, and values with factors, by whether they differ between lanes."""

    constant: int = 0
    by_lane: dict[LaneValue, int] = field(default_factory=dict)
    same: dict[LaneValue, int] = field(default_factory=dict)
    steps: int = 0

    def add(self, value: LaneValue, times: int) -> None:
        """Add `value * times`, term by term."""
        if value.const is not None:
            self.constant = self.constant + value.const * times & _WORD
            return
        if value.varying and self.steps < _MOST_STEPS:
            parts = _parts(value)
            if parts is not None:
                self.steps += 1
                for part, factor in parts:
                    self.add(part, times * factor & _WORD)
                return
        terms = self.by_lane if value.varying else self.same
        terms[value] = terms.get(value, 0) + times & _WORD


def _parts(value: LaneValue) -> list[tuple[LaneValue, int]] | None:
    """The terms of a sum; None for other values."""
    op = value.op
    if value.bits != 32 or not isinstance(op, Op) or op.what != "alu":
        return None
    name, srcs = op.data.name, op.srcs
    if name == "iadd":
        return [(srcs[0], 1), (srcs[1], 1)]
    if name == "isub":
        return [(srcs[0], 1), (srcs[1], _WORD)]
    if name == "ishl" and srcs[1].const is not None:
        return [(srcs[0], 1 << (srcs[1].const & 31))]
    if name == "imul":
        for factor, other in (srcs, srcs[::-1]):
            if factor.const is not None:
                return [(other, factor.const)]
    return None


def _is_multiple(value: LaneValue, size: int, depth: int = 4) -> bool:
    """Whether a value is certainly a multiple of a power of two."""
    if value.const is not None:
        return value.const % size == 0
    op = value.op
    if size == 1:
        return True
    if not depth or not isinstance(op, Op) or op.what != "alu":
        return False
    name, srcs = op.data.name, op.srcs
    if name == "ishl" and srcs[1].const is not None:
        return 1 << (srcs[1].const & 31) >= size
    if name == "imul":
        return any(_is_multiple(src, size, depth - 1) for src in srcs)
    if name in ("iadd", "isub"):
        return all(_is_multiple(src, size, depth - 1) for src in srcs)
    return False


def _encloses(outer: Region, inner: Region | None) -> bool:
    while inner is not None and inner is not outer:
        inner = inner.parent
    return inner is outer


class SharedTranslator(StorageTranslator):
    """Adds loads of workgroup memory."""

    def __init__(self, shader: Shader, flat_colors: bool):
        super().__init__(shader, flat_colors)
        self.places: dict[tuple[Region, tuple[int, ...]], list[LaneValue]] = {}

    def load_shared(self, instr: Intrinsic) -> None:
        result = instr.result
        offset = self.named(instr, "offset")[0]
        size = result.bit_size // 8
        if result.divergent_components != (1 << result.num_components) - 1:
            op = StorageOp("ssbo_load", 1, False, result.bit_size, shared=True)
            self.storage(instr, op, [self.constant(0, 32), offset], result.num_components)
            return
        place, further = self.place(offset, size)
        srcs = place if further.const is not None else [*place, further]
        self.emit("shared_load", SharedLoad(size, further.const), self.results(result), srcs)

    def store_shared(self, instr: Intrinsic) -> None:
        values = self.named(instr, "value")
        srcs = [self.constant(0, 32), self.named(instr, "offset")[0], *values]
        bits, mask = values[0].bits, instr["write_mask"]
        op = StorageOp("ssbo_store", 1, True, bits, mask, shared=True)
        self.storage(instr, op, srcs)

    def shared_atomic(self, instr: Intrinsic) -> None:
        swap = instr.name.endswith("_swap")
        srcs = [self.constant(0, 32)]
        srcs += [self.named(instr, name)[0] for name in ("offset", "data")]
        if swap:
            srcs.append(self.named(instr, "compare")[0])
        bits, kind = instr.result.bit_size, instr["atomic_op"]
        op = StorageOp("ssbo_atomic", 1, True, bits, atomic=kind, swap=swap, shared=True)
        self.storage(instr, op, srcs, 1)

    # -- places --------------------------------------------------------------------------------

    def place(self, offset: LaneValue, size: int) -> tuple[list[LaneValue], LaneValue]:
        """Element numbers (with the lowest and highest), and the distance in bytes."""
        total = _Sum()
        total.add(offset, 1)
        odd = any(times % size and not _is_multiple(v, size) for v, times in total.same.items())
        if odd or total.constant % size or len(total.by_lane) > _MOST_TERMS:
            # Rounding down to whole elements applies to the sum, not to its terms.
            total = _Sum()
            (total.by_lane if offset.varying else total.same)[offset] = 1
        terms = {value: times for value, times in total.by_lane.items() if times}
        return self.indices(terms, size), self.weighted(total.same, total.constant)

    def indices(self, terms: dict[LaneValue, int], size: int) -> list[LaneValue]:
        """Element numbers of the sum of `terms`: existing ones, or a new operation."""
        pairs = sorted((value.id, times) for value, times in terms.items())
        key = (size, *(number for pair in pairs for number in pair))
        at: Region | None = self.region
        while at is not None:
            found = self.places.get((at, key))
            if found is not None:
                return found
            at = at.parent
        home = self.region
        loop: LoopOp | None = None
        while isinstance(home.owner, LoopOp) and home.parent is not None:
            if not all(_encloses(value.region, home.parent) for value in terms):
                break
            loop, home = home.owner, home.parent
        if loop is not None:  # the loop is the last item of its region: insert before it
            last = home.items.pop()
            assert last is loop
        here, self.region = self.region, home
        offset = self.weighted(terms, 0)
        made = [self.new(64, "i8") for _ in range(3)]
        self.emit("shared_index", size, made, [offset])
        for value, varying in zip(made, (True, False, False), strict=True):
            value.varying = varying
        if loop is not None:
            home.items.append(loop)
        self.region = here
        self.places[home, key] = made
        return made

    def weighted(self, terms: dict[LaneValue, int], constant: int) -> LaneValue:
        """The sum as a value."""
        total: LaneValue | None = None
        for value, times in terms.items():
            power = times.bit_length() - 1
            if times == 1 << power:
                part = self.scalar("ishl", value, self.constant(power, 32)) if power else value
            else:
                part = self.scalar("imul", value, self.constant(times, 32))
            total = part if total is None else self.scalar("iadd", total, part)
        if total is None:
            return self.constant(constant, 32)
        return self.scalar("iadd", total, self.constant(constant, 32)) if constant else total


_T = SharedTranslator
SHARED_INTRINSICS: dict[str, Callable[[MemoryTranslator, Intrinsic], None]] = {
    "load_shared": _T.load_shared,
    "store_shared": _T.store_shared,
    "shared_atomic": _T.shared_atomic,
    "shared_atomic_swap": _T.shared_atomic,
}
