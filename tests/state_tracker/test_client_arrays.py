"""Client arrays: what of them can be asked for, and what interleaved arrays stand for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from gallette.state_tracker.context import Context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, pixels, program


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


SPRITES = 16
DRIVERS = ("numpipe", "jit", pytest.param("native", marks=pytest.mark.native))


def context(driver: str) -> Any:
    options: Any = {"profile": "compat", "version": (3, 3), "size": (SPRITES, SPRITES)}
    return native_context(**options) if driver == "native" else create_context(driver, **options)


def sprites(gl: Any, first: int = 0) -> Any:
    """Columns of one pixel, each from arrays that the last one has read, too; the picture."""
    places = np.zeros((first + 4, 2), np.int16)
    colors = np.zeros((first + 4, 3), np.uint8)
    gl.enable_client_state(GL.VERTEX_ARRAY)
    gl.enable_client_state(GL.COLOR_ARRAY)
    gl.vertex_pointer(2, GL.SHORT, 0, places.ctypes.data)
    gl.color_pointer(3, GL.UNSIGNED_BYTE, 0, colors.ctypes.data)
    gl.matrix_mode(GL.PROJECTION)
    gl.load_identity()
    gl.ortho(0, SPRITES, 0, SPRITES, -1, 1)
    for column in range(SPRITES):
        right = column + 1
        places[first:] = [[column, 0], [right, 0], [column, SPRITES], [right, SPRITES]]
        colors[first:] = column + 1, 2 * column, 255 - column
        gl.draw_arrays(GL.TRIANGLE_STRIP, first, 4)
    assert errors(gl) == []
    return pixels(gl, SPRITES, SPRITES)


@pytest.mark.parametrize("first", [0, 3, 9000])
@pytest.mark.parametrize("driver", DRIVERS)
def test_each_draw_reads_what_its_arrays_hold_then(driver: str, first: int) -> None:
    gl = context(driver)
    found = sprites(gl, first)
    gl.release()
    for column in range(SPRITES):
        assert (found[:, column, :3] == [column + 1, 2 * column, 255 - column]).all(), column


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_draws_from_arrays_share_one_buffer(driver: str) -> None:
    """The driver can keep what it has derived, and merge them."""
    gl = context(driver)
    sprites(gl)
    made: list[Any] = []
    create = gl.screen.resource_create

    def counted(desc: Any) -> Any:
        if desc.label == "upload":
            made.append(desc)
        return create(desc)

    gl.screen.resource_create = counted
    sprites(gl)
    assert not made
    for _ in range(2):
        sprites(gl, 9000)  # too large to be copied while draws are pending
    assert len(made) == (1 if driver == "jit" else 2 * SPRITES - 1)
    gl.release()


@pytest.mark.parametrize("driver", DRIVERS)
def test_arrays_of_instances_and_of_vertices(driver: str) -> None:
    """Arrays with other divisors are other rows; one of bytes lies between two of doubles."""
    gl = context(driver)
    vertex = """
        #version 150 compatibility
        in vec2 corner; in vec4 color; in float column; in float scale;
        out vec4 passed;
        void main() {
            passed = color * scale;
            gl_Position = vec4((corner.x + column) / 8.0 - 1.0, corner.y, 0.0, 1.0);
        }
    """
    fragment = """
        #version 150 compatibility
        in vec4 passed;
        void main() { gl_FragColor = passed; }
    """
    made = program(gl, vertex, fragment)
    corners = np.array([[0, -1], [1, -1], [0, 1], [1, 1]], np.float64)
    colors = np.array([[255, 0, 51, 255]] * 4, np.uint8)
    columns = np.array([1, 5, 11, 14], np.float32)
    scales = np.array([1.0, 0.2], np.float64)
    for name, array, type, divisor in (
        ("corner", corners, GL.DOUBLE, 0),
        ("color", colors, GL.UNSIGNED_BYTE, 0),
        ("column", columns, GL.FLOAT, 1),
        ("scale", scales, GL.DOUBLE, 2),
    ):
        place = gl.get_attrib_location(made, name)
        size = array.shape[1] if array.ndim > 1 else 1
        gl.enable_vertex_attrib_array(place)
        gl.vertex_attrib_pointer(place, size, type, type == GL.UNSIGNED_BYTE, 0, array.ctypes.data)
        gl.vertex_attrib_divisor(place, divisor)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays_instanced(GL.TRIANGLE_STRIP, 0, 4, 4)
    assert errors(gl) == []
    expected = np.zeros((SPRITES, 4), np.uint8)
    expected[[1, 5]] = 255, 0, 51, 255
    expected[[11, 14]] = 51, 0, 10, 51
    found = pixels(gl, SPRITES, SPRITES)
    gl.release()
    assert (found == expected).all()
