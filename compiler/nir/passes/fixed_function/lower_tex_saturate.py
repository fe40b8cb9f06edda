"""GL_CLAMP: texture coordinates are clamped before the lookup."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_tex_saturate", preserves=Metadata.CONTROL_FLOW)
def lower_tex_saturate(shader: Shader, *, s: int = 0, t: int = 0, r: int = 0) -> bool:
    """Clamp coordinate s, t or r to 0..1 for the samplers whose bit is set in the mask.

    Together with clamp-to-border sampling this implements `GL_CLAMP`. Rectangle textures clamp to
    their size; array layers are not changed. Nor are lookups with an offset, which is in texels and
    is applied before the clamp, so only the sampler clamps.

    The level of detail is that of the coordinates before the clamp, so a lookup with implicit
    derivatives gets them as sources. (Rectangle textures have one level. A lookup with a bias keeps
    its form, and has the level of the clamped coordinates where a quad reaches over the edge.)
    """
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            if not isinstance(instr, Tex) or not instr.info.is_sampled:
                continue
            bit = 1 << instr.sampler_index
            wanted = (bool(s & bit), bool(t & bit), bool(r & bit))
            if any(wanted) and instr.dim is not Dim.CUBE and instr.src("offset") is None:
                b = Builder(impl).at_before(instr)
                if instr.op == "tex" and instr.dim is not Dim.RECT:
                    instr = _with_derivatives(b, instr)
                    b = Builder(impl).at_before(instr)
                _saturate(b, instr, wanted)
                progress = True
    return progress


def _with_derivatives(b: Builder, tex: Tex) -> Tex:
    """The lookup in place of `tex` that is given its derivatives, one for each quad."""
    sources = [(kind, src.value) for kind, src in zip(tex.src_kinds, tex.srcs, strict=True)]
    coord = tex.src("coord")
    assert coord is not None
    parts = b.channels(coord.value)[: tex.dim.coordinates]
    sources.append(("ddx", b.vec([b.fddx_coarse(part) for part in parts])))
    sources.append(("ddy", b.vec([b.fddy_coarse(part) for part in parts])))
    found = Tex(
        "txd",
        sources,
        tex.dim,
        num_components=tex.dest.num_components,
        dest_type=tex.dest_type,
        is_array=tex.is_array,
        is_shadow=tex.is_shadow,
        coord_components=tex.coord_components,
        texture_index=tex.texture_index,
        sampler_index=tex.sampler_index,
    )
    b.insert(found)
    tex.replace_by(found.result)
    return found


def _saturate(b: Builder, tex: Tex, wanted: tuple[bool, bool, bool]) -> None:
    src = tex.src("coord")
    assert src is not None
    coord = src.value
    size: Def | None = None
    if tex.dim is Dim.RECT:
        lod = b.imm_int(0)
        options = {"texture_index": tex.texture_index, "sampler_index": tex.sampler_index}
        raw = b.tex("txs", [("lod", lod)], Dim.RECT, num_components=2, dest_type="int32", **options)
        size = b.i2f32(raw)
    parts = b.channels(coord)
    for i in range(tex.dim.coordinates):
        if not wanted[i]:
            continue
        if size is None:
            parts[i] = b.fsat(parts[i])
        else:
            parts[i] = b.fmin(b.fmax(parts[i], b.imm_float(0.0)), b.channel(size, i))
    src.rewrite(b.vec(parts))
