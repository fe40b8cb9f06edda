"""Dynamic indices become selections among constant ones."""

from __future__ import annotations

from itertools import pairwise

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.io.slots import ACCESSES
from gallette.compiler.nir.ir.cf_editing import remove_dead_deref
from gallette.compiler.nir.ir.instrs import Deref, Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import accesses_of, const_int
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_DEFAULT = Mode.FUNCTION_TEMP | Mode.SHADER_IN | Mode.SHADER_OUT
_READ_MODIFY = Mode.FUNCTION_TEMP | Mode.SHADER_TEMP  # no other lane writes it in between


@nir_pass("lower_indirect_derefs", preserves=Metadata.NONE)
def lower_indirect_derefs(
    shader: Shader, *, modes: int = int(_DEFAULT), max_length: int = 16, packed: bool = False
) -> bool:
    """`load(&a[i])` becomes a tree of `bcsel` over `a[0]`, `a[1]`...; a store tries all elements.

    This applies to arrays of at most `max_length` elements in all indirect dimensions together, and
    to matrix columns. Afterwards the variable can become SSA values. Out of range reads the first
    or last element and writes nothing. The index of a vertex stays dynamic.

    `packed`: only packed varyings, of any length; `lower_io` needs constant indices for them.
    """
    if packed and not any(var.packed for var in shader.variables):
        return False
    progress = False
    for impl in shader.impls():
        for access, deref in accesses_of(impl, modes, *ACCESSES):
            if deref.modes & ~modes:
                continue
            path, var = deref.path(), deref.root_var
            if path[0].form != "var" or var is None:
                continue
            if packed and not var.packed:
                continue
            chosen = _Chosen(access, 1 if var.per_vertex else 0, path)
            if not chosen.suitable(None if packed else max_length):
                continue
            b = Builder(impl).at_before(access)
            if access.dest is not None:
                access.replace_by(chosen.load(b, path[0], 1))
            else:
                chosen.store(b, path[0], 1, None)
                access.remove()
            remove_dead_deref(deref)
            progress = True
    return progress


@lazy_dataclass(frozen=True)
class _Chosen:
    """An access with some indices selected among constants; nesting is bounded by types."""

    access: Intrinsic
    kept: int  # this many steps from the variable keep their index
    path: list[Deref]

    def indirect(self, i: int) -> bool:
        step = self.path[i]
        return i > self.kept and step.form == "array" and const_int(step.array_index.value) is None

    def suitable(self, most: int | None) -> bool:
        total, found = 1, False
        for i, (parent, step) in enumerate(pairwise(self.path), 1):
            if step.form not in ("array", "struct"):
                return False
            if self.indirect(i):
                found = True
                total *= parent.type.indexed_length()
        return found and total > 0 and (most is None or total <= most)

    def follow(self, b: Builder, at: Deref, step: Deref) -> Deref:
        if step.form == "struct":
            return b.deref_struct(at, step.field)
        return b.deref_array(at, step.array_index.value)

    def at(self, b: Builder, place: Deref, *srcs: Def) -> Intrinsic:
        """The access with another deref."""
        access = self.access
        others = srcs or tuple(s.value for s in access.srcs[1:])
        dest = access.dest
        sizes = (dest.num_components, dest.bit_size) if dest is not None else (0, 0)
        made = Intrinsic(access.info, [place.result, *others], *sizes, dict(access.indices))
        b.insert(made)
        return made

    def load(self, b: Builder, place: Deref, start: int) -> Def:
        for i in range(start, len(self.path)):
            step = self.path[i]
            if not self.indirect(i):
                place = self.follow(b, place, step)
                continue
            length = place.type.indexed_length()
            values = [self.load(b, b.deref_array_imm(place, k), i + 1) for k in range(length)]
            return _select(b, step.array_index.value, values)
        return self.at(b, place).result

    def store(self, b: Builder, place: Deref, start: int, condition: Def | None) -> None:
        for i in range(start, len(self.path)):
            step = self.path[i]
            if not self.indirect(i):
                place = self.follow(b, place, step)
                continue
            index = step.array_index.value
            for k in range(place.type.indexed_length()):
                hit = b.ieq(index, b.imm_int(k, index.bit_size))
                both = hit if condition is None else b.iand(condition, hit)
                self.store(b, b.deref_array_imm(place, k), i + 1, both)
            return
        assert condition is not None  # some step is selected, or this access would not be suitable
        if place.modes & _READ_MODIFY:
            value = b.bcsel(condition, self.access.srcs[1].value, b.load_deref(place))
            self.at(b, place, value)
        else:
            b.push_if(condition)
            self.at(b, place)
            b.pop_if()


def _select(b: Builder, index: Def, values: list[Def], first: int = 0) -> Def:
    """A balanced tree of selects by `index`."""
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    low = _select(b, index, values[:half], first)
    high = _select(b, index, values[half:], first + half)
    below = b.ilt(index, b.imm_int(first + half, index.bit_size))
    return b.bcsel(below, low, high)
