"""System values without a suitable built-in in Vulkan: from push constants and state."""

from __future__ import annotations

from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.vulkan.lowering import PARAMETERS

from .code import DriverCode, handles

__all__ = ["PUSHED"]

PUSHED = {"base_vertex": 0, "first_vertex": 1, "draw_id": 2, "point_size": 3, "alpha_ref": 4,
          "num_samples": 5, "sub_pixel": 6, "levels": 8}  # fmt: skip
"""Push constants by the word they are at."""


@handles("load_base_vertex", "load_first_vertex", "load_draw_id", "load_num_samples")
def _number(c: DriverCode, instr: Intrinsic) -> None:
    v = c.pushed(PUSHED[instr.name.removeprefix("load_")])
    c.values.set(instr.result, v.id, "u")


@handles("load_workgroup_size")
def _workgroup_size(c: DriverCode, instr: Intrinsic) -> None:
    size = c.options.block or c.interface.shader.info.workgroup_size
    c.values.set(instr.result, c.values.constant("u", 32, size).id, "u")


@handles("load_alpha_ref")
def _alpha_ref(c: DriverCode, instr: Intrinsic) -> None:
    c.values.set(instr.result, c.as_float(c.pushed(PUSHED["alpha_ref"])).id, "f")


@handles("load_tess_level_outer", "load_tess_level_inner")
def _levels(c: DriverCode, instr: Intrinsic) -> None:
    """Control shaders are asked for the levels that the application set, others for those of the
    patch."""
    if c.stage is not Stage.TESS_CTRL:
        c.read_system_value(instr)
        return
    first = PUSHED["levels"] + 4 * instr.name.endswith("inner")
    parts = [c.as_float(c.pushed(first + i)).id for i in range(instr.result.num_components)]
    type = c.values.type("f", 32, len(parts))
    c.values.set(instr.result, c.b.op("OpCompositeConstruct", type, *parts), "f")


@handles("load_vertex_id_zero_base")
def _vertex_id(c: DriverCode, instr: Intrinsic) -> None:
    index, _ = c.builtin_value("VertexIndex", "i", 1, 0)
    first = c.pushed(PUSHED["first_vertex"])
    c.values.set(instr.result, c.b.op("OpISub", c.b.int_type(), index, first.id), "u")


@handles("load_user_clip_plane")
def _plane(c: DriverCode, instr: Intrinsic) -> None:
    b = c.b
    block = c.interface.storage_block(("ssbo", PARAMETERS), 0)
    pointer = b.pointer("StorageBuffer", b.int_type())
    first = 4 * instr["ucp_id"]
    words = [
        b.op("OpLoad", b.int_type(),
             b.op("OpAccessChain", pointer, block, b.uint(0), b.uint(first + i)))
        for i in range(4)
    ]  # fmt: skip
    id = b.op("OpCompositeConstruct", c.interface.vec4("u"), *words)
    c.values.set(instr.result, id, "u")


@handles("load_point_coord")
def _point_coord(c: DriverCode, instr: Intrinsic) -> None:
    """The point coordinate. Vulkan counts from row 0, which is the lower left of the picture."""
    b = c.b
    id, kind = c.builtin_value("PointCoord", "f", 2, 0)
    if c.options.upper_left:
        f32 = b.float_type()
        x = b.op("OpCompositeExtract", f32, id, 0)
        y = b.op("OpCompositeExtract", f32, id, 1)
        one = c.values.constant("f", 32, (0x3F800000,)).id
        id = b.op("OpCompositeConstruct", b.vector(f32, 2), x, b.op("OpFSub", f32, one, y))
    c.values.set(instr.result, id, kind)
