"""Contexts that share objects: calls of each are commands, and see what the others did."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points import machine_code
from tests.state_tracker.stream.worlds import SIZE, Recorded, draw, pending, switch_off

pytestmark = pytest.mark.skipif(
    not machine_code.possible(), reason="there is a command stream on x86-64 with Linux only"
)


def sharing(driver: str) -> tuple[Recorded, Any]:
    """A context whose calls are commands, which is current, and one that shares its objects."""
    world = Recorded(driver, 5)
    other = Context(driver, share=world.plain, size=(SIZE, SIZE))
    world.plain.make_current()
    world.gl.uniform4fv(world.place, 1, np.array([0, 0, 0, 0.5], np.float32))
    return world, other


def test_another_thread_may_share_what_there_is(world: Recorded, sizes: list[int]) -> None:
    """Commands remain commands, of which it need not know before they are flushed."""
    draw(world, 3)
    seen: list[Any] = []

    def work() -> None:
        other = Context("numpipe", share=world.plain)
        seen.append(world.plain.released)
        seen.append(other.is_texture(world.textures[0]))
        seen.append(pending())
        other.release()

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [False, True, True]
    assert not sizes
    draw(world, 1)
    assert world.gl.get_error() == GL.NO_ERROR
    assert sum(sizes) == 4


def _other_texture(other: Any, world: Recorded) -> None:
    other.delete_textures(1, [world.textures[0]])
    assert other.gen_textures(1) == [world.textures[0]]
    other.bind_texture(GL.TEXTURE_2D, world.textures[0])
    other.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    texels = np.full((2, 2, 4), 200, np.uint8)
    other.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)


def _other_texels(other: Any, world: Recorded) -> None:
    other.bind_texture(GL.TEXTURE_2D, world.textures[0])
    texel = np.full(4, 99, np.uint8)
    other.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, texel)


def _other_vertices(other: Any, world: Recorded) -> None:
    other.bind_buffer(GL.ARRAY_BUFFER, world.buffers[0])
    corners = np.array([-1, -1, 0, -1, -1, 1, 0, 1], np.float32)
    other.buffer_data(GL.ARRAY_BUFFER, 32, corners, GL.STATIC_DRAW)


def _others_draw(other: Any, world: Recorded) -> None:
    other.bind_framebuffer(GL.FRAMEBUFFER, 0)
    other.bind_vertex_array(other.gen_vertex_arrays(1)[0])
    other.bind_buffer(GL.ARRAY_BUFFER, world.buffers[1])
    other.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, 0)
    other.enable_vertex_attrib_array(0)
    other.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)


BY_ANOTHER: dict[str, Callable[[Any, Recorded], None]] = {
    "texture": _other_texture,
    "texels": _other_texels,
    "vertices": _other_vertices,
    "program": lambda other, world: other.uniform4f(world.tint, 0.5, 0.25, 1.0, 1.0),
    "own state": lambda other, world: other.enable(GL.BLEND),
    "draws": _others_draw,
}


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("what", BY_ANOTHER)
def test_contexts_that_share_take_turns(
    what: str, driver: str, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    pictures = []
    for recorded in (True, False):
        world, other = sharing(driver)
        if not recorded:
            switch_off(monkeypatch)
        gl, found = world.gl, list[bytes]()
        for turn in range(4):
            gl.clear(GL.COLOR_BUFFER_BIT)
            for _ in range(6):
                gl.bind_texture(GL.TEXTURE_2D, world.textures[0])
                draw(world, 1)
                gl.bind_texture(GL.TEXTURE_2D, world.textures[1])
                draw(world, 1)
            assert pending() == recorded
            gl.finish()
            other.make_current()
            other.use_program(world.programs[0])
            if turn == 1:
                BY_ANOTHER[what](other, world)
            other.finish()
            assert not other.get_error()
            world.plain.make_current()
            gl.bind_texture(GL.TEXTURE_2D, world.textures[0])
            draw(world, 6)
            found.append(world.read(0))
        assert not recorded or max(sizes) > 8
        pictures.append(found)
        other.release()
        gl.release()
    assert pictures[0] == pictures[1]
    assert any(pictures[0][-1])


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_what_is_bound_is_read_though_another_context_has_deleted_it(
    driver: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no name any more, and lives as long as it is bound."""
    pictures = []
    for recorded in (True, False):
        world, other = sharing(driver)
        if not recorded:
            switch_off(monkeypatch)
        gl: Any = world.gl
        (buffer,), (texture,) = gl.gen_buffers(1), gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR)
        texels = np.arange(16, dtype=np.uint8) * 16
        gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels)
        gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
        corners = np.array([-1, -1, 1, -1, -1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1], np.float32)
        gl.buffer_data(GL.ARRAY_BUFFER, 64, corners, GL.STATIC_DRAW)
        for turn in range(4):
            gl.clear(GL.COLOR_BUFFER_BIT)
            for number in range(8):
                gl.bind_vertex_array(world.arrays[number % 2])
                gl.vertex_attrib_pointer(0, 2, GL.FLOAT, 0, 8, 32 * (number // 2 % 2))
                corner = np.array([-1 + number / 8, -1 + turn / 4], np.float32)
                gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 8, corner)
                magnified = GL.LINEAR if number % 4 else GL.NEAREST
                gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAG_FILTER, magnified)
                texel = np.full(4, 20 * number + turn, np.uint8)
                gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 1, 1, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, texel)
                draw(world, 1)
            if turn == 1:
                gl.finish()
                other.make_current()
                other.delete_buffers(1, [buffer])
                other.delete_textures(1, [texture])
                assert other.gen_buffers(1) == [buffer]  # another one of the same name
                other.bind_buffer(GL.ARRAY_BUFFER, buffer)
                other.buffer_data(GL.ARRAY_BUFFER, 64, np.zeros(16, np.float32), GL.STATIC_DRAW)
                assert other.gen_textures(1) == [texture]
                other.bind_texture(GL.TEXTURE_2D, texture)
                other.tex_image2d(
                    GL.TEXTURE_2D, 0, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, texels * 0
                )
                world.plain.make_current()
            pictures.append(world.read(0))
        assert gl.get_error() == GL.NO_ERROR
        other.make_current()
        assert not any(other.get_buffer_sub_data(GL.ARRAY_BUFFER, 0, 64))
        assert not any(other.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE))
        other.release()
        gl.release()
    assert pictures[:4] == pictures[4:]
    assert any(pictures[3])
