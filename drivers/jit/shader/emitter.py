"""The state of one translation from NIR to LLVM IR, shared by all of its parts.

A component of a NIR value is one `V`: a scalar if it is equal in every lane, else a vector with one
element per lane. `mask` says which lanes are active; code that writes to memory or to a variable
that outlives the region applies it. Registers need no masking: what an inactive lane computes is
never read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir import (
    Alu,
    Def,
    Intrinsic,
    LoadConst,
    Shader,
    Src,
    Tex,
    Undef,
    Variable,
)
from gallette.compiler.nir.ir.instrs import Deref, Instr
from gallette.compiler.nir.ir.queries import instrs_of

from ..llvm.text import Builder, Var
from ..llvm.values import V
from .alu import emit_alu
from .layout import Words

if TYPE_CHECKING:
    from .locals import LocalArray

_ALIGNED = 64  # bytes

INTRINSICS: dict[str, Callable[[Emitter, Intrinsic], None]] = {}
"""Emitters by intrinsic name, registered by the modules that define them."""


class Stage:
    """The part of a translation that differs between stages: inputs, outputs, quads. Subclasses
    implement it.
    """

    images: Sequence[Any] = ()
    """Keys of the bound images that code is compiled for."""

    def begin_vector(self, base: V) -> None:
        """Continue with the lanes from `base` on."""
        raise GalletteError("jit has no workgroups in this stage")

    named_images: set[int] | None = None
    """Records the images that instructions use, if the caller needs them."""

    def load_input(self, e: Emitter, instr: Intrinsic) -> list[V]:
        raise GalletteError(f"jit has no inputs by {instr.name}")

    def system_value(self, e: Emitter, name: str, component: int) -> V:
        raise GalletteError(f"jit has no system value {name}")

    def derivative(self, e: Emitter, name: str, value: V) -> V:
        raise GalletteError(f"jit has no {name} in this stage")

    def texture(self, e: Emitter, instr: Tex) -> list[V]:
        raise GalletteError("jit has no textures in this stage")

    def helper(self, e: Emitter) -> V:
        """Lanes that exist only for derivatives."""
        return e.b.const("i1", False)

    def barrier(self, e: Emitter, instr: Intrinsic) -> None:
        """Emit nothing: memory operations are executed in program order."""

    def real(self, e: Emitter) -> V | None:
        """The lanes that are not helpers; None if no lane is one."""
        return None

    def store_output(self, e: Emitter, instr: Intrinsic) -> None:
        raise GalletteError(f"jit has no {instr.name} in this stage")

    def load_output(self, e: Emitter, instr: Intrinsic) -> list[V]:
        raise GalletteError(f"jit has no {instr.name} in this stage")

    def emit_vertex(self, e: Emitter, instr: Intrinsic) -> None:
        raise GalletteError(f"jit has no {instr.name} in this stage")

    def call_out(
        self, e: Emitter, site: object, args: Sequence[V], results: int, t: str
    ) -> list[V]:
        """Call Python for all lanes."""
        raise GalletteError("jit cannot call out in this stage")


class Emitter:
    """Translates one shader's entry function into the builder's current function."""

    def __init__(
        self,
        b: Builder,
        shader: Shader,
        stage: Stage,
        ctx: V,
        w: int,
        mask: V,
        leave: str,
        stop: str,
    ) -> None:
        """`mask` says which lanes exist.

        Control goes to the label `leave` if no lane is left, to `stop` if the shader is abandoned.
        """
        self.b = b
        self.shader = shader
        self.stage = stage
        self.ctx = ctx
        self.w = w
        self.entry_mask = mask
        self.mask = mask
        self.leave = leave
        self.stop = stop
        self.start = b.reserve()  # the code at the beginning of every group
        self.components: dict[Def, list[V]] = {}
        self.escaped: dict[Def, list[Var]] = {}
        self.outputs: dict[tuple[int, int, int], Var] = {}
        self.arrays: dict[Variable, LocalArray] = {}
        self.alive: Var | None = None
        self._budget: Var | None = None  # units of work left
        self.one_block = False  # all local variables share one array, for comparison
        self.explains = False  # comments name each NIR instruction
        self.effects = False  # writes memory outside of the invocation
        self.least: dict[int, int] = {}  # bytes of constant blocks read at constant offsets
        self.implicit: Any = None
        self.depth = 0  # ifs and loops around
        self.vectors_together = 1  # vectors whose local variables exist at the same time
        self.memory = 0  # bytes of LOCALS
        self.frame = 0  # bytes of local variables on the stack
        self.called: dict[Any, str] = {}  # functions for lookups, by what they are made for
        self._words: dict[int, V] = {}
        self._constants: dict[tuple[int, int, str], V] = {}

    @cached_property
    def lookups(self) -> int:
        """How many texture instructions the shader has."""
        return sum(isinstance(instr, Tex) for instr in instrs_of(self.shader.entry))

    # -- lanes -----------------------------------------------------------------------------------

    @property
    def active(self) -> V | None:
        """The mask, or None if all existing lanes are active."""
        return None if self.mask is self.entry_mask else self.mask

    def writers(self) -> V:
        """The lanes whose stores are executed: active, and not demoted."""
        mask = self.mask if self.alive is None else self.mask & self.alive.get()
        real = self.stage.real(self)
        return mask if real is None else mask & real

    def wide(self, value: V) -> V:
        """A value with one element per lane."""
        return self.b.spread(value, self.w)

    # -- the block -------------------------------------------------------------------------------

    def word(self, index: int, t: str = "i64") -> V:
        """A word of the block, read at the function's beginning."""
        found = self._words.get(index)
        if found is None or found.t != t:
            with self.b.in_entry():
                found = self.b.load_at(self.ctx, index, "i64" if t != "ptr" else "ptr")
                if t == "i32":
                    found = found.to("i32")
            self._words[index] = found
        return found

    def reserve(self, size: int) -> int:
        """Reserve memory of the call (`Words.LOCALS`); returns its offset."""
        offset = -(-self.memory // _ALIGNED) * _ALIGNED
        self.memory = offset + size
        return offset

    def local_memory(self) -> V:
        """The memory of the call."""
        return self.word(Words.LOCALS, "ptr")

    def memory_at(self, offset: int, size: int) -> V:
        """The address of `size` bytes of it. (`group_flow` has that many for every vector of
        lanes.)
        """
        b, memory = self.b, self.local_memory()
        return b.once(("memory", offset), memory, lambda: b.at(memory, offset, "i8"))

    def constant(self, block: int, offset: int, t: str) -> V:
        """A constant at a constant offset, where binding ensures that it can be read."""
        key = (block, offset, t)
        found = self._constants.get(key)
        if found is None:
            base = self.word(Words.CONSTANTS + 2 * block, "ptr")
            with self.b.in_entry():
                found = self.b.load(self.b.at(base, offset, "i8"), t, align=4)
            size = {"i64": 8, "double": 8}.get(t, 4)
            self.least[block] = max(self.least.get(block, 0), offset + size)
            self._constants[key] = found
        return found

    # -- values ----------------------------------------------------------------------------------

    def define(self, result: Def, values: Sequence[V]) -> None:
        """Record the components of a definition, also in memory if it is used outside its
        region.
        """
        divergent = result.divergent_components
        values = [  # uniform values are scalars
            v if divergent >> i & 1 or not v.w else self.b.extract(v, 0)
            for i, v in enumerate(values)
        ]
        self.components[result] = values
        variables = self.escaped.get(result)
        if variables is not None:
            for variable, value in zip(variables, values, strict=True):
                new = value if value.t == variable.t else _as(value, variable.t)
                if variable.w:
                    variable.update(self.active, self.wide(new))
                else:
                    variable.set(new)

    def agreed(self, result: Def, values: Sequence[V]) -> list[V]:
        """The value of the active lanes; a scalar if it is equal in all of them because it is
        uniform.
        """
        if result.divergent:
            return list(values)
        first = self.b.flagged("cttz", self.b.bitmask(self.mask), False) & (self.w - 1)
        return [self.b.extract(v, first.to("i32", False)) for v in values]

    def escape(self, result: Def) -> None:
        """Use a definition outside its region."""
        if result in self.escaped:
            return
        self.escaped[result] = self.variables_for(result)

    def variables_for(self, result: Def) -> list[Var]:
        """Memory for a definition: a vector for the components that differ, a scalar for the
        others.

        A variable with lanes is written under the mask, so its first lane may be undefined.
        """
        t, divergent = f"i{result.bit_size}", result.divergent_components
        return [
            self.b.zeroed(t, self.w if divergent >> i & 1 else 0)
            for i in range(result.num_components)
        ]

    def values(self, src: Src) -> list[V]:
        """All components a source reads."""
        parts = self._parts(src)
        if src.swizzle:
            return [parts[i] for i in src.swizzle]
        return parts

    def value(self, src: Src, component: int = 0) -> V:
        parts = self._parts(src)
        return parts[src.swizzle[component] if src.swizzle else component]

    def _parts(self, src: Src) -> list[V]:
        variables = self.escaped.get(src.value)
        if variables is not None and not self.local(src):
            return [variable.get() for variable in variables]
        return self.components[src.value]

    def local(self, src: Src) -> bool:
        """Whether the value's region is still open here. (`flow` replaces this.)"""
        return True

    def number(self, src: Src) -> int | None:
        """A source's value if it is a constant."""
        instr = src.value.instr
        if isinstance(instr, LoadConst):
            return instr.values[src.swizzle[0] if src.swizzle else 0]
        return None

    # -- work ------------------------------------------------------------------------------------

    def spend(self, units: V | int) -> None:
        """Charge work; when the granted units are used up, request more, or return."""
        b = self.b
        if self._budget is None:
            self._budget = b.var("i32")
            with b.in_entry():
                self._budget.set(b.load_at(self.ctx, Words.BUDGET, "i64").to("i32"))
        left = self._budget.get() - units
        self._budget.set(left)
        with b.when(left < 0, rare=True):
            granted = self.call_python(Words.CLOCK, b.const("i64", 0))
            self._budget.set(granted.to("i32"))

    def keep_budget(self) -> None:
        """Store the remaining units for the next call, at the function's end."""
        if self._budget is not None:
            left = self._budget.get().to("i64")
            self.b.store(self.b.at(self.ctx, Words.BUDGET, "i64"), left)

    def call_python(self, word: int, number: V) -> V:
        """Call the `Callback` whose address is in the word, and return if its result is
        negative.
        """
        b, function = self.b, self.word(word, "ptr")
        answer = b.emit("i64", 0, f"call i64 {function.n}(i64 {number.n})")
        stop, go_on = b.block(), b.block()
        b.branch(answer < 0, stop, go_on, rare=True)
        b.place(stop)
        b.store(b.at(self.ctx, Words.STATUS, "i64"), b.const("i64", 1))
        b.jump(self.stop)
        b.place(go_on)
        return answer

    # -- instructions ----------------------------------------------------------------------------

    def instruction(self, instr: Instr) -> None:
        if self.explains:
            self.b.comment(_described(instr) + (f", line {instr.loc}" if instr.loc else ""))
        if isinstance(instr, Alu):
            self.alu(instr)
        elif isinstance(instr, LoadConst):
            bits = instr.result.bit_size
            t = f"i{bits}"
            self.define(instr.result, [self.b.const(t, v) for v in instr.values])
        elif isinstance(instr, Intrinsic):
            emit = INTRINSICS.get(instr.name)
            if emit is None:
                raise GalletteError(f"jit has no code for the intrinsic {instr.name}")
            emit(self, instr)
        elif isinstance(instr, Tex):
            self.define(instr.result, self.stage.texture(self, instr))
        elif isinstance(instr, Undef):
            d = instr.result
            zero = self.b.const(f"i{d.bit_size}", 0)
            self.define(d, [zero] * d.num_components)
        elif not isinstance(instr, Deref):
            raise GalletteError(f"jit has no code for {instr.kind!r} instructions")

    def alu(self, instr: Alu) -> None:
        dest = instr.result
        if self.depth == 0 and not dest.divergent and dest not in self.escaped:
            flat = [v for src in instr.srcs for v in self.values(src)]
            if all(v.literal or self.b.is_fixed(v) for v in flat):
                with self.b.in_entry():
                    self._alu(instr)
                return
        self._alu(instr)

    def _alu(self, instr: Alu) -> None:
        op, dest = instr.op, instr.result
        if op.is_derivative:
            parts = [
                self.stage.derivative(self, op.name, self.value(instr.srcs[0], i).as_float())
                for i in range(dest.num_components)
            ]
        elif op.per_component:
            parts = [
                emit_alu(self.b, op.name, [self.value(src, i) for src in instr.srcs])
                for i in range(dest.num_components)
            ]
        else:
            args: list[Any] = [
                self.values(src)[:size] if size > 1 else self.value(src)
                for src, size in zip(instr.srcs, op.input_sizes, strict=True)
            ]
            found = emit_alu(self.b, op.name, args)
            parts = list(found) if isinstance(found, list) else [found]
        self.define(dest, parts)


def _as(value: V, t: str) -> V:
    """The bits of a value in a type of the same size."""
    return value.as_int() if not t.startswith(("f", "d", "h")) else value.as_float()


def _described(instr: Instr) -> str:
    """A short description of an instruction, for comments."""
    size = "" if instr.dest is None else f"{instr.dest.bit_size}x{instr.dest.num_components} "
    if isinstance(instr, Alu):
        return f"{size}{instr.op.name}"
    if isinstance(instr, Intrinsic):
        place = f" (location={instr['location']})" if "location" in instr.indices else ""
        return f"{size}@{instr.name}{place}"
    if isinstance(instr, LoadConst):
        return f"{size}load_const {', '.join(hex(v) for v in instr.values)}"
    return f"{size}{instr.op if isinstance(instr, Tex) else instr.kind}"
