"""What the driver is asked for when images and buffers get storage, field by field.

The ledger of the screen sees every resource; what each should be follows from the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.pipe.enums import Bind, Target, Usage
from gallette.pipe.resource import Resource, ResourceDesc, ResourceLedger
from gallette.state_tracker import GL, create_context

SAMPLED, DRAWN, DEEP = Bind.SAMPLER_VIEW, Bind.RENDER_TARGET, Bind.DEPTH_STENCIL
Asked = tuple[Any, list[ResourceDesc]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Iterator[Asked]:
    """A context and what was created since the list was emptied."""
    gl = create_context("numpipe", profile="compat", version=(4, 5), size=(8, 8))
    found: list[ResourceDesc] = []
    add = ResourceLedger.add

    def watched(self: ResourceLedger, resource: Resource) -> None:
        found.append(resource.desc)
        add(self, resource)

    monkeypatch.setattr(ResourceLedger, "add", watched)
    yield gl, found
    gl.release()


# Target, how it is made: width, height, depth, layers in the driver's words.
SHAPES: list[tuple[str, tuple[int, ...], Target, tuple[int, int, int, int], int]] = [
    ("TEXTURE_1D", (8,), Target.TEXTURE_1D, (8, 1, 1, 1), 4),
    ("TEXTURE_1D_ARRAY", (8, 5), Target.TEXTURE_1D_ARRAY, (8, 1, 1, 5), 4),
    ("TEXTURE_2D", (8, 4), Target.TEXTURE_2D, (8, 4, 1, 1), 4),
    ("TEXTURE_2D_ARRAY", (8, 4, 3), Target.TEXTURE_2D_ARRAY, (8, 4, 1, 3), 4),
    ("TEXTURE_3D", (8, 4, 3), Target.TEXTURE_3D, (8, 4, 3, 1), 4),
    ("TEXTURE_CUBE_MAP", (8, 8), Target.TEXTURE_CUBE, (8, 8, 1, 6), 4),
    ("TEXTURE_CUBE_MAP_ARRAY", (8, 8, 12), Target.TEXTURE_CUBE_ARRAY, (8, 8, 1, 12), 4),
    ("TEXTURE_RECTANGLE", (8, 4), Target.TEXTURE_RECT, (8, 4, 1, 1), 1),
]
KINDS = {
    "RGBA8": ("R8G8B8A8_UNORM", SAMPLED | DRAWN),
    "R32F": ("R32_FLOAT", SAMPLED | DRAWN),
    "RG16UI": ("R16G16_UINT", SAMPLED | DRAWN),
    "DEPTH_COMPONENT32F": ("Z32_FLOAT", SAMPLED | DEEP),
    "COMPRESSED_RED_RGTC1": ("RGTC1_UNORM", SAMPLED),
}


def shape_of(desc: ResourceDesc) -> tuple[int, int, int, int]:
    return desc.width, desc.height, desc.depth, desc.array_size


@pytest.mark.parametrize("number", range(len(SHAPES)), ids=[s[0] for s in SHAPES])
def test_immutable_textures(asked: Asked, number: int) -> None:
    gl, found = asked
    word, extent, target, shape, most = SHAPES[number]
    for kind, (format, bind) in KINDS.items():
        if "COMPRESSED" in kind and ("1D" in word or word in ("TEXTURE_RECTANGLE", "TEXTURE_3D")):
            continue
        if "DEPTH" in kind and word == "TEXTURE_3D":
            continue
        for levels in range(1, most + 1):
            (name,) = gl.create_textures(getattr(GL, word), 1)
            found.clear()
            call = getattr(gl, f"texture_storage{len(extent)}d")
            call(name, levels, getattr(GL, kind), *extent)
            assert gl.get_error() == GL.NO_ERROR
            (desc,) = found
            assert (desc.target, desc.format.name) == (target, format)
            assert shape_of(desc) == shape
            assert (desc.last_level, desc.samples, desc.bind) == (levels - 1, 0, bind)
            assert desc.usage is Usage.DEFAULT


@pytest.mark.parametrize("samples", [2, 4])
def test_multisampled_storages(asked: Asked, samples: int) -> None:
    gl, found = asked
    for kind, bind in ((GL.RGBA8, DRAWN), (GL.DEPTH24_STENCIL8, DEEP)):
        for word, extent, shape in (("2D", (8, 4), (8, 4, 1, 1)), ("3D", (8, 4, 3), (8, 4, 1, 3))):
            array = word == "3D"
            target = GL.TEXTURE_2D_MULTISAMPLE_ARRAY if array else GL.TEXTURE_2D_MULTISAMPLE
            (name,) = gl.create_textures(target, 1)
            found.clear()
            call = getattr(gl, f"texture_storage{word.lower()}_multisample")
            call(name, samples, kind, *extent, True)
            (desc,) = found
            assert desc.target is (Target.TEXTURE_2D_ARRAY if array else Target.TEXTURE_2D)
            assert shape_of(desc) == shape
            assert (desc.last_level, desc.samples, desc.bind) == (0, samples, SAMPLED | bind)
        (name,) = gl.create_renderbuffers(1)
        found.clear()
        gl.named_renderbuffer_storage_multisample(name, samples, kind, 8, 4)
        (desc,) = found
        assert shape_of(desc) == (8, 4, 1, 1)
        assert (desc.last_level, desc.samples) == (0, samples)
        assert bind in desc.bind


def test_buffers(asked: Asked) -> None:
    gl, found = asked
    (name,) = gl.create_buffers(1)
    gl.named_buffer_data(name, 40, None, GL.STATIC_DRAW)
    (desc,) = found
    assert (desc.target, desc.format.name, shape_of(desc)) == (
        Target.BUFFER, "R8_UINT", (40, 1, 1, 1),
    )  # fmt: skip
    assert desc.usage is Usage.DEFAULT
    every = (
        Bind.VERTEX_BUFFER, Bind.INDEX_BUFFER, Bind.CONSTANT_BUFFER, Bind.SHADER_BUFFER,
        Bind.SAMPLER_VIEW, Bind.STREAM_OUTPUT, Bind.INDIRECT, Bind.QUERY_BUFFER,
    )  # fmt: skip
    assert all(bind in desc.bind for bind in every)
    assert desc.memory == 0
    memory = np.zeros(48, np.uint8)
    gl.bind_buffer(GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, gl.gen_buffers(1)[0])
    found.clear()
    gl.buffer_data(GL.EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD, 48, memory, GL.STATIC_DRAW)
    (desc,) = found
    assert (desc.width, desc.usage, desc.memory) == (48, Usage.STAGING, memory.ctypes.data)
    assert all(bind in desc.bind for bind in every)
