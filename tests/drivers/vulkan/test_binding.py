"""The binding: structs are laid out as C does it, and what pointers lead to stays alive."""

from __future__ import annotations

import ctypes
import gc
import lzma
from pathlib import Path

import pytest

from gallette.drivers.vulkan.api import binding

from . import table


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("VkExtent3D", 12),
        ("VkImageCreateInfo", 88),
        ("VkClearValue", 16),
        ("VkBufferImageCopy", 56),
        ("VkPhysicalDeviceLimits", 504),
        ("VkPhysicalDeviceMemoryProperties", 520),
        ("VkGraphicsPipelineCreateInfo", 144),
    ],
)
def test_structs_have_the_size_that_c_gives_them_on_64_bits(name: str, size: int) -> None:
    assert ctypes.sizeof(binding.struct(name)) == size


def test_a_struct_knows_its_type_and_keeps_what_its_pointers_lead_to() -> None:
    made = binding.make(
        "VkDeviceQueueCreateInfo",
        queueCount=2,
        pQueuePriorities=binding.array([0.25, 0.5], ctypes.c_float),
    )
    gc.collect()
    priorities = (ctypes.c_float * 2).from_address(made.pQueuePriorities)
    assert made.sType == binding.constant("VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO") == 2
    assert list(priorities) == [0.25, 0.5]


def test_lists_of_structs_become_arrays_of_pointers() -> None:
    sizes = [
        binding.make("VkDescriptorPoolSize", type=kind, descriptorCount=10 * kind)
        for kind in (1, 6)
    ]
    made = binding.make("VkDescriptorPoolCreateInfo", poolSizeCount=2, pPoolSizes=sizes)
    found = (binding.struct("VkDescriptorPoolSize") * 2).from_address(made.pPoolSizes)
    assert [(each.type, each.descriptorCount) for each in found] == [(1, 10), (6, 60)]


def test_names_that_were_promoted_mean_the_same_struct() -> None:
    old, new = "VkPhysicalDeviceFeatures2KHR", "VkPhysicalDeviceFeatures2"
    assert binding.make(old).sType == binding.make(new).sType == 1000059000


def test_the_table_is_what_the_generator_writes() -> None:
    pytest.importorskip("vulkan_object")
    packed = Path(binding.__file__).with_name("table.txt.xz").read_bytes()
    assert lzma.decompress(packed).decode() == table.table()
