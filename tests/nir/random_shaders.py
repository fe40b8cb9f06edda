"""Random but valid shaders: structured control flow, vectors, variables, loops that end.

`make_shader` draws every decision from the `random.Random` it is given, so one number names a
shader. With `exact`, every ALU instruction is marked exact: then even the algebraic passes must
keep every bit.
"""

from __future__ import annotations

import copy
import random

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import (
    Def,
    Deref,
    Function,
    FunctionImpl,
    Mode,
    Parameter,
    Shader,
    Stage,
    Variable,
)
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.opcodes import OPCODES, Opcode
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot

MAX_DEPTH = 3


def _usable(op: Opcode) -> bool:
    """Operations on 32-bit numbers and booleans of any width."""
    kinds = [*op.input_types, op.output_type]
    if op.is_derivative or op.name.startswith(("vec", "mov", "unpack", "pack")):
        return False
    return all(k.bits in (0, 1, 32) for k in kinds)


FLOATING = [op for op in OPCODES.values() if _usable(op) and op.output_type.base == "float"]
OTHERS = [op for op in OPCODES.values() if _usable(op) and op.output_type.base != "float"]


class Generator:
    """Builds one shader; `pool` holds the values that may be used at the current place."""

    def __init__(self, rng: random.Random, exact: bool, derefs: bool, calls: bool):
        self.rng = rng
        self.calls = calls
        self.functions: list[Function] = []
        self.result: Deref | None = None  # where a function stores before it returns
        self.derefs = derefs
        self.b = Builder.shader_main(Stage.FRAGMENT, "random")
        self.b.exact = exact
        self.pool: list[Def] = []
        self.locals: list[Variable] = []
        self.conditions: list[Def] = []
        self.unreached = False  # does control never come here?
        self.loops = 0
        self.budget = rng.randrange(8, 40)

    def build(self) -> Shader:
        b, rng = self.b, self.rng
        zero = b.imm_int(0)
        inputs = []
        for i in range(rng.randrange(1, 3)):
            slot = VaryingSlot(VaryingSlot.VAR0 + i)
            if self.derefs:
                var = b.shader.add_variable(f"in{i}", t.VEC4, Mode.SHADER_IN, location=slot)
                inputs.append(b.load_var(var))
            else:
                inputs.append(b.intrinsic("load_input", [zero], num_components=4, location=slot))
        self.pool += inputs
        self.pool.append(b.intrinsic("load_ubo", [zero, b.imm_int(16)], num_components=4))
        self.pool.append(b.fge(b.channel(inputs[0], 0), b.channel(inputs[0], 1)))
        self.pool.append(b.f2i32(inputs[0]))
        self._locals()
        if self.calls:
            for i in range(rng.randrange(1, 3)):
                self._function(f"f{i}")
        self._code(0)
        self._outputs()
        return b.shader

    def _function(self, name: str) -> None:
        """`void name(out float r, float x)` that may return from inside of ifs and loops."""
        function = self.b.shader.add_function(name)
        function.params = [
            Parameter("r", t.FLOAT, is_deref=True),
            Parameter("x", t.FLOAT, False, 1, 32),
        ]
        impl = FunctionImpl(self.b.shader, function)
        inner = copy.copy(self)
        inner.b = Builder(impl)
        inner.b.exact = self.b.exact
        inner.pool = [inner.b.load_param(1)]
        inner.locals, inner.loops, inner.budget = [], 0, 10
        inner.conditions, inner.unreached = [], False
        inner.result = inner.b.deref_param(0)
        inner._code(1)
        inner.b.store_deref(inner.result, inner.floats(1))
        self.functions.append(function)

    def _call(self) -> None:
        b = self.b
        out = b.impl.add_local(f"r{len(b.impl.locals)}", t.FLOAT)
        b.call(self.rng.choice(self.functions), [b.deref_var(out).result, self.floats(1)])
        self.pool.append(b.load_var(out))

    def _copy(self) -> None:
        """Copy a whole variable to another one of its type."""
        pairs = [
            (v, w) for v in self.locals for w in self.locals if v is not w and v.type is w.type
        ]
        if pairs:
            to, source = self.rng.choice(pairs)
            self.b.copy_deref(self.b.deref_var(to), self.b.deref_var(source))

    def _texture(self) -> None:
        b, rng = self.b, self.rng
        options = {"texture_index": rng.randrange(3), "sampler_index": rng.randrange(2)}
        if rng.random() < 0.5:
            srcs = [("coord", self.floats(2)), ("lod", self.floats(1))]
            self.pool.append(b.tex("txl", srcs, t.Dim.D2, **options))
        else:
            self.pool.append(b.tex("tex", [("coord", self.floats(3))], t.Dim.CUBE, **options))

    def _locals(self) -> None:
        b = self.b
        struct = t.struct("S", [t.Field("a", t.FLOAT), t.Field("b", t.array(t.VEC2, 3))])
        kinds = [t.FLOAT, t.VEC3, t.INT, t.array(t.FLOAT, 4), t.array(t.VEC3, 2), struct, t.MAT2]
        for i in range(self.rng.randrange(0, 5)):
            var = b.impl.add_local(f"v{i}", self.rng.choice(kinds))
            self.locals.append(var)
            self._each_leaf(var)

    def _each_leaf(self, var: Variable) -> None:
        """Initialise a variable: what is undefined may change under any pass."""
        b = self.b
        if var.type.is_struct:
            root = b.deref_var(var)
            b.store_deref(b.deref_struct(root, 0), self.floats(1))
            array = b.deref_struct(root, 1)
            for i in range(3):
                b.store_deref(b.deref_array_imm(array, i), self.floats(2))
        elif var.type.is_array or var.type.is_matrix:
            for i in range(var.type.indexed_length()):
                deref = b.deref_array_imm(b.deref_var(var), i)
                b.store_deref(deref, self.floats(deref.type.components))
        else:
            b.store_var(var, self.of(var.type.components, 32))

    # Operands.

    def of(self, components: int, bits: int) -> Def:
        """A value of a shape, from the pool if possible."""
        rng, b = self.rng, self.b
        found = [v for v in self.pool if v.bit_size == bits]
        if not found or rng.random() < 0.15:
            if bits == 1:
                value = b.imm_bool(rng.random() < 0.5)
            elif rng.random() < 0.7:
                value = b.imm_float(rng.choice([0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 3.25]))
            else:
                value = b.imm_int(rng.choice([0, 1, -1, 2, 31, 7]))
        else:
            value = rng.choice(found)
        width = value.num_components
        if width == components and rng.random() < 0.6:
            return value
        return b.swizzle(value, [rng.randrange(width) for _ in range(components)])

    def floats(self, components: int) -> Def:
        return self.of(components, 32)

    def deref(self) -> tuple[object, int]:
        """A random place inside a random local, and its number of components."""
        b, rng = self.b, self.rng
        deref = b.deref_var(rng.choice(self.locals))
        while not deref.type.is_vector_or_scalar:
            if deref.type.is_struct:
                deref = b.deref_struct(deref, rng.randrange(2))
                continue
            length = deref.type.indexed_length()
            if rng.random() < 0.6:
                deref = b.deref_array_imm(deref, rng.randrange(length))
            else:  # in range: what lies outside is undefined
                index = b.umin(self.of(1, 32), b.imm_int(length - 1))
                deref = b.deref_array(deref, index)
        return deref, deref.type.components

    # Statements.

    def _code(self, depth: int) -> None:
        for _ in range(self.rng.randrange(1, 7)):
            if self.budget <= 0:
                return
            self.budget -= 1
            kind = self.rng.random()
            if kind < 0.55:
                self._alu()
            elif kind < 0.7 and self.locals:
                deref, n = self.deref()
                if self.rng.random() < 0.65:
                    self.b.store_deref(deref, self.floats(n), self.rng.randrange(1, 1 << n))  # type: ignore[arg-type]
                else:
                    self.pool.append(self.b.load_deref(deref))  # type: ignore[arg-type]
            elif kind < 0.85 and depth < MAX_DEPTH:
                self._if(depth)
            elif kind < 0.93 and depth < MAX_DEPTH:
                self._loop(depth)
            elif kind < 0.95:
                self._vec()
            elif kind < 0.96:
                self._copy() if self.rng.random() < 0.5 else self._texture()
            elif kind < 0.975 and self.functions:
                self._call()
            elif depth == 0 and kind < 0.98:
                self.b.intrinsic("discard_if", [self.of(1, 1)])
            else:
                self._alu()

    def _alu(self) -> None:
        rng, b = self.rng, self.b
        op = rng.choice(FLOATING if rng.random() < 0.55 else OTHERS)
        width = rng.choice([1, 1, 2, 3, 4])
        free = (
            1 if op.name in ("iand", "ior", "ixor", "inot", "bcsel") and rng.random() < 0.4 else 32
        )
        srcs = [
            self.of(size or width, kind.bits or free)
            for kind, size in zip(op.input_types, op.input_sizes, strict=True)
        ]
        self.pool.append(b.alu(op, *srcs))

    def _vec(self) -> None:
        n = self.rng.randrange(2, 5)
        self.pool.append(self.b.vec([self.of(1, 32) for _ in range(n)]))

    def _condition(self) -> Def:
        """Often the one of an `if` before, so that neighbours share it."""
        if self.conditions and self.rng.random() < 0.4 and self.conditions[-1] in self.pool:
            return self.conditions[-1]
        condition = self.of(1, 1)
        self.pool.append(condition)
        self.conditions.append(condition)
        return condition

    def _if(self, depth: int) -> None:
        b, rng = self.b, self.rng
        before = self.unreached
        condition = self._condition()
        outer = list(self.pool)
        b.push_if(condition)
        self._code(depth + 1)
        width = rng.randrange(1, 4)
        then_value = self.of(width, 32)
        jumps = self.loops > 0 and rng.random() < 0.25
        leaves = self.unreached or jumps
        if self.result is not None and rng.random() < 0.3:
            b.store_deref(self.result, self.floats(1))
            b.jump("return")
            leaves = True
        elif jumps:
            b.jump(rng.choice(["break", "continue"]))
        self.pool = list(outer)
        self.unreached = before
        b.push_else()
        if rng.random() < 0.7:
            self._code(depth + 1)
        else_value = self.of(width, 32)
        else_leaves = self.unreached
        if leaves and self.loops > 0 and rng.random() < 0.2:  # what follows is never reached
            b.jump(rng.choice(["break", "continue"]))
            else_leaves = True
        self.pool = outer
        self.unreached = before or (leaves and else_leaves)
        b.pop_if()
        # Returns are lowered before values become phis.
        if not leaves and not else_leaves and self.result is None and rng.random() < 0.7:
            self.pool.append(b.if_phi(then_value, else_value))

    def _loop(self, depth: int) -> None:
        """A loop that runs at most four times: its counter is a local that nobody else writes."""
        b, rng = self.b, self.rng
        outer = list(self.pool)
        counter = b.impl.add_local(f"count{len(b.impl.locals)}", t.INT)
        b.store_var(counter, b.imm_int(0))
        b.push_loop()
        value = b.load_var(counter)
        limit = b.imm_int(rng.randrange(1, 5)) if rng.random() < 0.6 else self._small()
        b.break_if(b.ige(value, limit))
        b.store_var(counter, b.iadd(value, b.imm_int(1)))
        self.pool.append(value)
        self.loops += 1
        before = self.unreached
        self._code(depth + 1)
        self.unreached = before
        self.loops -= 1
        b.pop_loop()
        self.pool = outer

    def _small(self) -> Def:
        return self.b.iand(self.of(1, 32), self.b.imm_int(3))

    def _outputs(self) -> None:
        b = self.b
        zero = b.imm_int(0)
        for i in range(2):
            # Much of the pool at once, or most of the shader is dead.
            value = self.of(4, 32)
            for _ in range(self.rng.randrange(2, 6)):
                value = b.ixor(b.iadd(value, value), self.of(4, 32))
            slot = FragResult(FragResult.DATA0 + i)
            if self.derefs:
                var = b.shader.add_variable(f"out{i}", t.VEC4, Mode.SHADER_OUT, location=slot)
                b.store_var(var, value)
            else:
                b.intrinsic("store_output", [value, zero], location=slot, write_mask=15)
        for i, var in enumerate(self.locals):
            deref = b.deref_var(var)
            while not deref.type.is_vector_or_scalar:
                if deref.type.is_struct:
                    deref = b.deref_struct(deref, self.rng.randrange(2))
                else:
                    length = deref.type.indexed_length()
                    deref = b.deref_array_imm(deref, self.rng.randrange(length))
            value = b.load_deref(deref)
            slot = FragResult(FragResult.DATA2 + i)
            mask = (1 << value.num_components) - 1
            b.intrinsic("store_output", [value, zero], location=slot, write_mask=mask)


def make_shader(
    rng: random.Random, *, exact: bool = True, derefs: bool = False, calls: bool = False
) -> Shader:
    """A new random shader; with `calls` it has functions that return early."""
    return Generator(rng, exact, derefs, calls).build()
