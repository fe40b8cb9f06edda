"""What the driver lowers in NIR because Vulkan has no state or no instruction for it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir.copying import Remap, clone_instr
from gallette.compiler.nir.ir.instrs import Instr, Intrinsic, Tex
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import (
    all_intrinsics_of,
    const_int,
    textures_of,
)
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import Base, Dim
from gallette.compiler.nir.ir.values import Def
from gallette.compiler.nir.run.pass_runner import nir_pass
from gallette.compiler.nir.text.parser import parse

PARAMETERS = 31
"""The storage block with the user clip planes."""
_MOST = 32
"""Textures that an index which is not known may choose among."""
_INDEX = {
    "load_input": 0, "load_interpolated_input": 1, "load_per_vertex_input": 1, "load_output": 0,
    "load_per_vertex_output": 1, "store_output": 1, "store_per_vertex_output": 2, "image_load": 0,
    "image_store": 0, "image_size": 0, "image_samples": 0, "image_atomic": 0,
    "image_atomic_swap": 0,
}  # fmt: skip
"""Intrinsics and the source that says which slot or image they access."""


def numbers_of(
    shader: Shader, base: Base, mode: Mode = Mode.ALL, shape: tuple[Dim, bool] | None = None
) -> list[range]:
    """The numbers of a shader's variables of a kind, each of which may be an array."""
    found = []
    for var in shader.variables:
        type = var.type.without_array
        if var.driver_location < 0 or not var.mode & mode or type.base is not base:
            continue
        if shape is None or (type.dim, type.is_arrayed) == shape:
            found.append(range(var.driver_location, var.driver_location + var.type.array_elements))
    return found


@nir_pass("vulkan_constant_indices")
def constant_indices(shader: Shader) -> bool:
    """Slots, textures and images are chosen by constants.

    In SPIR-V each is a variable of its own, and a variable cannot be chosen at run time. So what
    an index that is not constant may choose is loaded from all of them, and one value selected;
    a store or an atomic operation becomes one in an `if` for each.
    """
    progress = False
    for impl in shader.impls():
        for instr in all_intrinsics_of(impl):
            at = _INDEX.get(instr.name)
            if at is None or const_int(instr.srcs[at].value) is not None:
                continue
            choices = list(range(max(1, instr.indices.get("num_slots", 1))))
            if instr.name.startswith("image"):
                shape = Dim(instr["dim"]), bool(instr["is_array"])
                parts = numbers_of(shader, Base.IMAGE, shape=shape)
                choices = [number for part in parts for number in part]
            _choose(Builder(impl), instr, instr.srcs[at].value, choices)
            progress = True
        for tex in textures_of(impl):
            offset = tex.src("texture_offset")
            if offset is not None:
                first = tex.texture_index
                parts = numbers_of(shader, Base.SAMPLER)
                end = min([first + _MOST, *[part.stop for part in parts if first in part]])
                _choose(Builder(impl), tex, offset.value, list(range(end - first)))
                progress = True
    return progress


def _choose(b: Builder, instr: Instr, index: Def, choices: list[int]) -> None:
    """Make an access with each constant index that its `index` may be."""
    b.at_before(instr)
    guarded = isinstance(instr, Intrinsic) and ("store" in instr.name or "atomic" in instr.name)
    found: Def | None = None
    for number in choices:
        same = b.ieq(index, b.imm_int(number))
        if guarded:
            b.push_if(same)
        remap = Remap()
        remap.values[index] = b.imm_int(number)
        made = clone_instr(instr, remap)
        b.insert(made)
        if isinstance(made, Tex):
            made.texture_index += number
            made.sampler_index += number
            for kind in ("texture_offset", "sampler_offset"):
                if made.src(kind) is not None:
                    made.remove_src(kind)
        if guarded:
            b.pop_if()
        if made.dest is None:
            continue
        value = made.dest
        if guarded:
            other = found or b.imm_zero(value.num_components, value.bit_size)
            found = b.if_phi(value, other)
        else:
            found = value if found is None else b.bcsel(same, value, found)
    if found is not None:
        instr.replace_by(found)
    else:
        instr.remove()


@cache
def _sources() -> dict[str, str]:
    whole = files("gallette.drivers.vulkan").joinpath("shaders.txt").read_text(encoding="ascii")
    parts = [part.partition("\n") for part in whole.split("== ")[1:]]
    return {title.partition(":")[0]: text for title, _, text in parts}


@cache
def source(name: str, **parts: Any) -> str:
    """The text of one of the driver's own shaders."""
    return _sources()[name].format(**parts)


@cache
def control_shader(slots: tuple[int, ...], patch: int) -> Shader:
    """The tessellation control shader of programs without one, which copies these slots of each
    vertex, and the position: OpenGL allows such programs and Vulkan does not.
    """
    copied = enumerate(sorted({*slots, int(VaryingSlot.POS)}), 4)
    copies = [source("copy", value=i, slot=VaryingSlot(slot).name) for i, slot in copied]
    return parse(source("control", patch=patch, copies="".join(copies)))
