"""The shader's summary is recomputed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from gallette.compiler.nir.ir.cf import list_blocks
from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.instrs import Alu, Intrinsic, Tex
from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import const_int
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import SystemValue
from gallette.compiler.nir.run.pass_runner import nir_pass


def _blank(info: ShaderInfo) -> None:
    """Reset the facts that are gathered."""
    info.inputs_read, info.outputs_written, info.outputs_read = set(), set(), set()
    info.system_values_read, info.flat_inputs = set(), set()
    info.textures_used, info.textures_fetched, info.images_used = set(), set(), set()
    info.num_ubos = info.num_ssbos = info.num_uniform_bytes = info.user_clip_planes = 0
    info.uses_discard = info.uses_demote = info.uses_derivatives = False
    info.uses_sample_shading = info.uses_indirect_textures = False
    info.writes_memory = info.reads_frag_coord = False


@nir_pass("gather_info", preserves=Metadata.ALL)
def gather_info(shader: Shader) -> bool:
    """Recompute the summary of inputs, outputs, resources and features in `ShaderInfo`.

    Works on lowered code (slots and unit numbers). Changes nothing else.
    """
    info = shader.info
    _blank(info)
    for impl in shader.impls():
        for block in list_blocks(impl.body):
            instr = block.first
            while instr is not None:
                if instr.__class__ is Intrinsic:
                    gather = _GATHERERS[instr.info.name]
                    if gather is not None:
                        gather(shader, info, instr)
                elif instr.__class__ is Alu:
                    if instr.op.is_derivative:
                        info.uses_derivatives = True
                elif instr.__class__ is Tex:
                    _sample(shader, info, instr)
                instr = instr.next
    return False


def _sample(shader: Shader, info: ShaderInfo, tex: Tex) -> None:
    if tex.src("texture_offset") is not None:
        info.uses_indirect_textures = True
    info.textures_used.add(tex.texture_index)
    if tex.op == "txf":
        info.textures_fetched.add(tex.texture_index)
    if shader.stage is Stage.FRAGMENT and tex.info.implicit_lod:
        info.uses_derivatives = True


def _slots(instr: Intrinsic) -> range:
    indices = instr.indices
    location = int(indices["location"])
    return range(location, location + max(indices["num_slots"], 1))


def _input(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    info.inputs_read.update(_slots(instr))
    if instr.info.name == "load_input" and shader.stage is Stage.FRAGMENT:
        info.flat_inputs.update(_slots(instr))


def _output(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    info.outputs_written.update(_slots(instr))
    if instr.indices["dual_source"]:
        info.color_is_dual_source = True


def _output_read(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    info.outputs_read.update(_slots(instr))


def _uniform(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    block, indices = const_int(instr.srcs[0].value), instr.indices
    info.num_ubos = max(info.num_ubos, (block if block is not None else 0) + 1)
    if block == 0 and indices["range"]:
        end = indices["range_base"] + indices["range"]
        info.num_uniform_bytes = max(info.num_uniform_bytes, end)


def _storage(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    name = instr.info.name
    block = const_int(instr.srcs[1 if name.startswith("store") else 0].value)
    info.num_ssbos = max(info.num_ssbos, (block if block is not None else 0) + 1)
    info.writes_memory |= name.startswith("store") or "atomic" in name


def _image(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    name = instr.info.name
    unit = const_int(instr.srcs[0].value)
    if unit is not None:
        info.images_used.add(unit)
    info.writes_memory |= "store" in name or "atomic" in name


def _discard(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    info.uses_discard = True


def _demote(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    info.uses_demote = True


def _clip_plane(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    info.user_clip_planes |= 1 << instr["ucp_id"]


def _system_value(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    name = instr.info.name
    value = _SYSTEM_VALUES.get(name)
    if value is not None:
        info.system_values_read.add(value)
    if name == "load_frag_coord":
        info.reads_frag_coord = True
    elif name in ("load_sample_id", "load_sample_pos", "load_barycentric_sample"):
        info.uses_sample_shading = True


_SYSTEM_VALUES = {value.intrinsic: int(value) for value in SystemValue}
_Gather: TypeAlias = Callable[[Shader, ShaderInfo, Intrinsic], None]
_NAMED: dict[str, _Gather] = {
    "load_input": _input,
    "load_per_vertex_input": _input,
    "load_interpolated_input": _input,
    "store_output": _output,
    "store_per_vertex_output": _output,
    "load_output": _output_read,
    "load_per_vertex_output": _output_read,
    "load_ubo": _uniform,
    "discard": _discard,
    "discard_if": _discard,
    "demote": _demote,
    "demote_if": _demote,
    "load_user_clip_plane": _clip_plane,
}


def _gatherer(name: str) -> _Gather | None:
    """The function that gathers what an intrinsic of that name implies, or None."""
    if name in _NAMED:
        return _NAMED[name]
    if "ssbo" in name:
        return _storage
    if name.startswith("image_"):
        return _image
    return _system_value if name.startswith("load_") else None


_GATHERERS = {name: _gatherer(name) for name in INTRINSICS}
