"""Positions first: the other outputs of a vertex are computed only if a remaining primitive needs
them.

Where a vertex shader computes much besides the position, the variant `depth_only` computes the
positions of a draw. Primitives are clipped, culled and rasterized with those, and then the full
variant runs for the vertices of primitives that cover pixels. Both variants compute the same
positions, bit for bit (invariance).

The decision depends on facts known before the draw (the size of the code besides the position, the
number of vertices) and on the previous draw (how many vertices were shaded in the end); no picture
depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.program import BoundProgram, DriverShader
from gallette.drivers.common.variants.keys import VertexKey
from gallette.drivers.common.vertex.vertices import Ints
from gallette.pipe.enums import POINTS_AND_LINES, PolygonMode, Primitive
from gallette.pipe.state import RasterizerState

__all__ = ["FewVertices", "PlacedFirst", "PositionsFirst"]

_LEAST_LANES = 4096
"""Of fewer vertices nothing is to be saved."""

_LEAST_CODE = 32
"""Instructions there must be besides those that the position takes, twice over."""

_WORTH = 0.7
"""If more than this share of a draw's vertices were shaded after all, the next ones are shaded at
once."""

_AGAIN = 32
"""After so many draws it is tried again."""

_NO_POLYGONS = POINTS_AND_LINES | {Primitive.PATCHES}


@dataclass(slots=True, eq=False)
class PositionsFirst:
    """The variant of a selection that computes positions only, and whether using it pays."""

    shader: DriverShader
    key: VertexKey
    _enough: bool | None = None  # is there enough besides the position? None: not looked at
    _waits: int = field(default=0)  # draws until it is tried again
    _few: FewVertices | None = None  # of the draw before

    @classmethod
    def of(
        cls, shader: DriverShader, key: Any, state: RasterizerState, captures: bool
    ) -> PositionsFirst | None:
        """The variant for a vertex shader whose outputs are rasterized; None if it cannot be
        used.
        """
        filled = state.fill_front is state.fill_back is PolygonMode.FILL
        if captures or not filled or not shader.compiler.positions_first:
            return None
        if key.depth_only or not shader.reads.has_varyings:
            return None
        return cls(shader, key)

    def begin(
        self, resources: ShaderResources, mode: Primitive, lanes: int
    ) -> tuple[BoundProgram, FewVertices] | None:
        """The program for the positions of this many vertices, and the record of shaded ones; None
        if all vertices are to be shaded at once.
        """
        if lanes < _LEAST_LANES or mode in _NO_POLYGONS or not self._has_enough():
            return None
        before, self._few = self._few, None
        if before is not None and before.shaded > _WORTH * before.lanes:
            self._waits = _AGAIN
        if self._waits:
            self._waits -= 1
            return None
        self._few = few = FewVertices(lanes)
        return self._variant().program.bind(resources), few

    def _variant(self) -> Any:
        return self.shader.variant_for(replace(self.key, depth_only=True))

    def _has_enough(self) -> bool:
        """Whether the shader computes much besides the position, and has no side effects."""
        if self._enough is None:
            whole = self.shader.variant_for(self.key)
            self._enough = not whole.program.facts.has_side_effects
            code = whole.shader.count_instrs()
            if self._enough and code > _LEAST_CODE:
                self._enough = code >= 2 * self._variant().shader.count_instrs() + _LEAST_CODE
            else:
                self._enough = False
        return self._enough


@dataclass(slots=True, eq=False)
class FewVertices:
    """Counts how many vertices of a draw have been shaded."""

    lanes: int
    shaded: int = 0

    def shading(self, shade: Callable[[Ints | None], Any]) -> Callable[[Ints | None], Any]:
        """A function that shades and counts the vertices it shades."""

        def counted(which: Ints | None) -> Any:
            self.shaded += self.lanes if which is None else len(which)
            return shade(which)

        return counted


PlacedFirst = Callable[[Primitive, int], tuple[BoundProgram, FewVertices] | None]
"""`PositionsFirst.begin` in a state, for primitives of so many vertices."""
