"""Bitwise copies between resources."""

from __future__ import annotations

from gallette.drivers.common.memory.storage import copy_region as copy_storage
from gallette.pipe.resource import Resource
from gallette.pipe.state import Box

from .resource import HostResource

__all__ = ["copy_region"]


def copy_region(
    dst: Resource,
    dst_level: int,
    dst_x: int,
    dst_y: int,
    dst_z: int,
    src: Resource,
    src_level: int,
    src_box: Box,
) -> None:
    """Copy blocks bit for bit; of multisampled resources, all samples."""
    assert isinstance(dst, HostResource) and isinstance(src, HostResource)
    if src.samples > 1 or dst.samples > 1:
        z, depth = src_box.z * src.samples, src_box.depth * src.samples
        src_box = Box(src_box.x, src_box.y, z, src_box.width, src_box.height, depth)
        dst_z *= dst.samples
    origin = (dst_x, dst_y, dst_z)
    to, source = dst.storage[dst_level], src.storage[src_level]
    copy_storage(dst.desc, to, dst_level, origin, src.desc, source, src_level, src_box)
    dst.touch()
