"""The shader's summary is brought up to date."""

from __future__ import annotations

from gallette.compiler.nir.ir.info import ShaderInfo
from gallette.compiler.nir.ir.instrs import Alu, Instr, Intrinsic, Tex
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.questions import const_int, instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import SystemValue
from gallette.compiler.nir.run.pass_runner import nir_pass

_GATHERED = (
    "inputs_read",
    "outputs_written",
    "outputs_read",
    "system_values_read",
    "flat_inputs",
    "textures_used",
    "images_used",
    "num_ubos",
    "num_ssbos",
    "num_uniform_bytes",
    "uses_discard",
    "uses_demote",
    "uses_derivatives",
    "uses_sample_shading",
    "uses_indirect_textures",
    "writes_memory",
    "reads_frag_coord",
    "user_clip_planes",
)
_BLANK = {name: getattr(ShaderInfo(), name) for name in _GATHERED}


@nir_pass("gather_info", preserves=Metadata.ALL)
def gather_info(shader: Shader) -> bool:
    """Recompute what `ShaderInfo` says about inputs, outputs, resources and features in use.

    Works on lowered code (slots and unit numbers). Changes nothing else.
    """
    info = shader.info
    for name, blank in _BLANK.items():
        setattr(info, name, set() if blank.__class__ is set else blank)
    for impl in shader.impls():
        for instr in instrs_of(impl):
            if instr.__class__ is Intrinsic:
                _gather_intrinsic(shader, info, instr)
            elif instr.__class__ is Alu or instr.__class__ is Tex:
                _gather(shader, info, instr)
    return False


def _gather(shader: Shader, info: ShaderInfo, instr: Instr) -> None:
    if isinstance(instr, Tex):
        count = 1
        if instr.src("texture_offset") is not None:
            info.uses_indirect_textures = True
        info.textures_used.update(range(instr.texture_index, instr.texture_index + count))
        if shader.stage is Stage.FRAGMENT and instr.info.implicit_lod:
            info.uses_derivatives = True
    elif isinstance(instr, Alu) and instr.op.is_derivative:
        info.uses_derivatives = True


def _slots(instr: Intrinsic) -> range:
    location = int(instr["location"])
    return range(location, location + max(instr["num_slots"], 1))


def _gather_intrinsic(shader: Shader, info: ShaderInfo, instr: Intrinsic) -> None:
    name = instr.info.name
    if name in ("load_input", "load_per_vertex_input", "load_interpolated_input"):
        info.inputs_read.update(_slots(instr))
        if name == "load_input" and shader.stage is Stage.FRAGMENT:
            info.flat_inputs.update(_slots(instr))
    elif name in ("store_output", "store_per_vertex_output"):
        info.outputs_written.update(_slots(instr))
        if instr["dual_source"]:
            info.color_is_dual_source = True
    elif name in ("load_output", "load_per_vertex_output"):
        info.outputs_read.update(_slots(instr))
    elif name == "load_ubo":
        block = const_int(instr.srcs[0].value)
        info.num_ubos = max(info.num_ubos, (block if block is not None else 0) + 1)
        if block == 0 and instr["range"]:
            info.num_uniform_bytes = max(
                info.num_uniform_bytes, instr["range_base"] + instr["range"]
            )
    elif "ssbo" in name:
        source = instr.srcs[1 if name.startswith("store") else 0].value
        block = const_int(source)
        info.num_ssbos = max(info.num_ssbos, (block if block is not None else 0) + 1)
        info.writes_memory |= name.startswith("store") or "atomic" in name
    elif name.startswith("image_"):
        unit = const_int(instr.srcs[0].value)
        if unit is not None:
            info.images_used.add(unit)
        info.writes_memory |= "store" in name or "atomic" in name
    elif name in ("discard", "discard_if"):
        info.uses_discard = True
    elif name in ("demote", "demote_if"):
        info.uses_demote = True
    elif name == "load_user_clip_plane":
        info.user_clip_planes |= 1 << instr["ucp_id"]
    elif name.startswith("load_"):
        _gather_system_value(info, name)


def _gather_system_value(info: ShaderInfo, name: str) -> None:
    value = _SYSTEM_VALUES.get(name)
    if value is not None:
        info.system_values_read.add(value)
    if name == "load_frag_coord":
        info.reads_frag_coord = True
    elif name in ("load_sample_id", "load_sample_pos", "load_barycentric_sample"):
        info.uses_sample_shading = True


_SYSTEM_VALUES = {value.intrinsic: int(value) for value in SystemValue}
