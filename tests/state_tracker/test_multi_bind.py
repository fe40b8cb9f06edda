"""Several bindings in one call: what is wrong with one leaves that one, and only that one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from tests.state_tracker.differential import answers

from .helpers import errors

COUNT = 4


def _indexed(gl: Any, *queries: int) -> list[Any]:
    found = errors(gl)
    return [*found, *(int(gl.get_integer64i_v(q, i)[0]) for i in range(COUNT) for q in queries)]


def buffers_base(gl: Any, good: list[int], bad: int) -> None:
    gl.bind_buffer(GL.UNIFORM_BUFFER, good[3])
    gl.bind_buffer_base(GL.SHADER_STORAGE_BUFFER, 1, good[2])
    for kind in (GL.UNIFORM_BUFFER, GL.SHADER_STORAGE_BUFFER, GL.ATOMIC_COUNTER_BUFFER,
                 GL.TRANSFORM_FEEDBACK_BUFFER):  # fmt: skip
        gl.bind_buffers_base(kind, 0, COUNT, _with(good, bad))


def buffers_range(gl: Any, good: list[int], bad: int) -> None:
    starts, sizes = np.arange(COUNT, dtype=np.int64) * 256, np.full(COUNT, 64, np.int64)
    for kind in (GL.UNIFORM_BUFFER, GL.SHADER_STORAGE_BUFFER, GL.ATOMIC_COUNTER_BUFFER,
                 GL.TRANSFORM_FEEDBACK_BUFFER):  # fmt: skip
        gl.bind_buffers_range(kind, 0, COUNT, _with(good, bad), starts, sizes)


def ranges(gl: Any, good: list[int], bad: int) -> None:
    """All buffers are there; of their ranges some are none."""
    names = np.array(good, np.uint32)
    for start, size in ((1, 64), (-256, 64), (0, 0), (0, -4), (256, 3)):
        starts, sizes = np.full(COUNT, 256, np.int64), np.full(COUNT, 64, np.int64)
        starts[1], sizes[1] = start, size
        gl.bind_buffers_range(GL.UNIFORM_BUFFER, 0, COUNT, names, starts, sizes)
        gl.bind_buffers_range(GL.TRANSFORM_FEEDBACK_BUFFER, 0, COUNT, names, starts, sizes)


def _with(good: list[int], bad: int, at: int = 1) -> Any:
    names = np.array(good, np.uint32)
    names[at] = bad
    return names


def vertex_buffers(gl: Any, good: list[int], bad: int) -> None:
    steps = np.array([4, 8, 12, 16], np.int32)
    starts = np.arange(COUNT, dtype=np.int64) * 8
    gl.bind_vertex_buffers(0, COUNT, _with(good, bad), starts, steps)


def strides(gl: Any, good: list[int], bad: int) -> None:
    names = np.array(good, np.uint32)
    for start, step in ((-8, 4), (8, -1), (8, 2048), (8, 2049)):
        starts, steps = np.full(COUNT, 16, np.int64), np.full(COUNT, 20, np.int32)
        starts[2], steps[2] = start, step
        gl.bind_vertex_buffers(0, COUNT, names, starts, steps)


BUFFERS = {f.__name__: f for f in (buffers_base, buffers_range, ranges, vertex_buffers, strides)}


def _told_of_buffers(gl: Any) -> list[Any]:
    found = errors(gl)
    for kind in ("UNIFORM_BUFFER", "SHADER_STORAGE_BUFFER", "ATOMIC_COUNTER_BUFFER",
                 "TRANSFORM_FEEDBACK_BUFFER"):  # fmt: skip
        names = (f"{kind}_{query}" for query in ("BINDING", "START", "SIZE"))
        told = _indexed(gl, *(getattr(GL, name) for name in names))
        for at in range(0, 3 * COUNT, 3):
            if kind.startswith("TRANSFORM") and not told[at]:
                told[at + 1 : at + 3] = 0, 0  # the native GL keeps what goes with no buffer
        found += told
        found.append(int(gl.get_integerv(getattr(GL, f"{kind}_BINDING"))[0]))
    return [*found, *_indexed(gl, GL.VERTEX_BINDING_BUFFER, GL.VERTEX_BINDING_OFFSET,
                              GL.VERTEX_BINDING_STRIDE)]  # fmt: skip


def _both(profile: str, scene: Callable[[Any], list[Any]]) -> None:
    native, ours = answers(lambda gl: [*scene(gl), *errors(gl)], profile)
    assert ours == native


@pytest.mark.native
@pytest.mark.parametrize("bad", ["none", "only a name", "zero", "another kind's"])
@pytest.mark.parametrize("calls", BUFFERS)
def test_buffers_of_which_one_is_wrong(calls: str, bad: str) -> None:
    def scene(gl: Any) -> list[Any]:
        good = [int(n) for n in gl.create_buffers(COUNT)]
        for buffer in good:
            gl.named_buffer_storage(buffer, 2048, None, 0)
        (vao,) = gl.gen_vertex_arrays(1)
        gl.bind_vertex_array(vao)
        which = {
            "none": 99,
            "only a name": int(gl.gen_buffers(1)[0]),
            "zero": 0,
            "another kind's": int(gl.create_textures(GL.TEXTURE_2D, 9)[8]),
        }[bad]
        BUFFERS[calls](gl, good, which)
        return _told_of_buffers(gl)

    _both("core", scene)


@pytest.mark.native
@pytest.mark.parametrize("layered", [0, 1])
@pytest.mark.parametrize(
    "target", ["2D", "3D", "2D_ARRAY", "CUBE_MAP", "1D", "1D_ARRAY", "RECTANGLE", "2D_MULTISAMPLE"]
)
def test_parameters_of_an_image_unit(target: str, layered: int) -> None:
    """Textures without layers are bound as they are, whatever is asked for."""

    def scene(gl: Any) -> list[Any]:
        kind = getattr(GL, f"TEXTURE_{target}")
        (name,) = gl.create_textures(kind, 1)
        if target == "2D_MULTISAMPLE":
            gl.texture_storage2d_multisample(name, 4, GL.RGBA8, 4, 4, 1)
        elif target in ("3D", "2D_ARRAY"):
            gl.texture_storage3d(name, 1, GL.RGBA8, 4, 4, 4)
        elif target == "1D":
            gl.texture_storage1d(name, 1, GL.RGBA8, 4)
        else:
            gl.texture_storage2d(name, 1, GL.RGBA8, 4, 4)
        found: list[Any] = errors(gl)
        queries = [getattr(GL, f"IMAGE_BINDING_{query}") for query in
                   ("NAME", "LEVEL", "LAYERED", "LAYER", "ACCESS", "FORMAT")]  # fmt: skip
        for level, layer in ((0, 0), (0, 2), (3, 1)):
            gl.bind_image_texture(1, name, level, layered, layer, GL.READ_WRITE, GL.RGBA8)
            found += _indexed(gl, *queries)
        gl.bind_image_texture(1, 0, 1, 1, 2, GL.WRITE_ONLY, GL.R32F)
        return found + _indexed(gl, *queries)

    _both("core", scene)
