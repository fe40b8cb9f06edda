"""Pixel rectangles and bitmaps: a fragment's colour, depth or discard comes from a texture."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

COORDINATES = VaryingSlot(VaryingSlot.VAR0 + 31)
"""The varying of texel coordinates, which applications' shaders are unlikely to use."""


@nir_pass("lower_pixel_rectangle", preserves=Metadata.CONTROL_FLOW)
def lower_pixel_rectangle(shader: Shader, *, what: str = "color", texture: int = 0) -> bool:
    """Fragments of a pixel rectangle fetch their value from a texture, by position within it.

    For `glDrawPixels` and `glBitmap`. With `what` = "color" reads of COL0 become the texel; "depth"
    adds a store of its red channel to the depth; "bitmap" discards the fragment where red is 0.
    Texel coordinates are the varying VAR31. Runs on lowered I/O, once.
    """
    if shader.stage is not Stage.FRAGMENT:
        return False
    impl = shader.entry
    if what == "color":
        _replace_color(impl, texture)
    elif what == "depth":
        for store in intrinsics_of(impl, "store_output"):
            if store["location"] == FragResult.DEPTH:
                store.remove()
        b = Builder(impl).at_end(impl.last)
        depth = b.channel(_texel(b, texture), 0)
        b.intrinsic("store_output", [depth, b.imm_int(0)], location=FragResult.DEPTH, write_mask=1)
    else:
        b = Builder(impl).at_start(impl.first)
        present = b.channel(_texel(b, texture), 0)
        b.intrinsic("discard_if", [b.feq(present, b.imm_float(0.0))])
        shader.info.uses_discard = True
    return True


def _replace_color(impl: FunctionImpl, texture: int) -> None:
    texel: Def | None = None
    for load in intrinsics_of(impl, "load_input", "load_interpolated_input"):
        if load["location"] != VaryingSlot.COL0:
            continue
        if texel is None:
            texel = _texel(Builder(impl).at_start(impl.first), texture)
        b = Builder(impl).at_before(load)
        first = load["component"]
        parts = b.channels(texel)[first : first + load.result.num_components]
        load.replace_by(b.vec(parts))


def _texel(b: Builder, texture: int) -> Def:
    bary = b.intrinsic("load_barycentric_pixel")
    place = b.intrinsic(
        "load_interpolated_input",
        [bary, b.imm_int(0)],
        num_components=2,
        location=COORDINATES,
    )
    coord = b.f2i32(b.ffloor(place))
    fetch = Tex(
        "txf",
        [("coord", coord), ("lod", b.imm_int(0))],
        Dim.D2,
        coord_components=2,
        texture_index=texture,
        sampler_index=texture,
    )
    b.insert(fetch)
    return fetch.result
