"""Stream output (transform feedback): writes captured varyings to buffers, primitive by primitive.

Whole primitives are written, in drawing order, as long as every bound buffer has room; after that
they are only counted. Each vertex stream has its own buffers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.queries import StreamCounters
from gallette.pipe.state import StreamOutputInfo, StreamOutputTarget

from .vertices import Ints, VertexSet


def capture(
    targets: Sequence[StreamOutputTarget | None],
    info: StreamOutputInfo,
    counters: StreamCounters,
    vertices: VertexSet,
    corners: Ints,
    stream: int = 0,
) -> None:
    """Append the captured varyings of a stream's primitives `corners[n, k]` to the bound
    targets.
    """
    used = sorted({output.buffer for output in info.outputs if output.stream == stream})
    if not used:
        return
    per_primitive = corners.shape[1]
    fitting = len(corners)
    for number in used:
        target = targets[number] if number < len(targets) else None
        stride = info.strides[number] if number < len(info.strides) else 0
        if target is None or not stride:
            fitting = 0
            continue
        room = max(0, _room(target) - target.written)
        fitting = min(fitting, room // (stride * per_primitive))
    counters.emitted += fitting
    counters.unwritten += len(corners) - fitting
    if not fitting:
        return
    order = corners[:fitting].reshape(-1)
    for number in used:
        target = targets[number]
        assert target is not None
        _write(target, info, number, vertices, order)


def _room(target: StreamOutputTarget) -> int:
    """The bytes that the target may still use in its buffer."""
    return max(0, min(target.size, target.buffer.desc.width - target.offset))


def _chosen(order: Ints) -> Ints | slice:
    """Vertex numbers as a slice if they are consecutive (as for points), so that they are copied
    without a gather.
    """
    first, end = int(order[0]), int(order[-1]) + 1
    if end - first == len(order) and bool((order[1:] > order[:-1]).all()):
        return slice(first, end)
    return order


def _write(
    target: StreamOutputTarget,
    info: StreamOutputInfo,
    number: int,
    vertices: VertexSet,
    order: Ints,
) -> None:
    resource = target.buffer
    assert isinstance(resource, HostResource)
    stride = target.stride = info.strides[number]
    size = stride * len(order)
    data = resource.bytes_at(target.offset + target.written, size)
    words = data.view(np.uint32).reshape(len(order), stride // 4)
    chosen = _chosen(order)
    for output in info.outputs:
        if output.buffer != number:
            continue
        first = output.dst_offset // 4
        for i in range(output.num_components):
            value = np.asarray(vertices.component(output.slot, output.start_component + i))
            raw = value.view(np.uint32)
            words[:, first + i] = raw[chosen] if raw.ndim and raw.size > 1 else raw
    target.written += size
    resource.touch()
