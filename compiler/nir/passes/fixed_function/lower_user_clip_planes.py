"""User clip planes become clip distances."""

from __future__ import annotations

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Intrinsic
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass

_DISTANCES = (VaryingSlot.CLIP_DIST0, VaryingSlot.CLIP_DIST1)


@nir_pass("lower_user_clip_planes", preserves=Metadata.CONTROL_FLOW)
def lower_user_clip_planes(shader: Shader, *, mask: int = 0) -> bool:
    """Write `dot(clip vertex or position, plane i)` to clip distance i for each bit of `mask`.

    Uses `gl_ClipVertex` if the shader writes it (and removes that output), else the position. A
    shader that writes `gl_ClipDistance` itself is not changed. Runs on lowered I/O with outputs
    stored once, at the end of main.
    """
    if not mask or shader.stage is Stage.FRAGMENT:
        return False
    impl = shader.entry
    stores = intrinsics_of(impl, "store_output")
    if any(s["location"] in _DISTANCES for s in stores):
        return False
    clip_vertex = [s for s in stores if s["location"] == VaryingSlot.CLIP_VERTEX]
    position = [s for s in stores if s["location"] == VaryingSlot.POS]
    chosen = clip_vertex or position
    if not chosen:
        return False
    for store in chosen:
        b = Builder(impl).at_after(store)
        _store_distances(b, _vec4(b, store), mask)
    for store in clip_vertex:
        store.remove()
    return True


def _vec4(b: Builder, store: Intrinsic) -> Def:
    """The stored value as four components (default 0, 0, 0, 1)."""
    value = store.srcs[0].value
    if value.num_components == 4 and store["write_mask"] == 15:
        return value
    parts = [b.imm_float(0.0), b.imm_float(0.0), b.imm_float(0.0), b.imm_float(1.0)]
    for i in range(value.num_components):
        if store["write_mask"] >> i & 1:
            parts[store["component"] + i] = b.channel(value, i)
    return b.vec(parts)


def _store_distances(b: Builder, vertex: Def, mask: int) -> None:
    for half, slot in enumerate(_DISTANCES):
        bits = mask >> (4 * half) & 15
        if not bits:
            continue
        parts = []
        for i in range(4):
            if bits >> i & 1:
                plane = b.intrinsic("load_user_clip_plane", ucp_id=4 * half + i)
                parts.append(b.fdot4(vertex, plane))
            else:
                parts.append(b.imm_float(0.0))
        b.intrinsic("store_output", [b.vec(parts), b.imm_int(0)], write_mask=bits, location=slot)
