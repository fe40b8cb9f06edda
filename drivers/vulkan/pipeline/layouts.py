"""Layouts: which numbers the locations and descriptors of a set of programs get.

All descriptors are in set 0. A record of the set is an array of three 64-bit words per descriptor,
which an update template hands to the device in one call.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.modes import DRAWING
from gallette.drivers.vulkan.api.binding import make
from gallette.drivers.vulkan.device.device import Device
from gallette.drivers.vulkan.spirv.program import Binding, Open, Program
from gallette.drivers.vulkan.spirv.variables import PUSH_WORDS
from gallette.drivers.vulkan.spirv.varyings import WIDE

STAGE_BITS = {stage: 1 << bit for bit, stage in enumerate((*DRAWING, Stage.COMPUTE))}
DYNAMIC_UNIFORM = 8


@lazy_dataclass(frozen=True)
class Slot:
    """One descriptor of a layout: its stage, its kind, and its place in the record."""

    stage: Stage
    what: Open
    binding: Binding
    row: int


class Layout:
    """A pipeline layout with its descriptor set's layout and update template."""

    def __init__(self, device: Device, shape: tuple[tuple[int, int, int], ...]) -> None:
        self.shape = shape
        bindings = [
            make("VkDescriptorSetLayoutBinding", binding=number, descriptorType=type,
                 descriptorCount=count, stageFlags=bit)
            for number, (bit, type, count) in enumerate(shape)
        ]  # fmt: skip
        self.set_layout = device.new(
            "DescriptorSetLayout", bindingCount=len(bindings), pBindings=bindings or None
        )
        sets = ctypes.c_uint64(self.set_layout)
        push = make("VkPushConstantRange", stageFlags=0x3F, size=4 * PUSH_WORDS)
        self.handle = device.new("PipelineLayout", setLayoutCount=1, pSetLayouts=sets,
                                 pushConstantRangeCount=1, pPushConstantRanges=push)  # fmt: skip
        first = [0, *accumulate(count for _, _, count in shape)]
        entries = [
            make("VkDescriptorUpdateTemplateEntry", dstBinding=number, descriptorCount=count,
                 descriptorType=type, offset=24 * first[number], stride=24)
            for number, (_, type, count) in enumerate(shape)
        ]  # fmt: skip
        self.rows, self.template = first[-1], 0
        if entries:
            self.template = device.new(
                "DescriptorUpdateTemplate", descriptorUpdateEntryCount=len(entries),
                pDescriptorUpdateEntries=entries, descriptorSetLayout=self.set_layout,
            )  # fmt: skip


@lazy_dataclass(eq=False)
class Link:
    """Programs that are used together: their modules with numbers assigned, and the layout."""

    programs: tuple[Program, ...]
    modules: tuple[npt.NDArray[np.uint32], ...]
    layout: Layout
    slots: tuple[Slot, ...]
    attributes: dict[int, int]  # location of each vertex element
    dynamic: tuple[Stage, ...]  # stages whose block 0 has a dynamic offset, in order


def linked(
    device: Device, programs: Sequence[Program], layouts: dict[object, Layout]
) -> Link:  # fmt: skip
    """Assign locations and bindings to some programs."""
    shape: list[tuple[int, int, int]] = []
    slots: list[Slot] = []
    modules = []
    attributes: dict[int, int] = {}
    row = 0
    above: dict[Open, int] = {}  # locations of the outputs of the stage before
    for index, program in enumerate(programs):
        numbers: dict[Open, int] = {}
        bit = STAGE_BITS[program.stage]
        for what, binding in program.bindings.items():
            numbers[what] = len(shape)
            shape.append((bit, binding.type, binding.count))
            slots.append(Slot(program.stage, what, binding, row))
            row += binding.count
        if program.stage is Stage.VERTEX:
            at = 0
            for base in sorted(program.inputs):
                numbers["in", base] = attributes[base] = at
                at += 1
                if base in program.wide_inputs:
                    numbers["in", base + WIDE] = at
                    at += 1
        else:
            for slot in program.inputs:
                numbers["in", slot] = above.get(("out", slot), 0)
        following = programs[index + 1] if index + 1 < len(programs) else None
        wanted = () if following is None else following.inputs
        locations = {slot: at for at, slot in enumerate(sorted({*wanted, *program.outputs}))}
        for slot in {*wanted, *program.outputs}:
            numbers["out", slot] = locations[slot]
        above = {("out", slot): at for slot, at in locations.items()}
        modules.append(program.linked(numbers))
    key = tuple(shape)
    layout = layouts.get(key)
    if layout is None:
        layout = layouts[key] = Layout(device, key)
    dynamic = tuple(slot.stage for slot in slots if slot.binding.type == DYNAMIC_UNIFORM)
    return Link(tuple(programs), tuple(modules), layout, tuple(slots), attributes, dynamic)
