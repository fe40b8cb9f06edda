"""Draws whose parameters lie in buffers, as interfaces other than GL's own may give them."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.common.vertex.stream import resolved
from gallette.pipe.enums import Primitive, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import DrawInfo, IndirectInfo


def _buffer(words: list[int]) -> HostResource:
    data = np.array(words, np.int64).astype(np.uint32).view(np.uint8)
    desc = ResourceDesc(Target.BUFFER, FORMATS["R8_UNORM"], data.size)
    made = create_resource(desc, ResourceLedger())
    made.bytes_at(0, data.size)[:] = data
    return made


ROWS = [[3, 2, 10, 7], [6, 1, 20, 8], [9, 4, 30, 9]]
"""count, instances, first vertex, first instance"""


@pytest.mark.parametrize("gap", [0, 2])
@pytest.mark.parametrize("most", [1, 3, 4])
@pytest.mark.parametrize("counted", [None, 0, 2, 9])
def test_draws_of_vertices_come_out_of_a_buffer(gap: int, most: int, counted: int | None) -> None:
    """As many as are asked for, or as another buffer counts; behind the end there are zeros."""
    words = [99]
    for row in ROWS:
        words += [*row, *[55] * gap]
    info = DrawInfo(
        Primitive.TRIANGLES,
        indirect=IndirectInfo(
            _buffer(words),
            offset=4,
            draw_count=most,
            stride=4 * (4 + gap) if gap else 0,
            count_buffer=None if counted is None else _buffer([77, counted]),
            count_offset=4,
        ),
        draw_id=5,
    )
    found = resolved(info)
    wanted = most if counted is None else min(most, counted)
    rows = [*ROWS, [0, 0, 0, 0]][:wanted]
    told = [[d.count, d.instance_count, d.start, d.start_instance] for d in found]
    assert told == rows
    assert [d.draw_id for d in found] == list(range(5, 5 + wanted))
    assert all(d.indirect is None for d in found)


def test_draws_of_indices_have_a_base_of_either_sign() -> None:
    words = [3, 2, 10, -4, 7, 6, 1, 20, 5, 8]
    info = DrawInfo(
        Primitive.TRIANGLES, index_size=2, indirect=IndirectInfo(_buffer(words), draw_count=2)
    )
    told = [
        (d.count, d.instance_count, d.start, d.index_bias, d.start_instance) for d in resolved(info)
    ]
    assert told == [(3, 2, 10, -4, 7), (6, 1, 20, 5, 8)]


def test_a_draw_that_says_everything_is_itself() -> None:
    info = DrawInfo(Primitive.LINES, count=4)
    assert list(resolved(info)) == [info]
