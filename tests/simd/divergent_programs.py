"""Random shaders that a SIMD machine gets wrong when it forgets its waiting channels.

The random shaders of numpipe's tests, with what writes other channels than its own: texture
operations with a header, and arithmetic on 64-bit values, in the middle of loops that channels
leave one by one.
"""

from __future__ import annotations

from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from tests.numpipe.shader.random_lane_shaders import RandomShader


class DivergentShader(RandomShader):
    """Adds headers and wide values."""

    def float_value(self, depth: int = 0) -> Def:
        pick = self.rng.random()
        if depth < 3 and pick < 0.15:
            return self.texel(depth)
        if depth < 3 and pick < 0.25:
            return self.wide(depth)
        return super().float_value(depth)

    def texel(self, depth: int) -> Def:
        """A texture operation with a constant offset: its message has a header."""
        coord = self.b.vec([self.float_value(depth + 2), self.float_value(depth + 2)])
        offset = self.b.vec([self.b.imm_int(self.rng.randint(-8, 7)) for _ in range(2)])
        srcs = [("coord", coord), ("lod", self.b.imm_float(0.0)), ("offset", offset)]
        found = self.b.tex("txl", srcs, Dim.D2, texture_index=self.rng.randint(0, 1))
        return self.b.channel(found, self.rng.randint(0, 3))

    def wide(self, depth: int) -> Def:
        """A sum of 64-bit values: two registers per component, channels lie elsewhere."""
        b = self.b
        first, second = b.f2f64(self.float_value(depth + 1)), b.f2f64(self.float_value(depth + 1))
        return b.f2f32(b.fadd(first, b.fmul(second, second)))


def divergent_shader(seed: int, stage: Stage = Stage.FRAGMENT) -> Shader:
    """The shader that grows from `seed`, optimised as the driver does it."""
    return scalar(DivergentShader(seed, stage, exact=True).build())


def scalar(shader: Shader) -> Shader:
    """Optimised, a component at a time."""
    optimize(shader, OptimizeOptions(scalar=True))
    return shader
