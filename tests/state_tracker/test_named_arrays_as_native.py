"""EXT_direct_state_access beside the native GL: arrays, buffers and units that a call names.

After every call both GLs are asked for all of the vertex arrays they have, the one that is bound
and one that is not, and for the error.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

pytestmark = pytest.mark.native

T = GL.TEXTURE0
ARRAYS = ("VERTEX", "NORMAL", "COLOR", "SECONDARY_COLOR", "FOG_COORD", "INDEX", "EDGE_FLAG",
          "TEXTURE_COORD")  # fmt: skip
PARTS = ("", "_SIZE", "_TYPE", "_STRIDE", "_BUFFER_BINDING")
ATTRIBUTE = ("ARRAY_ENABLED", "ARRAY_SIZE", "ARRAY_STRIDE", "ARRAY_TYPE", "ARRAY_NORMALIZED",
             "ARRAY_INTEGER", "ARRAY_LONG", "ARRAY_DIVISOR", "ARRAY_BUFFER_BINDING")  # fmt: skip


class Side:
    """One GL with two vertex arrays, the second of them bound, and three buffers."""

    def __init__(self, gl: GLInterface) -> None:
        self.gl = gl
        self.arrays = [int(v) for v in gl.gen_vertex_arrays(3)]
        self.buffers = [int(v) for v in gl.gen_buffers(4)]
        for name in self.arrays[:2]:
            gl.bind_vertex_array(name)
        for name in self.buffers[:3]:
            gl.bind_buffer(GL.COPY_WRITE_BUFFER, name)
            gl.buffer_data(GL.COPY_WRITE_BUFFER, 256, None, GL.STATIC_DRAW)
        gl.bind_buffer(GL.ARRAY_BUFFER, self.buffers[2])

    def error(self) -> str:
        return GL.name_of(self.gl.get_error(), "error")

    def one(self, ask: Any, *arguments: Any) -> Any:
        """An answer as a number, or the error."""
        found = ask(*arguments)
        code = self.gl.get_error()
        if code != GL.NO_ERROR:
            return GL.name_of(code, "error")
        return int(found[0] if isinstance(found, list | tuple | np.ndarray) else found or 0)

    def array(self, name: int) -> dict[str, Any]:
        """All that can be asked of a named vertex array."""
        gl, found = self.gl, dict[str, Any]()
        for array in ARRAYS:
            for part in PARTS:
                pname = getattr(GL, f"{array}_ARRAY{part}", None)
                if pname is None:
                    continue
                found[f"{array}{part}"] = self.one(gl.get_vertex_array_integerv_ext, name, pname)
                if array == "TEXTURE_COORD":
                    for unit in (0, 1, 3, 7):
                        value = self.one(gl.get_vertex_array_integeri_v_ext, name, unit, pname)
                        found[f"{array}{part} {unit}"] = value
            pname = getattr(GL, f"{array}_ARRAY_POINTER")
            found[f"{array} at"] = self.one(gl.get_vertex_array_pointerv_ext, name, pname)
        for unit in (0, 1, 3, 7):
            pname = GL.TEXTURE_COORD_ARRAY_POINTER
            value = self.one(gl.get_vertex_array_pointeri_v_ext, name, unit, pname)
            found[f"coordinates {unit} at"] = value
        for index in (0, 2, 15):
            for word in ATTRIBUTE:
                pname = getattr(GL, f"VERTEX_ATTRIB_{word}")
                value = self.one(gl.get_vertex_array_integeri_v_ext, name, index, pname)
                found[f"{word} {index}"] = value
            pname = GL.VERTEX_ATTRIB_ARRAY_POINTER
            value = self.one(gl.get_vertex_array_pointeri_v_ext, name, index, pname)
            found[f"attribute {index} at"] = value
        return found

    def everything(self) -> dict[str, Any]:
        gl = self.gl
        found: dict[str, Any] = {"error": self.error()}
        for i, name in enumerate(self.arrays[:2]):
            found |= {f"{i}: {k}": v for k, v in self.array(name).items()}
        for word in ("CLIENT_ACTIVE_TEXTURE", "ACTIVE_TEXTURE", "ARRAY_BUFFER_BINDING",
                      "VERTEX_ARRAY_BINDING", "PRIMITIVE_RESTART_INDEX_NV", "UNPACK_ALIGNMENT",
                      "PACK_ALIGNMENT", "PIXEL_PACK_BUFFER_BINDING", "PIXEL_UNPACK_BUFFER_BINDING",
                      "ELEMENT_ARRAY_BUFFER_BINDING", "CLIENT_ATTRIB_STACK_DEPTH",
                      "PRIMITIVE_RESTART"):  # fmt: skip
            found[word] = self.one(gl.get_integerv, getattr(GL, word))
        bound = self.arrays.index(self.one(gl.get_integerv, GL.VERTEX_ARRAY_BINDING))
        for unit in (0, 1, 3, 7):
            pname = GL.TEXTURE_COORD_ARRAY_POINTER
            found[f"pointer of {unit}"] = self.one(gl.get_pointer_indexedv_ext, pname, unit)
            # Of these the native GL tells the first alone.
            for part in PARTS:
                pname = getattr(GL, f"TEXTURE_COORD_ARRAY{part}")
                value = self.one(gl.get_integer_indexedv_ext, pname, unit)
                if part == "" or isinstance(value, int):
                    assert value == found[f"{bound}: TEXTURE_COORD{part} {unit}"]
        return found


@pytest.fixture
def both() -> Iterator[tuple[Side, Side]]:
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (4, 4)}
    made = Side(create_context("numpipe", **options)), Side(native_context(**options))
    yield made
    for side in made:
        side.gl.release()


# Arguments: "a0" is the first vertex array, "b1" the second buffer, and so on.
CALLS: list[tuple[str, tuple[Any, ...]]] = [
    ("vertex_array_vertex_offset_ext", ("a0", "b0", 3, GL.SHORT, 24, 8)),
    ("vertex_array_vertex_offset_ext", ("a0", "b0", 3, GL.SHORT, 24, -1)),
    ("vertex_array_vertex_offset_ext", ("a0", "b0", 3, GL.SHORT, 24, 0)),
    ("vertex_array_vertex_offset_ext", ("a0", 0, 2, GL.INT, 0, 0)),
    ("vertex_array_color_offset_ext", ("a0", "b1", 3, GL.UNSIGNED_SHORT, 12, 16)),
    ("vertex_array_color_offset_ext", ("a1", "b0", 4, GL.UNSIGNED_BYTE, 8, 4)),
    ("vertex_array_edge_flag_offset_ext", ("a0", "b1", 3, 5)),
    ("vertex_array_index_offset_ext", ("a0", "b2", GL.UNSIGNED_BYTE, 7, 9)),
    ("vertex_array_normal_offset_ext", ("a0", "b0", GL.BYTE, 4, 12)),
    ("vertex_array_tex_coord_offset_ext", ("a0", "b1", 2, GL.FLOAT, 32, 20)),
    ("vertex_array_fog_coord_offset_ext", ("a0", "b0", GL.DOUBLE, 16, 24)),
    ("vertex_array_secondary_color_offset_ext", ("a0", "b1", 3, GL.INT, 20, 28)),
    ("vertex_array_vertex_attrib_offset_ext", ("a0", "b0", 2, 3, GL.SHORT, GL.TRUE, 10, 6)),
    ("vertex_array_vertex_attrib_i_offset_ext", ("a0", "b1", 15, 2, GL.INT, 12, 7)),
    ("vertex_array_vertex_attrib_l_offset_ext", ("a0", "b1", 2, 1, GL.DOUBLE, 24, 8)),
    ("vertex_array_multi_tex_coord_offset_ext", ("a0", "b0", T + 3, 3, GL.SHORT, 18, 11)),
    ("vertex_array_multi_tex_coord_offset_ext", ("a0", "b0", T + 7, 1, GL.FLOAT, 4, 13)),
    ("vertex_array_multi_tex_coord_offset_ext", ("a1", "b0", T, 1, GL.FLOAT, 4, -4)),
    ("vertex_array_vertex_attrib_divisor_ext", ("a0", 2, 5)),
    ("multi_tex_coord_pointer_ext", (T + 3, 2, GL.SHORT, 6, 17)),
    ("client_active_texture", (T + 1,)),
    ("multi_tex_coord_pointer_ext", (T + 7, 4, GL.FLOAT, 0, 19)),
    ("enable_vertex_array_ext", ("a0", GL.VERTEX_ARRAY)),
    ("enable_vertex_array_ext", ("a0", GL.TEXTURE_COORD_ARRAY)),
    ("enable_vertex_array_ext", ("a0", T + 3)),
    ("enable_vertex_array_ext", ("a0", T + 7)),
    ("enable_vertex_array_ext", ("a0", T + 8)),
    ("enable_vertex_array_ext", ("a0", GL.TEXTURE_2D)),
    ("enable_vertex_array_ext", ("a1", GL.COLOR_ARRAY)),
    ("disable_vertex_array_ext", ("a0", T + 3)),
    ("disable_vertex_array_ext", ("a1", GL.COLOR_ARRAY)),
    ("enable_client_state_indexed_ext", (GL.TEXTURE_COORD_ARRAY, 3)),
    ("enable_client_state_indexed_ext", (GL.TEXTURE_COORD_ARRAY, 7)),
    ("enable_client_state_indexed_ext", (GL.TEXTURE_COORD_ARRAY, 8)),
    ("enable_client_state_indexed_ext", (GL.VERTEX_ARRAY, 0)),
    ("disable_client_state_indexed_ext", (GL.TEXTURE_COORD_ARRAY, 3)),
    ("enable_client_statei_ext", (GL.TEXTURE_COORD_ARRAY, 1)),
    ("disable_client_statei_ext", (GL.TEXTURE_COORD_ARRAY, 8)),
    ("disable_client_statei_ext", (GL.TEXTURE_COORD_ARRAY, 1)),
    ("enable_vertex_array_attrib_ext", ("a0", 2)),
    ("disable_vertex_array_attrib_ext", ("a0", 2)),
    ("enable_vertex_array_attrib_ext", (0, 2)),
    ("enable_vertex_array_attrib_ext", (77, 2)),
    ("enable_vertex_array_ext", ("a2", GL.VERTEX_ARRAY)),
    ("vertex_array_vertex_offset_ext", ("a0", "b3", 2, GL.FLOAT, 8, 0)),
    ("vertex_array_vertex_offset_ext", ("a0", 99, 2, GL.FLOAT, 8, 0)),
    ("vertex_array_bind_vertex_buffer_ext", ("a0", 2, "b1", 32, 12)),
    ("vertex_array_vertex_attrib_format_ext", ("a0", 2, 2, GL.BYTE, GL.FALSE, 4)),
    ("vertex_array_vertex_attrib_i_format_ext", ("a0", 15, 3, GL.BYTE, 8)),
    ("vertex_array_vertex_attrib_binding_ext", ("a0", 15, 2)),
    ("vertex_array_vertex_binding_divisor_ext", ("a0", 2, 9)),
]

SET = [
    ("vertex_array_secondary_color_offset_ext", ("a1", "b1", 3, GL.INT, 20, 28)),
    ("bind_vertex_array", ("a1",)),
    ("vertex_attrib_pointer", (3, 2, GL.FLOAT, GL.FALSE, 8, 16)),
    ("bind_buffer", (GL.ELEMENT_ARRAY_BUFFER, "b1")),
    ("bind_buffer", (GL.PIXEL_PACK_BUFFER, "b1")),
    ("bind_buffer", (GL.PIXEL_UNPACK_BUFFER, "b2")),
    ("pixel_storei", (GL.UNPACK_ALIGNMENT, 2)),
    ("pixel_storei", (GL.PACK_ALIGNMENT, 8)),
    ("primitive_restart_index_nv", (7,)),
    ("client_active_texture", (T + 3,)),
    ("tex_coord_pointer", (3, GL.SHORT, 6, 12)),
    ("enable_client_state", (GL.TEXTURE_COORD_ARRAY,)),
]
CHANGED = [
    ("bind_buffer", (GL.ARRAY_BUFFER, "b0")),
    ("vertex_array_secondary_color_offset_ext", ("a1", "b0", 3, GL.FLOAT, 16, 4)),
    ("vertex_attrib_pointer", (3, 4, GL.SHORT, GL.TRUE, 12, 20)),
    ("disable_client_state", (GL.TEXTURE_COORD_ARRAY,)),
    ("bind_buffer", (GL.ELEMENT_ARRAY_BUFFER, "b0")),
    ("bind_buffer", (GL.PIXEL_PACK_BUFFER, "b0")),
    ("bind_buffer", (GL.PIXEL_UNPACK_BUFFER, 0)),
    ("pixel_storei", (GL.UNPACK_ALIGNMENT, 1)),
    ("pixel_storei", (GL.PACK_ALIGNMENT, 2)),
    ("primitive_restart_index_nv", (9,)),
    ("enable_client_state", (GL.PRIMITIVE_RESTART_NV,)),
    ("client_active_texture", (T + 1,)),
    ("bind_vertex_array", ("a0",)),
]
GROUPS = {"none": 0, "pixels": GL.CLIENT_PIXEL_STORE_BIT, "arrays": GL.CLIENT_VERTEX_ARRAY_BIT,
          "all": GL.CLIENT_ALL_ATTRIB_BITS}  # fmt: skip


def made(both: tuple[Side, Side], calls: list[tuple[str, tuple[Any, ...]]]) -> None:
    """After each of the calls both tell the same."""
    for number, (method, given) in enumerate(calls):
        found = []
        for side in both:
            names = {"a": side.arrays, "b": side.buffers}
            arguments = [names[g[0]][int(g[1])] if isinstance(g, str) else g for g in given]
            getattr(side.gl, method)(*arguments)
            found.append(side.everything())
        wrong = {k: (v, found[1][k]) for k, v in found[0].items() if v != found[1][k]}
        if "default" in method:  # of four numbers at first, says the native GL alone
            wrong.pop("1: SECONDARY_COLOR_SIZE", None)
        assert not wrong, (number, method, given)


def test_arrays_by_name(both: tuple[Side, Side]) -> None:
    made(both, CALLS)


@pytest.mark.parametrize("group", GROUPS)
def test_what_the_client_pushes_comes_back(both: tuple[Side, Side], group: str) -> None:
    push, pop = ("push_client_attrib", (GROUPS[group],)), ("pop_client_attrib", ())
    made(both, [*SET, push, *CHANGED, push, pop, pop, pop])


@pytest.mark.parametrize("group", GROUPS)
def test_what_the_client_pushes_is_as_at_first(both: tuple[Side, Side], group: str) -> None:
    push = ("push_client_attrib_default_ext", (GROUPS[group],))
    made(both, [*SET, push, ("pop_client_attrib", ())])
    made(both, [("client_attrib_default_ext", (GROUPS[group],))])


@pytest.mark.parametrize("group", GROUPS)
def test_what_is_popped_after_another_array_was_bound(both: tuple[Side, Side], group: str) -> None:
    push = ("push_client_attrib", (GROUPS[group],))
    made(both, [*SET, push, ("bind_vertex_array", ("a0",)), ("vertex_pointer", (2, GL.INT, 0, 8)),
                ("pop_client_attrib", ())])  # fmt: skip


def test_pushed_state_is_released_with_the_context(both: tuple[Side, Side]) -> None:
    """Every test ends with a look at what is left of a context."""
    side = both[0]
    made((side, both[1]), SET)
    side.gl.push_client_attrib(GL.CLIENT_ALL_ATTRIB_BITS)
    side.gl.push_client_attrib(GL.CLIENT_PIXEL_STORE_BIT)
    side.gl.push_client_attrib(0)
    side.gl.push_attrib(GL.ALL_ATTRIB_BITS)
    side.gl.push_attrib(GL.POINT_BIT)
    side.gl.delete_vertex_arrays(2, side.arrays[:2])
    side.gl.delete_buffers(3, side.buffers[:3])
    assert side.error() == "GL_NO_ERROR"
