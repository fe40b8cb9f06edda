"""The resources that draws read and write, by default those of the vertex and fragment stage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gallette.compiler.nir.ir.modes import Stage
from gallette.drivers.common.bound import Bound
from gallette.pipe.resource import Resource

__all__ = [
    "MERGED_STAGES",
    "pinned_by",
    "readable_by",
    "resources_of",
    "sampled_by",
]

MERGED_STAGES = (Stage.VERTEX, Stage.FRAGMENT)
"""The stages whose constant block 0 may differ between merged draws."""


def resources_of(bound: Bound) -> Iterator[Resource]:
    """Every resource that draws may read or write."""
    yield from pinned_by(bound)
    yield from readable_by(bound)
    yield from sampled_by(bound)


def readable_by(bound: Bound, stages: Iterable[Stage] = MERGED_STAGES) -> Iterator[Resource]:
    """The buffers that draws read, and in whose place a copy can be put."""
    for buffer in bound.vertex_buffers:
        if buffer is not None:
            yield buffer.buffer
    for stage in stages:
        bindings = bound.stages[stage]
        for block in bindings.constants[1:]:
            if block is not None and block.buffer is not None:
                yield block.buffer


def sampled_by(bound: Bound, stages: Iterable[Stage] = MERGED_STAGES) -> Iterator[Resource]:
    """The resources that draws sample in these stages."""
    for stage in stages:
        for view in bound.stages[stage].views:
            if view is not None:
                yield view.resource


def pinned_by(bound: Bound, stages: Iterable[Stage] = MERGED_STAGES) -> Iterator[Resource]:
    """The resources that draws may write."""
    for surface in (*bound.framebuffer.cbufs, bound.framebuffer.zsbuf):
        if surface is not None:
            yield surface.resource
    for stage in stages:
        bindings = bound.stages[stage]
        for image in bindings.images:
            if image is not None:
                yield image.resource
        for storage in bindings.buffers:
            if storage is not None:
                yield storage.buffer
