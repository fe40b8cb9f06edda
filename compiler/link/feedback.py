"""Transform feedback that shaders declare themselves (GLSL 4.60, 4.4.2.1; SPIR-V's `Offset`)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.nir.ir.layout import align
from gallette.compiler.nir.link.feedback import StreamOutput, StreamVarying, Target, captured

__all__ = ["Capture", "check_streams", "declared_feedback"]


@dataclass(frozen=True, slots=True)
class Capture:
    """An output with a declared place in a buffer."""

    name: str
    targets: dict[str, Target]
    """its parts, perhaps among others"""
    buffer: int
    offset: int


def check_streams(named: Iterable[StreamVarying], log: LinkLog) -> None:
    """Check that a buffer captures a single vertex stream (OpenGL 4.6, 7.3)."""
    streams: dict[int, StreamVarying] = {}
    for varying in named:
        if varying.is_gap:
            continue
        other = streams.setdefault(varying.buffer, varying)
        if other.stream != varying.stream:
            log.error(
                f"'{other.name}' and '{varying.name}' are of different vertex streams "
                "and go to one transform feedback buffer"
            )


def declared_feedback(
    wanted: Iterable[Capture], strides: dict[int, int], limits: Limits, log: LinkLog
) -> StreamOutput | None:
    """What is captured; `strides` are the declared ones of the buffers."""
    strides = dict(strides)
    runs: list[StreamVarying] = []
    named: list[StreamVarying] = []
    ends: dict[int, int] = {}
    wide: set[int] = set()
    for capture in wanted:
        buffer = capture.buffer
        for whole, parts in captured(capture.name, capture.targets, buffer, capture.offset):
            end = whole.offset + 4 * whole.num_components
            if whole.type.bit_size == 64:
                wide.add(buffer)
            for other in named:
                other_end = other.offset + 4 * other.num_components
                if other.buffer == buffer and whole.offset < other_end and other.offset < end:
                    log.error(f"'{other.name}' and '{whole.name}' overlap in the feedback buffer")
            named.append(whole)
            runs += parts
            ends[buffer] = max(ends.get(buffer, 0), end)
    if not named:
        return None
    check_streams(named, log)
    for buffer, end in ends.items():
        stride = strides.setdefault(buffer, align(end, 8 if buffer in wide else 4))
        if end > stride:
            log.error(f"captured outputs exceed the stride of buffer {buffer}")
        if buffer in wide and stride % 8:
            log.error(f"the stride of buffer {buffer} must be a multiple of 8")
        if stride > 4 * limits.max_transform_feedback_interleaved_components:
            log.error(f"buffer {buffer} captures too many components")
    count = max(strides) + 1
    return StreamOutput(tuple(runs), tuple(strides.get(i, 0) for i in range(count)), tuple(named))
