"""Random structured shaders: nested ifs and loops, early exits, locals, arrays, demotions."""

from __future__ import annotations

import random

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Def, Shader, Stage, Variable
from gallette.compiler.nir.ir.types import FLOAT, INT, array
from gallette.compiler.nir.run.pass_runner import run_passes

FLOAT_BINARY = ("fadd", "fsub", "fmul", "fmin", "fmax", "fdiv")
FLOAT_UNARY = ("fneg", "fabs", "ffloor", "ffract", "fsqrt", "frcp", "fsin", "fexp2")
INT_BINARY = ("iadd", "isub", "imul", "iand", "ior", "ixor", "imin", "umax", "ishl", "ushr")
COMPARES = ("flt", "fge", "feq", "ilt", "ige", "ieq", "ult")


class RandomShader:
    """Grows one shader from a seed."""

    def __init__(
        self,
        seed: int,
        stage: Stage = Stage.FRAGMENT,
        derivatives: bool = False,
        exact: bool = False,
    ):
        self.unary = FLOAT_UNARY[:6] if exact else FLOAT_UNARY
        self.rng = random.Random(seed)
        self.b = Builder.shader_main(stage, f"random{seed}")
        self.stage = stage
        self.derivatives = derivatives
        impl = self.b.impl
        self.floats = [impl.add_local(f"f{i}", FLOAT) for i in range(4)]
        self.ints = [impl.add_local(f"i{i}", INT) for i in range(3)]
        self.array = impl.add_local("table", array(FLOAT, 4))
        self.loops = 0
        self.level = 0  # of conditions and loops around
        self.budget = self.rng.randint(8, 30)

    def build(self) -> Shader:
        for i, var in enumerate(self.floats):
            self.b.store_var(var, self.input(i) if i < 3 else self.uniform(i))
        self.b.store_var(self.ints[0], self.b.f2i32(self.input(3)))
        self.b.store_var(self.ints[1], self.b.imm_int(self.rng.randint(0, 5)))
        self.b.store_var(self.ints[2], self.b.f2i32(self.uniform(5)))
        for i in range(4):
            place = self.b.deref_array_imm(self.b.deref_var(self.array), i)
            self.b.store_deref(place, self.input(4) if i % 2 else self.uniform(i))
        self.statements(0)
        zero = self.b.imm_int(0)
        color = self.b.vec([self.b.load_var(v) for v in self.floats])
        self.b.intrinsic("store_output", [color, zero], location=4, write_mask=15)
        integers = self.b.vec([*(self.b.load_var(v) for v in self.ints), self.element()])
        self.b.intrinsic("store_output", [integers, zero], location=5, write_mask=15)
        run_passes(self.b.shader, ["lower_vars_to_ssa", "copy_prop", "remove_phis", "dce"])
        return self.b.shader

    def input(self, component: int) -> Def:
        zero = self.b.imm_int(0)
        slot, component = 32 + component // 4, component % 4
        if self.stage is Stage.VERTEX:
            return self.b.intrinsic(
                "load_input", [zero], num_components=1, base=slot, location=slot,
                component=component,
            )  # fmt: skip
        bary = self.b.intrinsic("load_barycentric_pixel", [], interp="smooth")
        return self.b.intrinsic(
            "load_interpolated_input", [bary, zero], num_components=1, location=slot,
            component=component,
        )  # fmt: skip

    def uniform(self, index: int) -> Def:
        block = self.b.imm_int(self.rng.randint(0, 1))
        return self.b.intrinsic("load_ubo", [block, self.b.imm_int(index * 4)], num_components=1)

    def index(self) -> Def:
        if self.rng.random() < 0.3:
            return self.b.imm_int(self.rng.randint(0, 4))
        return self.b.iand(self.b.load_var(self.rng.choice(self.ints)), self.b.imm_int(7))

    def element(self) -> Def:
        return self.b.load_deref(self.b.deref_array(self.b.deref_var(self.array), self.index()))

    def float_value(self, depth: int = 0) -> Def:
        pick = self.rng.random()
        if depth > 2 or pick < 0.25:
            return self.b.load_var(self.rng.choice(self.floats))
        if pick < 0.35:
            return self.b.imm_float(self.rng.choice([0.0, 1.0, -1.5, 0.5, 3.0]))
        if pick < 0.45:
            return self.uniform(self.rng.randint(0, 15))
        if pick < 0.5:
            return self.element()
        if pick < 0.55:
            return self.b.i2f32(self.int_value(depth + 1))
        if pick < 0.62:
            return self.b.bcsel(
                self.condition(depth + 1), self.float_value(depth + 1), self.float_value(depth + 1)
            )
        if pick < 0.75:
            return self.b.alu(self.rng.choice(self.unary), self.float_value(depth + 1))
        if self.derivatives and pick < 0.85 and not self.level:
            return self.b.alu(self.rng.choice(("fddx", "fddy")), self.float_value(depth + 1))
        op = self.rng.choice(FLOAT_BINARY)
        value = self.b.alu(op, self.float_value(depth + 1), self.float_value(depth + 1))
        if op in ("fmin", "fmax"):  # of zeros of both signs, which one comes out is not defined
            value = self.b.fadd(value, self.b.imm_float(0.0))
        return value

    def int_value(self, depth: int = 0) -> Def:
        pick = self.rng.random()
        if depth > 2 or pick < 0.3:
            return self.b.load_var(self.rng.choice(self.ints))
        if pick < 0.5:
            return self.b.imm_int(self.rng.randint(-3, 9))
        if pick < 0.6:
            return self.b.f2i32(self.float_value(depth + 1))
        op = self.rng.choice(INT_BINARY)
        return self.b.alu(op, self.int_value(depth + 1), self.int_value(depth + 1))

    def condition(self, depth: int = 0) -> Def:
        op = self.rng.choice(COMPARES)
        make = self.float_value if op[0] == "f" else self.int_value
        value = self.b.alu(op, make(depth + 1), make(depth + 1))
        if depth < 2 and self.rng.random() < 0.2:
            value = self.b.alu(self.rng.choice(("iand", "ior")), value, self.condition(depth + 2))
        return value

    def statements(self, depth: int, in_loop: bool = False) -> None:
        for _ in range(self.rng.randint(1, 4)):
            self.budget -= 1
            if self.budget < 0:
                return
            pick = self.rng.random()
            if pick < 0.4 or depth > 4:
                self.assign()
            elif pick < 0.5:
                place = self.b.deref_array(self.b.deref_var(self.array), self.index())
                self.b.store_deref(place, self.float_value())
            elif pick < 0.72:
                self.branch(depth, in_loop)
            elif pick < 0.86 and self.loops < 3:
                self.loop(depth)
            elif pick < 0.9 and self.stage is Stage.FRAGMENT and not self.derivatives:
                self.b.intrinsic("demote_if", [self.condition()])
            else:
                self.assign()

    def assign(self) -> None:
        if self.rng.random() < 0.65:
            self.b.store_var(self.rng.choice(self.floats), self.float_value())
        else:
            self.b.store_var(self.rng.choice(self.ints), self.int_value())

    def branch(self, depth: int, in_loop: bool) -> None:
        self.b.push_if(self.condition())
        self.level += 1
        self.statements(depth + 1, in_loop)
        if in_loop and self.rng.random() < 0.45:
            self.b.jump(self.rng.choice(("break", "continue")))
            if self.rng.random() < 0.3:
                self.b.push_else()
                self.statements(depth + 1, in_loop)
        elif self.rng.random() < 0.6:
            self.b.push_else()
            self.statements(depth + 1, in_loop)
            if in_loop and self.rng.random() < 0.3:
                self.b.jump(self.rng.choice(("break", "continue")))
        self.level -= 1
        self.b.pop_if()

    def loop(self, depth: int) -> None:
        """A counted loop that may be left early; the bound may differ between lanes."""
        self.loops += 1
        counter: Variable = self.b.impl.add_local(f"n{self.loops}", INT)
        self.b.store_var(counter, self.b.imm_int(0))
        limit = self.b.imm_int(self.rng.randint(1, 6))
        if self.rng.random() < 0.5:
            limit = self.b.iand(self.b.load_var(self.rng.choice(self.ints)), self.b.imm_int(7))
        self.b.push_loop()
        self.level += 1
        self.b.break_if(self.b.ige(self.b.load_var(counter), limit))
        self.b.store_var(counter, self.b.iadd(self.b.load_var(counter), self.b.imm_int(1)))
        self.statements(depth + 1, True)
        self.level -= 1
        self.b.pop_loop()


def random_shader(
    seed: int, stage: Stage = Stage.FRAGMENT, derivatives: bool = False, exact: bool = False
) -> Shader:
    """The shader that grows from `seed`, in SSA form; an exact one has no sine or power."""
    return RandomShader(seed, stage, derivatives, exact).build()
