"""simd's resources and kernels are objects of the buffer manager."""

from __future__ import annotations

from typing import Any

import moderngl
import numpy as np
import pytest

import gallette
from gallette.drivers.common.gem.picture import address_map
from gallette.drivers.machines.simd.screen import SimdScreen
from gallette.lessons.page_tables import filled, wrong_pages, wrong_pixels


def drawn(right: bool = True) -> tuple[Any, SimdScreen]:
    """A context that has drawn a textured triangle, and its screen."""
    window: Any = gallette.moderngl_context("simd")
    ctx = moderngl.create_context(standalone=True, context=window)
    program = ctx.program(
        "#version 330\nin vec2 p;\nvoid main() { gl_Position = vec4(p, 0.0, 1.0); }",
        "#version 330\nuniform sampler2D t;\nout vec4 c;\n"
        "void main() { c = texelFetch(t, ivec2(0), 0); }",
    )
    texture = ctx.texture((1, 1), 4, bytes([51, 102, 153, 255]))
    texture.use(0)
    target = ctx.simple_framebuffer((64, 64))
    target.use()
    corners = np.array([-1, -1, 3, -1, -1, 3], np.float32)
    ctx.vertex_array(program, [(ctx.buffer(corners.tobytes()), "2f", "p")]).render()
    found = target.read(viewport=(9, 9, 1, 1), components=4)
    assert (found == bytes([51, 102, 153, 255])) is right
    return (ctx, window), window.pipe.screen


def test_the_device_sees_the_bytes_that_were_drawn() -> None:
    _, screen = drawn()
    manager = screen.memory.manager
    names = [thing.name for _, _, thing in manager.space]
    assert any(name.startswith("kernel") for name in names) and "batch" in names
    found = address_map(manager)
    assert found["mixed"] == 0 and manager.total.bound >= 5
    seen = 0
    for _, _, thing in manager.space:
        assert thing.address is not None
        data = thing.data()
        seen += np.array_equal(manager.read(thing.address, data.size), data)
    assert seen == len(names)
    assert screen.counters.threads > 0 and screen.counters.cycles > screen.counters.instructions


def test_small_and_changing_buffers_are_in_system_memory() -> None:
    _, screen = drawn()
    page = {thing.name: thing.page for thing in screen.memory.manager.objects.values()}
    assert {page[name] for name in page if name.startswith("kernel")} == {64 << 10}
    assert [page[name] for name in page if name.startswith("buffer")] == [4 << 10]


def test_a_scene_is_wrong_without_the_rule() -> None:
    assert wrong_pixels(break_rule=True)[0] > 20_000


def test_wrongly_read_memory_is_restored_after_the_draw(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the device reads other pages: the resource itself keeps its bytes."""
    monkeypatch.setenv("GALLETTE_DEBUG", "driver:mixed_pages")
    _, screen = drawn(right=False)
    wrong = 0
    for thing in screen.memory.manager.objects.values():
        if thing.name.startswith("buffer"):
            assert thing.data()[:24].view(np.float32).tolist() == [-1, -1, 3, -1, -1, 3]
            wrong += not np.array_equal(
                screen.memory.manager.device_bytes(thing)[:24], thing.data()[:24]
            )
    assert wrong == 1


def test_the_frame_of_the_lesson() -> None:
    manager, things = filled(False)
    assert [wrong_pages(manager, thing)[:2] for thing in things] == [(0, 0)] * len(things)
    manager, things = filled(True)
    assert sum(sum(wrong_pages(manager, thing)[:2]) for thing in things) > 50
