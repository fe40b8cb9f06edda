"""Client arrays: what of them can be asked for, and what interleaved arrays stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL
from gallette.state_tracker.context import Context
from tests.state_tracker.helpers import errors, pixels


@pytest.fixture
def gl() -> Iterator[Any]:
    made = Context("numpipe", profile="compat", version=(4, 6), size=(8, 8))
    yield made
    made.release()


# name: call, its arguments before the stride, size and type that are then told
ARRAYS: dict[str, tuple[str, tuple[int, ...], int | None, int | None]] = {
    "VERTEX": ("vertex_pointer", (3, GL.SHORT), 3, GL.SHORT),
    "NORMAL": ("normal_pointer", (GL.BYTE,), None, GL.BYTE),
    "COLOR": ("color_pointer", (3, GL.UNSIGNED_SHORT), 3, GL.UNSIGNED_SHORT),
    "SECONDARY_COLOR": ("secondary_color_pointer", (3, GL.INT), 3, GL.INT),
    "FOG_COORD": ("fog_coord_pointer", (GL.DOUBLE,), None, GL.DOUBLE),
    "TEXTURE_COORD": ("tex_coord_pointer", (2, GL.HALF_FLOAT), 2, GL.HALF_FLOAT),
    "INDEX": ("index_pointer", (GL.UNSIGNED_BYTE,), None, GL.UNSIGNED_BYTE),
    "EDGE_FLAG": ("edge_flag_pointer", (), None, None),
}
FIRST = {"VERTEX": (4, GL.FLOAT), "COLOR": (4, GL.FLOAT), "SECONDARY_COLOR": (3, GL.FLOAT),
         "TEXTURE_COORD": (4, GL.FLOAT), "NORMAL": (None, GL.FLOAT),
         "FOG_COORD": (None, GL.FLOAT), "INDEX": (None, GL.FLOAT),
         "EDGE_FLAG": (None, None)}  # fmt: skip


def told(gl: Any, name: str) -> dict[str, Any]:
    """All that can be asked of an array; what cannot is None."""
    found: dict[str, Any] = {}
    for part in ("SIZE", "TYPE", "STRIDE", "BUFFER_BINDING"):
        number = getattr(GL, f"{name}_ARRAY_{part}", None)
        value = gl.get_integerv(number) if number is not None else None
        found[part] = None if errors(gl) or value is None else value[0]
    (found["POINTER"],) = gl.get_pointerv(getattr(GL, f"{name}_ARRAY_POINTER"))
    found["ENABLED"] = bool(gl.is_enabled(getattr(GL, f"{name}_ARRAY")))
    assert bool(gl.get_booleanv(getattr(GL, f"{name}_ARRAY"))[0]) == found["ENABLED"]
    assert errors(gl) == []
    return found


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_return_their_parameters(gl: Any, name: str) -> None:
    size, type = FIRST[name]
    begin = {"SIZE": size, "TYPE": type, "STRIDE": 0, "BUFFER_BINDING": 0, "ENABLED": False}
    found = told(gl, name)
    assert not found.pop("POINTER")
    assert found == begin
    call, arguments, size, type = ARRAYS[name]
    buffer = gl.gen_buffers(3)[2]
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    others = {other: told(gl, other) for other in ARRAYS if other != name}
    getattr(gl, call)(*arguments, 24, 40)
    gl.enable_client_state(getattr(GL, f"{name}_ARRAY"))
    gl.bind_buffer(GL.ARRAY_BUFFER, 0)
    assert told(gl, name) == {
        "SIZE": size, "TYPE": type, "STRIDE": 24, "BUFFER_BINDING": buffer, "POINTER": 40,
        "ENABLED": True,
    }  # fmt: skip
    assert {other: told(gl, other) for other in others} == others
    getattr(gl, call)(*arguments, -1, 40)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    gl.disable_client_state(getattr(GL, f"{name}_ARRAY"))
    assert not told(gl, name)["ENABLED"]
    gl.enable_client_state(GL.TEXTURE_2D)
    assert errors(gl) == ["GL_INVALID_ENUM"]


def test_coordinates_of_textures_have_an_array_for_each_unit(gl: Any) -> None:
    gl.client_active_texture(GL.TEXTURE3)
    gl.tex_coord_pointer(2, GL.SHORT, 8, 16)
    gl.enable_client_state(GL.TEXTURE_COORD_ARRAY)
    assert told(gl, "TEXTURE_COORD")["SIZE"] == 2
    gl.client_active_texture(GL.TEXTURE2)
    assert told(gl, "TEXTURE_COORD")["SIZE"] == 4
    assert not told(gl, "TEXTURE_COORD")["ENABLED"]
    gl.client_active_texture(GL.TEXTURE3)
    assert told(gl, "TEXTURE_COORD")["ENABLED"]


# format: sizes of texture coordinates, colours (b: four bytes), normals and positions, and where
# each begins, in bytes; and the size of all
INTERLEAVED = {
    "V2F": ("v2", (0,), 8), "V3F": ("v3", (0,), 12), "C4UB_V2F": ("b4 v2", (0, 4), 12),
    "C4UB_V3F": ("b4 v3", (0, 4), 16), "C3F_V3F": ("c3 v3", (0, 12), 24),
    "N3F_V3F": ("n3 v3", (0, 12), 24), "C4F_N3F_V3F": ("c4 n3 v3", (0, 16, 28), 40),
    "T2F_V3F": ("t2 v3", (0, 8), 20), "T4F_V4F": ("t4 v4", (0, 16), 32),
    "T2F_C4UB_V3F": ("t2 b4 v3", (0, 8, 12), 24), "T2F_C3F_V3F": ("t2 c3 v3", (0, 8, 20), 32),
    "T2F_N3F_V3F": ("t2 n3 v3", (0, 8, 20), 32),
    "T2F_C4F_N3F_V3F": ("t2 c4 n3 v3", (0, 8, 24, 36), 48),
    "T4F_C4F_N3F_V4F": ("t4 c4 n3 v4", (0, 16, 32, 44), 60),
}  # fmt: skip
LETTERS = {"t": "TEXTURE_COORD", "c": "COLOR", "b": "COLOR", "n": "NORMAL", "v": "VERTEX"}


@pytest.mark.parametrize("stride", [0, 64])
@pytest.mark.parametrize("format", INTERLEAVED)
def test_interleaved_arrays(gl: Any, format: str, stride: int) -> None:
    parts, places, whole = INTERLEAVED[format]
    for name in ("EDGE_FLAG", "TEXTURE_COORD", "COLOR", "NORMAL", "FOG_COORD"):
        gl.enable_client_state(getattr(GL, f"{name}_ARRAY"))
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.interleaved_arrays(getattr(GL, format), stride, 100)
    assert errors(gl) == []
    used = {LETTERS[part[0]] for part in parts.split()}
    for name in ("TEXTURE_COORD", "COLOR", "NORMAL", "VERTEX", "EDGE_FLAG", "FOG_COORD"):
        # Fog coordinates are none of its business; edge flags are switched off.
        assert told(gl, name)["ENABLED"] == (name in used or name == "FOG_COORD"), name
    for part, place in zip(parts.split(), places, strict=True):
        name = LETTERS[part[0]]
        found = told(gl, name)
        assert found["POINTER"] == 100 + place
        assert found["STRIDE"] == (stride or whole)
        assert found["TYPE"] == (GL.UNSIGNED_BYTE if part[0] == "b" else GL.FLOAT)
        assert found["SIZE"] in (int(part[1]), None)


def test_mistakes_of_interleaved_arrays(gl: Any) -> None:
    gl.interleaved_arrays(GL.RGBA, 0, None)
    assert errors(gl) == ["GL_INVALID_ENUM"]
    gl.interleaved_arrays(GL.V2F, -1, None)
    assert errors(gl) == ["GL_INVALID_VALUE"]
    assert not told(gl, "VERTEX")["ENABLED"]


def test_interleaved_bytes_are_colours_from_0_to_1(gl: Any) -> None:
    corners = np.zeros(3, [("color", "u1", 4), ("place", "f4", 2)])
    corners["place"] = [[-1, -1], [3, -1], [-1, 3]]
    corners["color"] = [51, 102, 153, 204]
    gl.interleaved_arrays(GL.C4UB_V2F, 0, corners.ctypes.data)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    assert pixels(gl, 8, 8).reshape(-1, 4).tolist() == [[51, 102, 153, 204]] * 64
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    assert not told(gl, "VERTEX")["ENABLED"]  # another object has arrays of its own


def test_indices_are_no_colours_but_kept(gl: Any) -> None:
    gl.index_pointer(GL.SHORT, 0, 8)
    gl.edge_flag_pointer(0, 12)
    assert list(gl.get_pointerv(GL.INDEX_ARRAY_POINTER)) == [8]
    assert list(gl.get_pointerv(GL.EDGE_FLAG_ARRAY_POINTER)) == [12]
    gl.get_pointerv(GL.TEXTURE_2D)
    assert errors(gl) == ["GL_INVALID_ENUM"]


def test_parameters_of_index_and_edge_flag_arrays(gl: Any) -> None:
    gl.index_pointer(GL.SHORT, 6, 8)
    gl.edge_flag_pointer(5, 12)
    names = ("INDEX_ARRAY_TYPE", "INDEX_ARRAY_STRIDE", "EDGE_FLAG_ARRAY_STRIDE",
             "INDEX_ARRAY_BUFFER_BINDING", "EDGE_FLAG_ARRAY_BUFFER_BINDING")  # fmt: skip
    found = [int(gl.get_integerv(getattr(GL, name))[0]) for name in names]
    assert found == [GL.SHORT, 6, 5, 0, 0]
    assert errors(gl) == []
