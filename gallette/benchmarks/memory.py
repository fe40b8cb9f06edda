"""The memory of a benchmark's frame, besides that of its resources.

The figure is the peak of Python's allocator during a frame, NumPy's arrays included, without what
stays allocated between frames (the scene's resources, textures prepared for sampling).
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.pipe.taps import PipeCall, tap, untap


@lazy_dataclass(frozen=True)
class FrameMemory:
    """Memory in bytes."""

    peak: int
    attachments: int  # of all framebuffers drawn into
    vertices: int  # vertex and index buffers of all draws

    @property
    def ratio(self) -> float:
        """The memory relative to the attachments, without that of the vertices."""
        return (self.peak - self.vertices) / max(1, self.attachments)

    def table(self) -> dict[str, int]:
        return asdict(self)


def memory(pipe: Any, prepare: Callable[[], Callable[[], Any]]) -> FrameMemory:
    """Prepare a scene on this pipe context and draw some of its frames."""
    attachments: dict[tuple[int, int], int] = {}
    buffers: dict[int, int] = {}

    def note(call: PipeCall) -> None:
        framebuffer = pipe.bound.framebuffer
        for surface in (*framebuffer.cbufs, framebuffer.zsbuf):
            if surface is not None:
                level = surface.resource.storage[surface.level]
                attachments[id(surface.resource), surface.level] = level.nbytes
        used = [each.buffer for each in pipe.bound.vertex_buffers if each is not None]
        for buffer in (*used, call.arguments["info"].index_buffer):
            if buffer is not None:
                buffers[id(buffer)] = buffer.desc.width
        call.run()

    # Only the first frame, because each draw of a context with a tap is executed by itself.
    tap(pipe, ["draw_vbo"], note)
    try:
        frame = prepare()
        frame()
    finally:
        untap(pipe, ["draw_vbo"], note)
    frame()
    tracemalloc.start()
    try:
        frame()
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        frame()
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()
    return FrameMemory(peak, sum(attachments.values()), sum(buffers.values()))
