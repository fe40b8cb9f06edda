"""Built-in values: NIR's slots and intrinsics beside SPIR-V's `BuiltIn`s.

Both directions read these tables. What GL has and SPIR-V has not (the fixed function's colours and
texture coordinates, "all colour buffers") travels as an ordinary location with the slot's name in a
`UserSemantic` decoration, which everybody else may ignore.
"""

from __future__ import annotations

from enum import IntEnum

from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib

__all__ = [
    "ATOMIC_COUNTERS",
    "ATOMIC_SET",
    "BUILTIN_CAPABILITY",
    "DEFAULT_BLOCK",
    "IMAGE_SET",
    "SEMANTIC",
    "SSBO_SET",
    "SYSTEM_BUILTINS",
    "TEXTURE_SET",
    "UBO_SET",
    "VARYING_BUILTINS",
    "slot_from_text",
    "slot_text",
]

SEMANTIC = "gallette."
DEFAULT_BLOCK = "gallette.default_block"
ATOMIC_COUNTERS = "gallette.atomic_counters"

# Where resources go: the descriptor set says what kind of unit `Binding` counts.
UBO_SET, SSBO_SET, TEXTURE_SET, IMAGE_SET, ATOMIC_SET = range(5)

VARYING_BUILTINS = {
    VaryingSlot.POS: "Position",
    VaryingSlot.PSIZ: "PointSize",
    VaryingSlot.CLIP_DIST0: "ClipDistance",
    VaryingSlot.CULL_DIST0: "CullDistance",
    VaryingSlot.PRIMITIVE_ID: "PrimitiveId",
    VaryingSlot.LAYER: "Layer",
    VaryingSlot.VIEWPORT: "ViewportIndex",
    VaryingSlot.TESS_LEVEL_OUTER: "TessLevelOuter",
    VaryingSlot.TESS_LEVEL_INNER: "TessLevelInner",
}
BUILTIN_CAPABILITY = {
    "ClipDistance": "ClipDistance",
    "CullDistance": "CullDistance",
    "ViewportIndex": "MultiViewport",
    "SampleId": "SampleRateShading",
    "SamplePosition": "SampleRateShading",
    "BaseVertex": "DrawParameters",
    "BaseInstance": "DrawParameters",
    "DrawIndex": "DrawParameters",
    "SubgroupEqMask": "GroupNonUniformBallot",
    "SubgroupGeMask": "GroupNonUniformBallot",
    "SubgroupGtMask": "GroupNonUniformBallot",
    "SubgroupLeMask": "GroupNonUniformBallot",
    "SubgroupLtMask": "GroupNonUniformBallot",
    "SubgroupSize": "GroupNonUniform",
    "SubgroupLocalInvocationId": "GroupNonUniform",
    "SubgroupId": "GroupNonUniform",
    "NumSubgroups": "GroupNonUniform",
}
# Intrinsic: (BuiltIn, kind, components, length of the array it is in SPIR-V or 0)
SYSTEM_BUILTINS: dict[str, tuple[str, str, int, int]] = {
    "load_vertex_id": ("VertexIndex", "i", 1, 0),
    "load_base_vertex": ("BaseVertex", "i", 1, 0),
    "load_base_instance": ("BaseInstance", "i", 1, 0),
    "load_draw_id": ("DrawIndex", "i", 1, 0),
    "load_invocation_id": ("InvocationId", "i", 1, 0),
    "load_primitive_id": ("PrimitiveId", "i", 1, 0),
    "load_patch_vertices_in": ("PatchVertices", "i", 1, 0),
    "load_tess_coord": ("TessCoord", "f", 3, 0),
    "load_tess_level_outer": ("TessLevelOuter", "f", 1, 4),
    "load_tess_level_inner": ("TessLevelInner", "f", 1, 2),
    "load_frag_coord": ("FragCoord", "f", 4, 0),
    "load_point_coord": ("PointCoord", "f", 2, 0),
    "load_front_face": ("FrontFacing", "b", 1, 0),
    "load_sample_id": ("SampleId", "i", 1, 0),
    "load_sample_pos": ("SamplePosition", "f", 2, 0),
    "load_sample_mask_in": ("SampleMask", "i", 1, 1),
    "load_helper_invocation": ("HelperInvocation", "b", 1, 0),
    "load_layer_id": ("Layer", "i", 1, 0),
    "load_viewport_index": ("ViewportIndex", "i", 1, 0),
    "load_local_invocation_id": ("LocalInvocationId", "u", 3, 0),
    "load_local_invocation_index": ("LocalInvocationIndex", "u", 1, 0),
    "load_global_invocation_id": ("GlobalInvocationId", "u", 3, 0),
    "load_workgroup_id": ("WorkgroupId", "u", 3, 0),
    "load_num_workgroups": ("NumWorkgroups", "u", 3, 0),
    "load_subgroup_size": ("SubgroupSize", "u", 1, 0),
    "load_subgroup_invocation": ("SubgroupLocalInvocationId", "u", 1, 0),
    "load_num_subgroups": ("NumSubgroups", "u", 1, 0),
    "load_subgroup_id": ("SubgroupId", "u", 1, 0),
    "load_subgroup_eq_mask": ("SubgroupEqMask", "u", 4, 0),
    "load_subgroup_ge_mask": ("SubgroupGeMask", "u", 4, 0),
    "load_subgroup_gt_mask": ("SubgroupGtMask", "u", 4, 0),
    "load_subgroup_le_mask": ("SubgroupLeMask", "u", 4, 0),
    "load_subgroup_lt_mask": ("SubgroupLtMask", "u", 4, 0),
}


def slot_text(slot: IntEnum) -> str:
    """A slot as a `UserSemantic` string."""
    return f"{SEMANTIC}{slot.name}"


def slot_from_text(text: str, stage: Stage, mode: Mode) -> int | None:
    """The slot such a string names for an input or output of a stage."""
    enum: type[IntEnum] = VaryingSlot
    if stage is Stage.VERTEX and mode == Mode.SHADER_IN:
        enum = VertAttrib
    elif stage is Stage.FRAGMENT and mode == Mode.SHADER_OUT:
        enum = FragResult
    name = text.removeprefix(SEMANTIC)
    return int(enum[name]) if text.startswith(SEMANTIC) and name in enum.__members__ else None
