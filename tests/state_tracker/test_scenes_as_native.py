"""Scenes of display lists, pixels, textures and queries draw and answer as on the native GL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from tests.state_tracker.differential import Scenes

from .helpers import pixels

scene = Scenes()


@pytest.mark.native
@pytest.mark.parametrize(("profile", "drawn"), scene)
def test_the_scene_is_as_on_the_native_gl(profile: str, drawn: Callable[[Any], list[Any]]) -> None:
    def cleared(gl: Any) -> list[Any]:
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        return drawn(gl)

    version = {"compat": (2, 1), "core": (4, 5)}[profile]
    Scenes.check(cleared, profile=profile, version=version, size=(32, 32))


# -- draws in display lists: they keep what the arrays hold when the list is compiled --------------

CORNERS = np.array([[-1, -1], [0, -1], [-1, 0], [0, 0], [1, 0], [0, 1], [1, 1]], np.float32)


def with_arrays(gl: Any, buffered: bool) -> tuple[Any, Any]:
    """Corners and colours as enabled client arrays (or in a buffer), which can be changed."""
    places, colors = CORNERS.copy(), np.linspace(0, 1, 21, dtype=np.float32).reshape(7, 3).copy()
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.enable_client_state(GL.COLOR_ARRAY)
    if buffered:
        (name,) = gl.gen_buffers(1)
        gl.bind_buffer(GL.ARRAY_BUFFER, name)
        gl.buffer_data(GL.ARRAY_BUFFER, places.nbytes, places, GL.STATIC_DRAW)
        gl.vertex_pointer(2, GL.FLOAT, 0, 0)
        gl.bind_buffer(GL.ARRAY_BUFFER, 0)
    else:
        gl.vertex_pointer(2, GL.FLOAT, 0, places)
    gl.color_pointer(3, GL.FLOAT, 0, colors)
    return places, colors


def several(gl: Any) -> None:
    gl.multi_draw_arrays(GL.TRIANGLES, np.array([0, 9, 3], "i4"), np.array([3, 0, 3], "i4"), 3)


def none_of_several(gl: Any) -> None:
    gl.multi_draw_arrays(GL.TRIANGLES, np.array([0, 3], "i4"), np.array([0, 0], "i4"), 2)


KEPT: list[Any] = []


def _lists_of_indices() -> tuple[Any, Any]:
    lists = [np.array([0, 1, 2], "u2"), np.array([0], "u2"), np.array([0, 1, 2, 2, 1, 3], "u2")]
    KEPT.extend(lists)
    return np.array([3, 0, 6], "i4"), np.array([a.ctypes.data for a in lists], "i8")


def several_indexed(gl: Any) -> None:
    counts, places = _lists_of_indices()
    gl.multi_draw_elements(GL.TRIANGLES, counts, GL.UNSIGNED_SHORT, places, 3)


def several_based(gl: Any) -> None:
    counts, places = _lists_of_indices()
    bases = np.array([0, 0, 3], "i4")
    gl.multi_draw_elements_base_vertex(GL.TRIANGLES, counts, GL.UNSIGNED_SHORT, places, 3, bases)


def by_element(gl: Any) -> None:
    gl.begin(GL.TRIANGLES)
    for i in (3, 4, 5):
        gl.array_element(i)
    gl.end()


def based(gl: Any) -> None:
    indices = np.array([0, 1, 2], "u1")
    gl.draw_elements_base_vertex(GL.TRIANGLES, 3, GL.UNSIGNED_BYTE, indices, 3)


def from_a_buffer(gl: Any) -> None:
    data = np.array([9, 3, 4, 5], "u4")
    (name,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, name)
    gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    gl.draw_elements(GL.TRIANGLES, 3, GL.UNSIGNED_INT, 4)
    gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, 0)


def restarted(gl: Any) -> None:
    indices = np.array([0, 1, 2, 200, 3, 4, 5, 6], "u1")
    gl.draw_elements(GL.TRIANGLE_STRIP, 8, GL.UNSIGNED_BYTE, indices)


for _draw in (several, none_of_several, several_indexed, several_based, by_element, based,
              from_a_buffer, restarted):  # fmt: skip
    for _buffered in (False, True):

        @scene("compat", _draw.__name__, _buffered)
        def in_a_list(gl: Any, name: str, buffered: bool) -> list[Any]:
            places, colors = with_arrays(gl, buffered)
            if name == "restarted":
                gl.enable(GL.PRIMITIVE_RESTART)
                gl.primitive_restart_index(200)
            gl.new_list(3, GL.COMPILE)
            globals()[name](gl)
            gl.end_list()
            nothing = pixels(gl, 32, 32).copy()
            colors[...], places[...] = 0.5, -places
            gl.call_list(3)
            return [nothing, pixels(gl, 32, 32)]


# -- pixels of depth and stencil -------------------------------------------------------------------


BOTH = np.zeros((4, 4), [("z", "<f4"), ("s", "<u4")])
BOTH["z"], BOTH["s"] = np.linspace(-0.25, 1.25, 16).reshape(4, 4), np.arange(16).reshape(4, 4) * 17


# -- the raster position and the other modes of rendering ------------------------------------------


# -- what is asked of objects ----------------------------------------------------------------------


# -- surfaces, environments, filled buffers, blocks ------------------------------------------------


# -- what llvmpipe does otherwise than the specification says --------------------------------------
