"""Optimisation across two stages, once both use slots.

`link_varyings` removes outputs that are not read, replaces inputs that are always the same
constant, and replaces inputs that are not written by zero. Run `optimize` on both shaders
afterwards if it reports progress, since the computation of removed outputs is dead then.
"""

from __future__ import annotations

from typing import TypeAlias

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.instrs import Alu, Intrinsic, LoadConst
from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import const_int, intrinsics_of
from gallette.compiler.nir.ir.shader import FunctionImpl, Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.values import Def

_INPUTS = ("load_input", "load_interpolated_input", "load_per_vertex_input")
_OUTPUTS = ("store_output", "store_per_vertex_output")
_OUTPUTS_READ = ("load_output", "load_per_vertex_output")
# Outputs that fixed function reads, whether the next stage does or not.
FIXED_FUNCTION = frozenset(
    {
        VaryingSlot.POS,
        VaryingSlot.PSIZ,
        VaryingSlot.EDGE,
        VaryingSlot.CLIP_VERTEX,
        VaryingSlot.CLIP_DIST0,
        VaryingSlot.CLIP_DIST1,
        VaryingSlot.CULL_DIST0,
        VaryingSlot.CULL_DIST1,
        VaryingSlot.PRIMITIVE_ID,
        VaryingSlot.LAYER,
        VaryingSlot.VIEWPORT,
        VaryingSlot.TESS_LEVEL_OUTER,
        VaryingSlot.TESS_LEVEL_INNER,
        VaryingSlot.VIEWPORT_MASK,
    }
)
# The output that may replace an input (the driver or a variant decides).
_STAND_INS = {
    VaryingSlot.COL0: (VaryingSlot.BFC0,),
    VaryingSlot.COL1: (VaryingSlot.BFC1,),
}


Found: TypeAlias = "list[tuple[FunctionImpl, list[Intrinsic]]]"
"""The intrinsics of one kind in each function of a shader."""


def _find(shader: Shader, names: tuple[str, ...]) -> Found:
    return [(impl, intrinsics_of(impl, *names)) for impl in shader.impls()]


def _reads(loads: Found) -> dict[int, int]:
    """By input slot, a mask of the components that are read (all for dynamic indexing)."""
    masks: dict[int, int] = {}
    for _, found in loads:
        for load in found:
            assert load.dest is not None
            location, component = int(load["location"]), load["component"]
            width = load.dest.num_components * (2 if load.dest.bit_size == 64 else 1)
            mask = ((1 << width) - 1) << component
            offset = load.srcs[-1].value
            constant = const_int(offset)
            if constant is None:
                for i in range(load["num_slots"]):
                    masks[location + i] = 0xFF
                continue
            while mask:
                masks[location + constant] = masks.get(location + constant, 0) | (mask & 15)
                mask >>= 4
                location += 1
    for front, backs in _STAND_INS.items():
        for back in backs:
            if front in masks:
                masks[back] = masks.get(back, 0) | masks[front]
    return masks


def remove_unread_outputs(stores: Found, reads: dict[int, int], keep: frozenset[int]) -> bool:
    """Remove stores to slots and components that are neither in `reads` nor in `keep`."""
    progress = False
    for impl, found in stores:
        for store in found:
            location = int(store["location"])
            constant = const_int(store.srcs[-1].value)
            if constant is None or store["num_slots"] > 1:
                slots = range(location, location + max(store["num_slots"], 1))
                if any(s in reads or s in keep for s in slots):
                    continue
                store.remove()
                progress = True
                continue
            slot = location + constant
            if slot in keep or slot in FIXED_FUNCTION or store.srcs[0].value.bit_size == 64:
                continue
            wanted = store["write_mask"] & (reads.get(slot, 0) >> store["component"])
            if wanted == 0:
                store.remove()
                progress = True
            elif wanted != store["write_mask"]:
                store["write_mask"] = wanted
                progress = True
        if progress:
            impl.preserve(Metadata.CONTROL_FLOW)
    return progress


def _read_back(shader: Shader) -> frozenset[int]:
    """Slots of outputs that the shader itself reads, as tessellation control shaders do."""
    slots: set[int] = set()
    for _, found in _find(shader, _OUTPUTS_READ):
        for load in found:
            first = int(load["location"]) + (const_int(load.srcs[-1].value) or 0)
            slots.update(range(first, first + max(1, load["num_slots"])))
    return frozenset(slots)


def _written(stores: Found) -> tuple[set[tuple[int, int]], dict[tuple[int, int], int | None]]:
    """The written outputs by (slot, component), each with its value if that is always one
    constant.
    """
    written: set[tuple[int, int]] = set()
    constants: dict[tuple[int, int], int | None] = {}
    for impl, found in stores:
        for store in found:
            location, component = int(store["location"]), store["component"]
            constant = const_int(store.srcs[-1].value)
            stored, mask = store.srcs[0].value, store["write_mask"]
            if constant is None or stored.bit_size == 64:
                for i in range(max(store["num_slots"], 2)):
                    for c in range(4):
                        written.add((location + i, c))
                        constants[location + i, c] = None
                continue
            simple = store.block is impl.last and store.info.name == "store_output"
            known = stored.instr.__class__ in (LoadConst, Alu)
            for c in range(stored.num_components):
                if not mask >> c & 1:
                    continue
                key = (location + constant, component + c)
                value = _constant_component(stored, c) if known else None
                same = key not in written or constants.get(key) == value
                constants[key] = value if same and simple else None
                written.add(key)
    return written, constants


def _constant_component(value: Def, component: int) -> int | None:
    instr = value.instr
    if isinstance(instr, LoadConst):
        return instr.values[component]
    if isinstance(instr, Alu) and instr.op.is_vec:
        src = instr.srcs[component]
        inner = src.value.instr
        if isinstance(inner, LoadConst):
            return inner.values[src.swizzle[0]]
    return None


def replace_known_inputs(loads: Found, stores: Found) -> bool:
    """Replace inputs whose every component is constant or unwritten by constants."""
    written, constants = _written(stores)
    progress = False
    for impl, found in loads:
        for load in found:
            if load.info.name == "load_per_vertex_input":
                continue
            values = _known_values(load, written, constants)
            if values is None:
                continue
            assert load.dest is not None
            b = Builder(impl).at_before(load)
            load.replace_by(b.const(values, load.dest.bit_size))
            progress = True
        if progress:
            impl.preserve(Metadata.CONTROL_FLOW)
    return progress


def _known_values(
    load: Intrinsic,
    written: set[tuple[int, int]],
    constants: dict[tuple[int, int], int | None],
) -> list[int] | None:
    assert load.dest is not None
    offset = const_int(load.srcs[-1].value)
    slot = int(load["location"])
    if offset is None or load.dest.bit_size != 32 or slot in FIXED_FUNCTION:
        return None
    slot += offset
    if not VaryingSlot(slot).is_generic:
        return None
    values = []
    for c in range(load.dest.num_components):
        key = (slot, load["component"] + c)
        value = constants.get(key) if key in written else 0
        if value is None:
            return None
        values.append(value)
    return values


def link_varyings(
    producer: Shader, consumer: Shader, *, keep: frozenset[int] = frozenset()
) -> bool:
    """Match two lowered stages; `keep` lists output slots that transform feedback captures."""
    loads, stores = _find(consumer, _INPUTS), _find(producer, _OUTPUTS)
    progress = False
    if producer.stage is not Stage.TESS_CTRL and any(found for _, found in loads):
        progress = replace_known_inputs(loads, stores)
        if progress:
            loads = _find(consumer, _INPUTS)
    keep |= _read_back(producer)
    return remove_unread_outputs(stores, _reads(loads), keep) or progress
