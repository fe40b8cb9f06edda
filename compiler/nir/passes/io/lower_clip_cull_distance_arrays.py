"""Clip and cull distances share two slots."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Deref
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.questions import derefs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.surgery import remove_dead_deref
from gallette.compiler.nir.ir.types import FLOAT, array
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.pass_runner import nir_pass


@nir_pass("lower_clip_cull_distance_arrays", preserves=Metadata.CONTROL_FLOW)
def lower_clip_cull_distance_arrays(shader: Shader) -> bool:
    """`gl_CullDistance[]` moves behind `gl_ClipDistance[]` in one compact array.

    The info fields `clip_distance_array_size` and `cull_distance_array_size` tell the two apart:
    the combined array, at CLIP_DIST0, holds first the clip and then the cull distances.
    """
    progress = False
    for mode in (Mode.SHADER_OUT, Mode.SHADER_IN):
        progress |= _combine(shader, mode)
    return progress


def _find(shader: Shader, mode: Mode, slot: VaryingSlot) -> Variable | None:
    for var in shader.variables_of(mode):
        if var.location == slot and var.type.is_array:
            return var
    return None


def _length(var: Variable | None) -> int:
    if var is None:
        return 0
    inner = var.type.element if var.per_vertex else var.type
    return inner.length if inner is not None else 0


def _combine(shader: Shader, mode: Mode) -> bool:
    clip = _find(shader, mode, VaryingSlot.CLIP_DIST0)
    cull = _find(shader, mode, VaryingSlot.CULL_DIST0)
    if clip is None and cull is None:
        return False
    clip_size, cull_size = _length(clip), _length(cull)
    if mode == Mode.SHADER_OUT:
        shader.info.clip_distance_array_size = clip_size
        shader.info.cull_distance_array_size = cull_size
    for var in (clip, cull):
        if var is not None:
            var.compact = True
    if cull is None:
        return False
    cull.location = VaryingSlot.CLIP_DIST0
    if clip is None:
        return True
    _grow(shader, clip, clip_size + cull_size)
    for deref in list(derefs_of(shader)):
        if deref.root_var is cull and _is_element(deref, cull):
            _redirect(shader, deref, clip, clip_size)
    for deref in list(derefs_of(shader)):
        if deref.block is not None and deref.var is cull:
            remove_dead_deref(deref)
    shader.variables.remove(cull)
    return True


def _is_element(deref: Deref, var: Variable) -> bool:
    return deref.form == "array" and len(deref.path()) == (3 if var.per_vertex else 2)


def _grow(shader: Shader, clip: Variable, size: int) -> None:
    whole = array(FLOAT, size)
    clip.type = array(whole, clip.type.length) if clip.per_vertex else whole
    for deref in derefs_of(shader):
        if deref.root_var is clip:
            if deref.form == "var":
                deref.type = clip.type
            elif clip.per_vertex and len(deref.path()) == 2:
                deref.type = whole


def _redirect(shader: Shader, deref: Deref, clip: Variable, first: int) -> None:
    b = Builder(shader.entry).at_before(deref)
    at = b.deref_var(clip)
    steps = deref.path()[1:]
    if clip.per_vertex:
        at = b.deref_array(at, steps[0].srcs[1].value)
    index = steps[-1].srcs[1].value
    at = b.deref_array(at, b.iadd(index, b.imm_int(first, index.bit_size)))
    deref.result.rewrite_uses(at.result)
    remove_dead_deref(deref)
