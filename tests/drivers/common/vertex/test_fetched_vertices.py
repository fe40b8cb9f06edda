"""A few vertices are fetched in a short way: what is read is what the other way reads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError
from gallette.drivers.common.memory.resource import HostResource, create_resource
from gallette.drivers.common.vertex.fetch import FetchedVertices, VertexSource
from gallette.pipe.enums import Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import VertexBuffer, VertexElement

FLOATS = ("R32_FLOAT", "R32G32_FLOAT", "R32G32B32_FLOAT", "R32G32B32A32_FLOAT")
OTHERS = ("R32G32_UINT", "R32G32_SINT", "R8G8B8A8_UNORM", "R16G16_FLOAT", "R64_FLOAT")


def _buffer() -> HostResource:
    made = create_resource(ResourceDesc(Target.BUFFER, FORMATS["R8_UNORM"], 1000), ResourceLedger())
    made.bytes_at(0, 1000)[:] = np.random.default_rng(5).integers(0, 255, 1000)
    return made


def _read(format: str, resource: HostResource, source: VertexSource, offset: int, stride: int,
          divisor: int = 0, start: int = 0) -> list[Any]:  # fmt: skip
    element = VertexElement(offset, 0, FORMATS[format], divisor)
    buffers = (VertexBuffer(resource, 4, stride),)
    lanes = FetchedVertices(source, (element,), buffers, start, source.lanes)
    return [lanes.attribute(0, component) for component in range(4)]


def test_writes_by_shaders_are_read() -> None:
    """As shaders write buffers."""
    resource, source = _buffer(), VertexSource(0, 6, None, 1, 0, 0, 0)
    _read("R32G32_FLOAT", resource, source, 0, 8)
    resource.bytes_at(4, 48)[:] = np.arange(12, dtype=np.float32).view(np.uint8)
    found = _read("R32G32_FLOAT", resource, source, 0, 8)
    assert found[0].tolist() == [0, 2, 4, 6, 8, 10]
    assert found[1].tolist() == [1, 3, 5, 7, 9, 11]


def _lanes(source: VertexSource, *elements: VertexElement, stride: int = 16) -> FetchedVertices:
    buffers = (VertexBuffer(_buffer(), 4, stride), None)
    return FetchedVertices(source, elements, buffers, 0, source.lanes)


def test_vertices_have_the_parameters_of_their_draw() -> None:
    """Without indices there is no base vertex."""
    for ids, is_indexed in ((None, False), (np.array([9, 7, 8]), True)):
        source = VertexSource(7, 3, ids, 1, 5, 7, 4, is_indexed=is_indexed)
        lanes = _lanes(source)
        numbers = [9, 7, 8] if is_indexed else [7, 8, 9]
        assert lanes.system("vertex_id").tolist() == numbers
        told = [int(lanes.system(name)) for name in ("base_instance", "draw_id")]
        assert told == [5, 4]
        assert lanes.system("base_vertex") == (7 if is_indexed else 0)
        assert lanes.system("base_vertex").dtype == np.int32
    with pytest.raises(GalletteError, match="a vertex has no front_face"):
        lanes.system("front_face")


@pytest.mark.parametrize("merged", [False, True])
def test_instances_are_numbered(merged: bool) -> None:
    """Those that are draws of one instance each are all number zero."""
    source = VertexSource(0, 2, None, 3, 0, 0, 0, first_instance=4, merged=merged)
    lanes = _lanes(source)
    numbers = [4, 4, 5, 5, 6, 6]
    found = np.broadcast_to(lanes.system("instance_id"), 6).tolist()
    assert found == ([0] * 6 if merged else numbers)
    assert lanes.system("merged_draw").tolist() == numbers


def test_attributes_that_are_not_there() -> None:
    """Floats are 0, 0, 0, 1; of 64 bits, zero, where the buffer or the component is missing."""
    wide = VertexElement(0, 0, FORMATS["R64_FLOAT"], 0)
    nowhere = VertexElement(0, 1, FORMATS["R64_FLOAT"], 0)
    lanes = _lanes(VertexSource(0, 3, None, 1, 0, 0, 0), wide, nowhere)
    assert [float(lanes.attribute(7, c)) for c in range(4)] == [0, 0, 0, 1]
    assert lanes.attribute64(0, 0).shape == (3,)
    for index, component in ((0, 1), (1, 0), (7, 0)):
        found = lanes.attribute64(index, component)
        assert found.shape == () and found.dtype == np.float64 and found == 0
