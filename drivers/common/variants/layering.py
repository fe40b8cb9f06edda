"""Textures that are other ones, or hold something else, draw by draw: which of them a lane sees.

Of a texture that was written between draws there are several versions (see `draw.pages`). Draws
that became one look at them through one unit, which is told the number of the draw with the
coordinates, where an array texture has its layer.
"""

from __future__ import annotations

from collections.abc import Iterable

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Instr, Shader, Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.run.pass_runner import nir_pass

__all__ = ["plain_textures", "textures_per_draw"]

_LOOKS = frozenset({"tex", "txb", "txl", "txd", "txf", "tg4"})
_ASKS = frozenset({"txs", "query_levels", "lod"})


def plain_textures(instrs: Iterable[Instr]) -> tuple[int, ...]:
    """The textures of two dimensions that shaders name by numbers and look at in plain ways."""
    plain: set[int] = set()
    others: set[int] = set()
    for instr in instrs:
        if not isinstance(instr, Tex):
            continue
        if instr.src("texture_offset") is not None or instr.texture_index >= FIRST_HANDLE:
            return ()  # any of them
        flat = instr.dim is Dim.D2 and not instr.is_array and not instr.is_shadow
        fits = flat and instr.op in _LOOKS | _ASKS
        (plain if fits else others).add(instr.texture_index)
    return tuple(sorted(plain - others))


@nir_pass("textures_per_draw", preserves=Metadata.CONTROL_FLOW)
def textures_per_draw(shader: Shader, *, textures: tuple[int, ...] = ()) -> bool:
    """Whoever looks at some textures says for which of the merged draws.

    tex(coord=vec2 uv)   ->   tex(coord=vec3(uv, float(load_merged_draw()))), as of an array
    """
    number = "merged_draw" if shader.stage is Stage.VERTEX else "primitive_id"
    progress = False
    for impl in shader.impls():
        for block in impl.blocks():
            for instr in list(block.instrs()):
                if not isinstance(instr, Tex) or instr.op not in _LOOKS or instr.is_array:
                    continue
                place = instr.src("coord")
                if place is None or instr.texture_index not in textures:
                    continue
                b = Builder(impl).at_before(instr)
                draw = b.load_system_value(number)
                if instr.info.coordinates != "int":
                    draw = b.i2f32(draw)
                place.rewrite(b.vec([*b.channels(place.value), draw]))
                instr.is_array = True
                instr.coord_components += 1
                progress = True
    return progress
