"""Built-in values: NIR's slots and intrinsics, with SPIR-V's `BuiltIn` of each.

The reader and the writer use these tables. What only GL has (fixed-function colours and texture
coordinates, "all colour buffers") is an ordinary location with the slot's name in a `UserSemantic`
decoration, which other consumers ignore.
"""

from __future__ import annotations

from enum import IntEnum

from gallette.compiler.nir.ir.intrinsics import INTRINSICS
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot, VertAttrib

SEMANTIC = "gallette."
DEFAULT_BLOCK = "gallette.default_block"
ATOMIC_COUNTERS = "gallette.atomic_counters"

# Descriptor sets by the kind of unit that `Binding` counts.
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
    name: capability
    for capability, names in {
        "ClipDistance": "ClipDistance",
        "CullDistance": "CullDistance",
        "MultiViewport": "ViewportIndex",
        "SampleRateShading": "SampleId SamplePosition",
        "DrawParameters": "BaseVertex BaseInstance DrawIndex",
        "GroupNonUniformBallot": "SubgroupEqMask SubgroupGeMask SubgroupGtMask SubgroupLeMask "
        "SubgroupLtMask",
        "GroupNonUniform": "SubgroupSize SubgroupLocalInvocationId SubgroupId NumSubgroups",
    }.items()
    for name in names.split()
}
_SIGNED = """
vertex_id:VertexIndex base_vertex:BaseVertex base_instance:BaseInstance draw_id:DrawIndex
invocation_id:InvocationId primitive_id:PrimitiveId patch_vertices_in:PatchVertices
tess_coord:TessCoord tess_level_outer:TessLevelOuter tess_level_inner:TessLevelInner
frag_coord:FragCoord point_coord:PointCoord front_face:FrontFacing sample_id:SampleId
sample_pos:SamplePosition sample_mask_in:SampleMask helper_invocation:HelperInvocation
layer_id:Layer viewport_index:ViewportIndex
"""
_UNSIGNED = """
local_invocation_id:LocalInvocationId local_invocation_index:LocalInvocationIndex
global_invocation_id:GlobalInvocationId workgroup_id:WorkgroupId num_workgroups:NumWorkgroups
subgroup_size:SubgroupSize subgroup_invocation:SubgroupLocalInvocationId
num_subgroups:NumSubgroups subgroup_id:SubgroupId subgroup_eq_mask:SubgroupEqMask
subgroup_ge_mask:SubgroupGeMask subgroup_gt_mask:SubgroupGtMask subgroup_le_mask:SubgroupLeMask
subgroup_lt_mask:SubgroupLtMask
"""
"""NIR's system values with their `BuiltIn`, by the sign of those that are integers"""
_ARRAYS = {"TessLevelOuter": 4, "TessLevelInner": 2, "SampleMask": 1}
"""built-ins that are arrays of scalars in SPIR-V, with their length"""


def _system_builtins() -> dict[str, tuple[str, str, int, int]]:
    found = {}
    for pairs, integer in ((_SIGNED, "i"), (_UNSIGNED, "u")):
        for pair in pairs.split():
            name, _, builtin = pair.partition(":")
            row = INTRINSICS[f"load_{name}"]
            kind = "f" if row.is_float else "b" if row.dest_bits == 1 else integer
            length = _ARRAYS.get(builtin, 0)
            found[row.name] = (builtin, kind, 1 if length else row.dest or 1, length)
    return found


SYSTEM_BUILTINS = _system_builtins()
"""by intrinsic: `BuiltIn`, kind, components, length of the array in SPIR-V or 0"""


def slot_text(slot: IntEnum) -> str:
    """A slot as a `UserSemantic` string."""
    return f"{SEMANTIC}{slot.name}"


def slot_from_text(text: str, stage: Stage, mode: Mode) -> int | None:
    """The slot of such a string, for an input or output of a stage."""
    enum: type[IntEnum] = VaryingSlot
    if stage is Stage.VERTEX and mode == Mode.SHADER_IN:
        enum = VertAttrib
    elif stage is Stage.FRAGMENT and mode == Mode.SHADER_OUT:
        enum = FragResult
    name = text.removeprefix(SEMANTIC)
    return int(enum[name]) if text.startswith(SEMANTIC) and name in enum.__members__ else None
