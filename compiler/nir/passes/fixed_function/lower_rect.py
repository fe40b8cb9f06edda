"""Rectangle textures become ordinary 2D textures."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.questions import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_rect", preserves=Metadata.CONTROL_FLOW, exact=False)
def lower_rect(shader: Shader) -> bool:
    """`sampler2DRect` coordinates are in texels: divide them by the size and sample in 2D."""
    progress = False
    for impl in shader.impls():
        for instr in list(instrs_of(impl)):
            if not isinstance(instr, Tex) or instr.dim is not Dim.RECT:
                continue
            b = Builder(impl).at_before(instr)
            if instr.info.is_sampled:
                _scale(b, instr)
            instr.dim = Dim.D2
            progress = True
    return progress


def _scale(b: Builder, tex: Tex) -> None:
    handles = [
        (kind, src.value)
        for kind, src in zip(tex.src_kinds, tex.srcs, strict=True)
        if kind in ("texture_deref", "texture_offset")
    ]
    size = b.tex(
        "txs",
        [*handles, ("lod", b.imm_int(0))],
        Dim.D2,
        num_components=2,
        dest_type="int32",
        texture_index=tex.texture_index,
        sampler_index=tex.sampler_index,
    )
    scale = b.frcp(b.i2f32(size))
    for kind in ("coord", "ddx", "ddy"):
        src = tex.src(kind)
        if src is not None:
            src.rewrite(b.fmul(src.value, scale))
