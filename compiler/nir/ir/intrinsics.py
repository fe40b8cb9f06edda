"""The intrinsic table: every operation that is neither arithmetic nor a texture lookup.

One row says what the sources are, whether there is a result, which compile-time indices exist
and what may be assumed: `can_eliminate` (no side effect), `can_reorder` (no dependence on
anything but the sources), `convergent` (must not be moved into divergent control flow), `uniform`
(the same in every lane if the sources are), `fence` (others see what was written before it), `ends`
(lanes write nothing behind it), `float` (the system value is a float). The
printer, parser, validator, builder and the reference page all read this table.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# What each index is: its kind (how text spells it) and its default.
INDICES: dict[str, tuple[str, Any]] = {
    "base": ("int", 0),
    "component": ("int", 0),
    "write_mask": ("mask", 0),
    "location": ("slot", -1),
    "num_slots": ("int", 1),
    "dual_source": ("int", 0),
    "invariant": ("bool", False),
    "align_mul": ("int", 4),
    "align_offset": ("int", 0),
    "range_base": ("int", 0),
    "range": ("int", 0),
    "block": ("int", 0),
    "interp": ("name", "smooth"),
    "access": ("int", 0),
    "dim": ("name", "2D"),
    "is_array": ("bool", False),
    "format": ("name", "none"),
    "dest_type": ("name", "float32"),
    "src_type": ("name", "float32"),
    "atomic_op": ("name", "iadd"),
    "ucp_id": ("int", 0),
    "param": ("int", 0),
    "stream": ("int", 0),
    "num_components": ("int", 1),
    "bit_size": ("int", 32),
    "num_array_elems": ("int", 0),
    "execution_scope": ("name", "none"),
    "memory_scope": ("name", "none"),
    "modes": ("modes", 0),
    "reduction_op": ("name", "iadd"),
    "cluster_size": ("int", 0),
    "scan": ("name", "reduce"),
    "swizzle_mask": ("int", 0),
}

ATOMIC_OPS = (
    "iadd",
    "imin",
    "umin",
    "imax",
    "umax",
    "iand",
    "ior",
    "ixor",
    "xchg",
    "fadd",
    "fmin",
    "fmax",
    "inc_wrap",
    "dec_wrap",
)


@dataclass(frozen=True, slots=True)
class IntrinsicInfo:
    """One row: `srcs` are (name, components) with 0 components for "as many as needed"."""

    name: str
    srcs: tuple[tuple[str, int], ...]
    dest: int | None
    indices: tuple[str, ...]
    flags: frozenset[str]
    doc: str
    dest_bits: int
    defaults: dict[str, Any]
    # The flags again, and what follows from them: asked for every instruction in every pass.
    has_dest: bool
    can_eliminate: bool
    can_reorder: bool
    is_pure: bool
    """equal sources mean equal results, and nothing else happens"""
    convergent: bool
    is_uniform: bool
    is_fence: bool
    ends_lanes: bool
    is_float: bool

    def src_index(self, name: str) -> int:
        for i, (n, _) in enumerate(self.srcs):
            if n == name:
                return i
        raise KeyError(name)


INTRINSICS: dict[str, IntrinsicInfo] = {}
_PURE = "can_eliminate can_reorder"
_UNIFORM = f"{_PURE} uniform"


def _row(
    name: str,
    srcs: str,
    dest: int | None,
    indices: str = "",
    flags: str = "",
    doc: str = "",
    dest_bits: int = 0,
) -> None:
    """Add a row; `srcs` is like "value:0 offset:1", dest 0 means as many as needed."""
    parsed = tuple((s.split(":")[0], int(s.split(":")[1])) for s in srcs.split())
    names = tuple(indices.split())
    defaults = {n: INDICES[n][1] for n in names}
    has = frozenset(flags.split())
    INTRINSICS[name] = IntrinsicInfo(
        name,
        parsed,
        dest,
        names,
        has,
        doc,
        dest_bits,
        defaults,
        has_dest=dest is not None,
        can_eliminate="can_eliminate" in has,
        can_reorder="can_reorder" in has,
        is_pure={"can_eliminate", "can_reorder"} <= has,
        convergent="convergent" in has,
        is_uniform="uniform" in has,
        is_fence="fence" in has,
        ends_lanes="ends" in has,
        is_float="float" in has,
    )


# Variables through derefs.
_row("load_deref", "deref:1", 0, "access", "can_eliminate", "Read the variable a deref names.")
_row(
    "store_deref",
    "deref:1 value:0",
    None,
    "write_mask access",
    "",
    "Write the masked components of a variable.",
)
_row("copy_deref", "dst:1 src:1", None, "access", "", "Copy a whole variable or part of one.")
_row(
    "deref_atomic",
    "deref:1 data:1",
    1,
    "atomic_op access",
    "",
    "Atomic read-modify-write; returns the old value.",
)
_row(
    "deref_atomic_swap",
    "deref:1 compare:1 data:1",
    1,
    "atomic_op access",
    "",
    "Atomic compare and exchange; returns the old value.",
)
_row(
    "deref_buffer_array_length",
    "deref:1",
    1,
    "",
    "can_eliminate",
    "Number of elements of the unsized array at the end of a storage block.",
    32,
)
_row("load_param", "", 0, "param", _PURE, "A parameter of the current function.")
for _kind in ("pixel", "centroid", "sample"):
    _row(
        f"interp_deref_at_{_kind}",
        "deref:1",
        0,
        "",
        "can_eliminate",
        f"Interpolate a fragment input at the {_kind} position.",
    )
_row(
    "interp_deref_at_offset",
    "deref:1 offset:2",
    0,
    "",
    "can_eliminate",
    "Interpolate a fragment input at an offset from the pixel centre.",
)
_row(
    "interp_deref_at_sample_index",
    "deref:1 sample:1",
    0,
    "",
    "can_eliminate",
    "Interpolate a fragment input at a given sample.",
)

# Lowered inputs and outputs.
_IO = "base component location num_slots dest_type"
_OUT = "base component write_mask location num_slots dual_source stream invariant src_type"
_row(
    "load_input", "offset:1", 0, _IO, _PURE, "A shader input; `offset` is in slots from `location`."
)
_row(
    "load_per_vertex_input",
    "vertex:1 offset:1",
    0,
    _IO,
    _PURE,
    "An input of one vertex of the primitive or patch.",
)
_row(
    "load_interpolated_input",
    "barycentric:2 offset:1",
    0,
    _IO,
    _PURE,
    "A fragment input, interpolated at the given barycentric coordinates.",
)
_row("load_output", "offset:1", 0, _IO, "can_eliminate", "Read back an output.")
_row(
    "load_per_vertex_output",
    "vertex:1 offset:1",
    0,
    _IO,
    "can_eliminate",
    "Read back an output of one vertex of a patch.",
)
_row(
    "store_output", "value:0 offset:1", None, _OUT, "", "Write the masked components of an output."
)
_row(
    "store_per_vertex_output",
    "value:0 vertex:1 offset:1",
    None,
    _OUT,
    "",
    "Write an output of one vertex of a patch.",
)
for _kind in ("pixel", "centroid", "sample"):
    _row(
        f"load_barycentric_{_kind}",
        "",
        2,
        "interp",
        _PURE,
        f"Barycentric coordinates at the {_kind} position.",
        32,
    )
_row(
    "load_barycentric_at_offset",
    "offset:2",
    2,
    "interp",
    _PURE,
    "Barycentric coordinates at an offset from the pixel centre.",
    32,
)
_row(
    "load_barycentric_at_sample",
    "sample:1",
    2,
    "interp",
    _PURE,
    "Barycentric coordinates at a given sample.",
    32,
)

# Buffers. Offsets are in bytes.
_MEM = "align_mul align_offset range_base range access"
_row(
    "load_ubo",
    "block:1 offset:1",
    0,
    _MEM,
    _UNIFORM,
    "Read a uniform buffer; block 0 is the default block.",
)
_row("load_ssbo", "block:1 offset:1", 0, _MEM, "can_eliminate", "Read a storage buffer.")
_row(
    "store_ssbo",
    "value:0 block:1 offset:1",
    None,
    f"write_mask {_MEM}",
    "",
    "Write the masked components into a storage buffer.",
)
_row("ssbo_atomic", "block:1 offset:1 data:1", 1, "atomic_op access", "", "Atomic on a buffer.")
_row(
    "ssbo_atomic_swap",
    "block:1 offset:1 compare:1 data:1",
    1,
    "atomic_op access",
    "",
    "Compare and exchange in a storage buffer.",
)
_row("get_ssbo_size", "block:1", 1, "access", _UNIFORM, "Size of a storage buffer in bytes.", 32)
_row("load_shared", "offset:1", 0, _MEM, "can_eliminate", "Read workgroup memory.")
_row("store_shared", "value:0 offset:1", None, f"write_mask {_MEM}", "", "Write workgroup memory.")
_row("shared_atomic", "offset:1 data:1", 1, "atomic_op", "", "Atomic on workgroup memory.")
_row(
    "shared_atomic_swap",
    "offset:1 compare:1 data:1",
    1,
    "atomic_op",
    "",
    "Compare and exchange in workgroup memory.",
)
_row("load_scratch", "offset:1", 0, _MEM, "can_eliminate", "Read the invocation's own memory.")
_row("store_scratch", "value:0 offset:1", None, f"write_mask {_MEM}", "", "Write scratch memory.")
_row("load_push_constant", "offset:1", 0, "base range", _UNIFORM, "Read push constants.")
_row("load_global", "address:1", 0, _MEM, "can_eliminate", "Read memory at a 64-bit address.")
_row("store_global", "value:0 address:1", None, f"write_mask {_MEM}", "", "Write at an address.")
_row("global_atomic", "address:1 data:1", 1, "atomic_op", "", "Atomic at a 64-bit address.")
_row(
    "global_atomic_swap",
    "address:1 compare:1 data:1",
    1,
    "atomic_op",
    "",
    "Compare and exchange at a 64-bit address.",
)
_row("load_uniform", "offset:1", 0, "base range dest_type", _UNIFORM, "Read a uniform slot.")
_row(
    "atomic_counter",
    "offset:1 data:1",
    1,
    "base atomic_op range_base",
    "",
    "Atomic counter operation on buffer `base`; returns the old value.",
    32,
)
_row("atomic_counter_read", "offset:1", 1, "base", "can_eliminate", "Value of a counter.", 32)
_row(
    "atomic_counter_swap",
    "offset:1 compare:1 data:1",
    1,
    "base",
    "",
    "Compare and exchange on an atomic counter.",
    32,
)

for _name in ("", "_read", "_swap"):
    _info = INTRINSICS[f"atomic_counter{_name}"]
    _row(
        f"deref_counter{_name}",
        " ".join(f"{'deref' if n == 'offset' else n}:{c}" for n, c in _info.srcs),
        _info.dest,
        " ".join(i for i in _info.indices if i == "atomic_op"),
        " ".join(sorted(_info.flags)),
        "The same for a counter named by a deref: a function's parameter, until it is inlined.",
        _info.dest_bits,
    )

# Images; `index` is the unit.
_IMG = "dim is_array format access"
_row(
    "image_load",
    "index:1 coord:4 sample:1",
    0,
    f"{_IMG} dest_type",
    "can_eliminate",
    "Read one texel of an image.",
)
_row(
    "image_store",
    "index:1 coord:4 sample:1 value:0",
    None,
    f"{_IMG} src_type",
    "",
    "Write one texel of an image.",
)
_row(
    "image_atomic",
    "index:1 coord:4 sample:1 data:1",
    1,
    f"{_IMG} atomic_op",
    "",
    "Atomic on one texel.",
)
_row(
    "image_atomic_swap",
    "index:1 coord:4 sample:1 compare:1 data:1",
    1,
    f"{_IMG} atomic_op",
    "",
    "Compare and exchange on one texel.",
)
_row("image_size", "index:1 lod:1", 0, _IMG, _UNIFORM, "Size of an image.", 32)
_row("image_samples", "index:1", 1, _IMG, _UNIFORM, "Sample count of an image.", 32)
for _name in ("load", "store", "atomic", "atomic_swap", "size", "samples"):
    _info = INTRINSICS[f"image_{_name}"]
    _row(
        f"image_deref_{_name}",
        " ".join(f"{'deref' if n == 'index' else n}:{c}" for n, c in _info.srcs),
        _info.dest,
        " ".join(_info.indices),
        " ".join(sorted(_info.flags)),
        _info.doc[:-1] + " named by a deref.",
        _info.dest_bits,
    )

# System values: no sources, the result as wide as stated.
_SYSTEM_VALUES: dict[str, tuple[int, int, str, str]] = {
    "vertex_id": (1, 32, "", "Index of the vertex, including the base vertex."),
    "vertex_id_zero_base": (1, 32, "", "Index of the vertex without the base vertex."),
    "instance_id": (1, 32, "", "Instance number, counted from zero."),
    "base_vertex": (1, 32, "uniform", "The draw call's base vertex (0 for non-indexed draws)."),
    "first_vertex": (1, 32, "uniform", "First vertex, or base vertex of an indexed draw."),
    "base_instance": (1, 32, "uniform", "The draw call's base instance."),
    "draw_id": (1, 32, "uniform", "Number of the draw within a multi-draw."),
    "merged_draw": (1, 32, "", "Number of the vertex's draw, among draws that became one."),
    "invocation_id": (1, 32, "", "Geometry or tessellation control invocation."),
    "primitive_id": (1, 32, "", "Number of the primitive."),
    "patch_vertices_in": (1, 32, "uniform", "Vertices of the input patch."),
    "tess_coord": (3, 32, "float", "Position within the abstract patch."),
    "tess_level_outer": (4, 32, "float", "Outer tessellation levels."),
    "tess_level_inner": (2, 32, "float", "Inner tessellation levels."),
    "frag_coord": (4, 32, "float", "Window position; w is 1/w of the vertex position."),
    "point_coord": (2, 32, "float", "Position within a point sprite."),
    "front_face": (1, 1, "", "Does the fragment belong to a front-facing primitive?"),
    "sample_id": (1, 32, "", "Number of the sample being shaded; asks for per-sample shading."),
    "sample_pos": (2, 32, "float", "Position of the sample within its pixel."),
    "sample_mask_in": (1, 32, "", "Coverage of the fragment."),
    "num_samples": (1, 32, "uniform", "Samples of the framebuffer."),
    "helper_invocation": (1, 1, "", "Is this lane here only for derivatives (at the start)?"),
    "layer_id": (1, 32, "", "Layer of a layered framebuffer."),
    "viewport_index": (1, 32, "", "Index of the viewport."),
    "local_invocation_id": (3, 32, "", "Position within the workgroup."),
    "local_invocation_index": (1, 32, "", "Flattened position within the workgroup."),
    "global_invocation_id": (3, 32, "", "Position within the whole grid."),
    "workgroup_id": (3, 32, "", "Number of the workgroup."),
    "num_workgroups": (3, 32, "uniform", "Workgroups of the grid."),
    "workgroup_size": (3, 32, "uniform", "Size of a workgroup."),
    "subgroup_size": (1, 32, "uniform", "Lanes of a subgroup."),
    "subgroup_invocation": (1, 32, "", "Lane within the subgroup."),
    "num_subgroups": (1, 32, "uniform", "Subgroups of the workgroup."),
    "subgroup_id": (1, 32, "", "Number of the subgroup."),
    "subgroup_eq_mask": (4, 32, "", "Mask with this lane's bit."),
    "subgroup_ge_mask": (4, 32, "", "Mask of this and all later lanes."),
    "subgroup_gt_mask": (4, 32, "", "Mask of all later lanes."),
    "subgroup_le_mask": (4, 32, "", "Mask of this and all earlier lanes."),
    "subgroup_lt_mask": (4, 32, "", "Mask of all earlier lanes."),
    "last_depth": (1, 32, "float", "Depth that the framebuffer holds where the fragment is."),
    "last_stencil": (1, 32, "", "Stencil that the framebuffer holds where the fragment is."),
    "alpha_ref": (1, 32, "uniform float", "Reference value of the alpha test."),
}
for _name, (_n, _bits, _traits, _doc) in _SYSTEM_VALUES.items():
    _row(f"load_{_name}", "", _n, "", f"{_PURE} {_traits}", _doc, _bits)
_row(
    "is_helper_invocation",
    "",
    1,
    "",
    "can_eliminate",  # a discard changes the answer
    "Is this lane a helper now, demotion included?",
    1,
)
_row(
    "load_user_clip_plane",
    "",
    4,
    "ucp_id",
    f"{_UNIFORM} float",
    "Plane equation of a user clip plane.",
    32,
)

# Fragment control, geometry, barriers, subgroups.
_row("discard", "", None, "", "ends", "End the invocation; nothing is written.")
_row("discard_if", "condition:1", None, "", "ends", "End the invocation if the condition holds.")
_row("demote", "", None, "", "ends", "Become a helper: go on, but write nothing.")
_row("demote_if", "condition:1", None, "", "ends", "Become a helper if the condition holds.")
_row("emit_vertex", "", None, "stream", "fence", "Emit the current outputs as a vertex.")
_row("end_primitive", "", None, "stream", "fence", "Finish the current primitive.")
_row(
    "barrier",
    "",
    None,
    "execution_scope memory_scope modes",
    "convergent fence",
    "Wait for other invocations and/or order memory accesses.",
)
_row("shader_clock", "", 2, "memory_scope", "can_eliminate", "A time stamp.", 32)
for _name in ("any", "all", "feq", "ieq"):
    _row(
        f"vote_{_name}",
        "value:0",
        1,
        "",
        "can_eliminate convergent",
        f"`{_name}` of the value over the subgroup.",
        1,
    )
_row("ballot", "value:1", 4, "", "can_eliminate convergent", "Mask of lanes where it is true.", 32)
_row("elect", "", 1, "", "can_eliminate convergent", "True in exactly one active lane.", 1)
_row(
    "read_first_invocation",
    "value:0",
    0,
    "",
    "can_eliminate convergent",
    "The value of the first active lane.",
)
_row(
    "read_invocation",
    "value:0 lane:1",
    0,
    "",
    "can_eliminate convergent",
    "The value of a given lane.",
)
_row(
    "reduce",
    "value:0",
    0,
    "reduction_op cluster_size scan",
    "can_eliminate convergent",
    "Over all active lanes of the subgroup (scan: reduce), or those up to this one (inclusive) or "
    "before it (exclusive).",
)

# Over a workgroup; `lower_workgroup_collectives` makes shared memory and barriers of them.
_row(
    "workgroup_reduce",
    "value:1",
    1,
    "reduction_op scan",
    "convergent",
    "Over all invocations of the workgroup (scan: reduce), or those up to this one (inclusive) "
    "or before it (exclusive).",
)
_row(
    "workgroup_broadcast",
    "value:1 invocation:1",
    1,
    "",
    "convergent",
    "The value that the invocation of this number has.",
)
