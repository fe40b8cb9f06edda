"""Textures with a constant index lose the dynamic index."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import const_int, instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.texops import FIRST_HANDLE
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("opt_texture_index", preserves=Metadata.CONTROL_FLOW)
def opt_texture_index(shader: Shader) -> bool:
    """`tex (texture_offset=-31) (texture=32)` becomes `tex (texture=1)`.

    A sampler that is a function's parameter, or a local variable, is a handle; if it turns out to
    be a unit, drivers can use the unit number. Other numbers remain handles.
    """
    progress = False
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if isinstance(instr, Tex):
                progress |= _fold(instr)
    return progress


def _fold(tex: Tex) -> bool:
    texture, sampler = tex.src("texture_offset"), tex.src("sampler_offset")
    numbers = []
    for src, first in ((texture, tex.texture_index), (sampler, tex.sampler_index)):
        offset = 0 if src is None else const_int(src.value)
        if offset is None:
            return False
        offset &= 0xFFFFFFFF
        numbers.append(first + (offset - (1 << 32) if offset >> 31 else offset))
    if (texture is None and sampler is None) or not all(0 <= n < FIRST_HANDLE for n in numbers):
        return False
    tex.texture_index, tex.sampler_index = numbers
    for kind, src in (("texture_offset", texture), ("sampler_offset", sampler)):
        if src is not None:
            tex.remove_src(kind)
    return True
