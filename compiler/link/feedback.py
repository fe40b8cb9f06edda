"""Transform feedback: what the application names (OpenGL 4.6, 11.1.2.1) or shaders declare (GLSL
4.60, 4.4.2.1; SPIR-V's `Offset`).
"""

from __future__ import annotations

from collections.abc import Iterable

from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.ir.layout import align
from gallette.compiler.nir.ir.types import VOID
from gallette.compiler.nir.link.feedback import StreamOutput, StreamVarying, Target, captured


@lazy_dataclass(frozen=True)
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


def named_feedback(
    found: dict[str, Target], stage: str, options: LinkOptions, log: LinkLog
) -> StreamOutput | None:
    """What is captured of the outputs of the last stage by the application's list of names."""
    if not options.xfb_varyings:
        return None
    separate = options.xfb_mode == "separate"
    limits = options.limits
    outputs_list: list[StreamVarying] = []
    named: list[StreamVarying] = []
    strides: dict[int, int] = {}
    seen: set[str] = set()
    buffer = offset = 0
    if separate and len(options.xfb_varyings) > limits.max_transform_feedback_separate_attribs:
        log.error("too many varyings for separate transform feedback buffers")
    for i, name in enumerate(options.xfb_varyings):
        if separate:
            buffer, offset = i, 0
        if name == "gl_NextBuffer":
            named.append(_gap(name, 0, buffer))
            strides[buffer] = offset
            buffer, offset = buffer + 1, 0
            continue
        if name.startswith("gl_SkipComponents") and name[-1] in "1234":
            skipped = int(name[-1])
            named.append(_gap(name, skipped, buffer))
            offset += 4 * skipped
            strides[buffer] = offset
            continue
        target = found.get(name)
        if target is None:
            log.error(f"transform feedback varying '{name}' is not an output of the {stage} shader")
            continue
        if name in seen:
            log.error(f"transform feedback varying '{name}' is listed twice")
        seen.add(name)
        words = target.words
        if separate and words > limits.max_transform_feedback_separate_components:
            log.error(f"transform feedback varying '{name}' has too many components")
        named.append(target.captured(buffer, offset))
        outputs_list += target.runs(buffer, offset)
        offset += 4 * words
        strides[buffer] = offset
    check_streams(named, log)
    if buffer >= limits.max_transform_feedback_buffers:
        log.error("too many transform feedback buffers")
    if not separate and any(
        s > 4 * limits.max_transform_feedback_interleaved_components for s in strides.values()
    ):
        log.error("too many components for interleaved transform feedback")
    return StreamOutput(
        tuple(outputs_list), tuple(strides[i] for i in sorted(strides)), tuple(named)
    )


def _gap(name: str, skipped: int, buffer: int) -> StreamVarying:
    """An entry that is listed but captures nothing."""
    return StreamVarying(name, VOID, skipped, -1, 0, 0, buffer, 0)
