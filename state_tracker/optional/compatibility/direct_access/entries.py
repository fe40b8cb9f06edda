"""The functions of EXT_direct_state_access: derived ones, and the few without an ordinary form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import invalid_enum, invalid_value
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.memory import Pointer
from gallette.state_tracker.entry_points.registry import (
    derives,
    entry,
    implementation,
    implemented,
    register,
)
from gallette.state_tracker.getters import compat_only, gets_indexed, query, to_int
from gallette.state_tracker.optional.compatibility.attrib_stack import push_client_attrib
from gallette.state_tracker.optional.compatibility.client_arrays import (
    pointer_query,
    set_client_state,
)
from gallette.state_tracker.optional.compatibility.direct_access.ordinary_forms import ordinary_form
from gallette.state_tracker.optional.compatibility.direct_access.selectors import (
    SELECTORS,
    array_buffer,
    client_unit,
    vertex_array,
)
from gallette.state_tracker.optional.compatibility.matrices import TEXTURE_UNITS
from gallette.state_tracker.pixel_data.pixels import PackState
from gallette.state_tracker.vertices.vertex_arrays import VertexArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from gallette.state_tracker.context import Context


@derives("GL_EXT_direct_state_access")
def _derived(function: Function) -> Callable[..., Any] | None:
    """The ordinary function, called inside a selector."""
    twin = ordinary_form(function.name)
    if twin is None or twin[0] not in FUNCTIONS or twin[1] not in SELECTORS:
        return None
    inner = implementation(FUNCTIONS[twin[0]])
    if inner is None:
        return None
    count, select = SELECTORS[twin[1]]

    def call(ctx: Context, *args: Any) -> Any:
        with select(ctx, *args[:count]) as leading:
            return inner(ctx, *leading, *args[count:])

    call.stores_itself = getattr(inner, "stores_itself", False)  # type: ignore[attr-defined]
    return call


# -- vertex arrays ---------------------------------------------------------------------------------


def _offset(pointer_function: str) -> Callable[..., Any]:
    """The functions `VertexArray*OffsetEXT(vaobj, buffer, ..., offset)`: a pointer function applied
    to that array.
    """

    def call(ctx: Context, vaobj: int, buffer: int, *args: Any) -> None:
        if args[-1] < 0:
            raise invalid_value("a negative offset")
        with vertex_array(ctx, vaobj), array_buffer(ctx, buffer):
            implemented(pointer_function)(ctx, *args)

    return call


for _name in ("Vertex", "Color", "EdgeFlag", "Index", "Normal", "TexCoord", "FogCoord",
              "SecondaryColor", "VertexAttrib", "VertexAttribI", "VertexAttribL"):  # fmt: skip
    register(FUNCTIONS[f"VertexArray{_name}OffsetEXT"].method, _offset(f"{_name}Pointer"))


def _coordinates(texunit: int) -> int:
    if not 0 <= texunit - GL.TEXTURE0 < TEXTURE_UNITS:
        raise invalid_enum(texunit, "set of texture coordinates")
    return int(texunit - GL.TEXTURE0)


_TEX_COORD_OFFSET = _offset("TexCoordPointer")


@entry
def vertex_array_multi_tex_coord_offset_ext(
    ctx: Context, vaobj: int, buffer: int, texunit: int, *args: Any
) -> None:
    with client_unit(ctx, _coordinates(texunit)):
        _TEX_COORD_OFFSET(ctx, vaobj, buffer, *args)


@entry
def multi_tex_coord_pointer_ext(
    ctx: Context, texunit: int, size: int, type: int, stride: int, pointer: Pointer
) -> None:
    with client_unit(ctx, _coordinates(texunit)):
        implemented("TexCoordPointer")(ctx, size, type, stride, pointer)


def _switch_array(on: bool) -> Callable[..., None]:
    def call(ctx: Context, vaobj: int, array: int) -> None:
        unit = ctx.arrays.client_unit
        if 0 <= array - GL.TEXTURE0 < TEXTURE_UNITS:
            array, unit = GL.TEXTURE_COORD_ARRAY, array - GL.TEXTURE0
        with vertex_array(ctx, vaobj), client_unit(ctx, unit):
            set_client_state(ctx, array, on)

    return call


def _switch_coordinates(on: bool) -> Callable[..., None]:
    def call(ctx: Context, array: int, index: int) -> None:
        if array != GL.TEXTURE_COORD_ARRAY:
            raise invalid_enum(array, "indexed client array")
        if index >= TEXTURE_UNITS:
            raise invalid_value(f"there is no set {index} of texture coordinates")
        with client_unit(ctx, index):
            set_client_state(ctx, array, on)

    return call


for _verb, _on in (("enable", True), ("disable", False)):
    register(f"{_verb}_vertex_array_ext", _switch_array(_on))
    register(f"{_verb}_client_state_indexed_ext", _switch_coordinates(_on))
    register(f"{_verb}_client_statei_ext", _switch_coordinates(_on))


@entry
def vertex_array_vertex_attrib_divisor_ext(
    ctx: Context, vaobj: int, index: int, divisor: int
) -> None:
    with vertex_array(ctx, vaobj):
        implemented("VertexAttribDivisor")(ctx, index, divisor)


@entry
def get_vertex_array_integerv_ext(ctx: Context, vaobj: int, pname: int) -> list[int]:
    with vertex_array(ctx, vaobj):
        return [to_int(v, False) for v in query(ctx, pname)]


@entry
def get_vertex_array_pointerv_ext(ctx: Context, vaobj: int, pname: int) -> list[int]:
    with vertex_array(ctx, vaobj):
        found = pointer_query(ctx, pname)
    if found is None:
        raise invalid_enum(pname, "pointer of a vertex array")
    return [found]


_COORDINATE_QUERIES = frozenset(
    (
        GL.TEXTURE_COORD_ARRAY,
        GL.TEXTURE_COORD_ARRAY_SIZE,
        GL.TEXTURE_COORD_ARRAY_TYPE,
        GL.TEXTURE_COORD_ARRAY_STRIDE,
        GL.TEXTURE_COORD_ARRAY_BUFFER_BINDING,
    )
)


@entry
def get_vertex_array_integeri_v_ext(ctx: Context, vaobj: int, index: int, pname: int) -> list[int]:
    with vertex_array(ctx, vaobj):
        if pname in _COORDINATE_QUERIES:
            if index >= TEXTURE_UNITS:
                raise invalid_value(f"there is no set {index} of texture coordinates")
            with client_unit(ctx, index):
                return [to_int(v, False) for v in query(ctx, pname)]
        values: list[int] = implemented("GetVertexAttribiv")(ctx, index, pname)
        return values


def _indexed_pointer(ctx: Context, index: int, pname: int) -> list[int]:
    if pname != GL.TEXTURE_COORD_ARRAY_POINTER:
        raise invalid_enum(pname, "indexed pointer")
    if index >= TEXTURE_UNITS:
        raise invalid_value(f"there is no set {index} of texture coordinates")
    with client_unit(ctx, index):
        return [pointer_query(ctx, pname) or 0]


@entry
def get_vertex_array_pointeri_v_ext(ctx: Context, vaobj: int, index: int, pname: int) -> list[int]:
    with vertex_array(ctx, vaobj):
        if pname == GL.VERTEX_ATTRIB_ARRAY_POINTER:
            found: list[int] = implemented("GetVertexAttribPointerv")(ctx, index, pname)
            return found
        return _indexed_pointer(ctx, index, pname)


register("get_pointer_indexedv_ext", lambda ctx, t, index: _indexed_pointer(ctx, index, t))
register("get_pointeri_v_ext", lambda ctx, t, index: _indexed_pointer(ctx, index, t))


# -- indexed queries -------------------------------------------------------------------------------

for _kind in ("float", "double"):
    register(f"get_{_kind}_indexedv_ext", implemented(f"Get{_kind.capitalize()}i_v"))


def _of_unit(name: str, default: Any = None) -> Callable[[Context, int], Any]:
    """A query of one unit; `default` is the result for units that fixed function does not have."""

    def get(ctx: Context, index: int) -> Any:
        if default is not None and index >= TEXTURE_UNITS:
            return default
        saved, ctx.textures.active = ctx.textures.active, index
        try:
            return query(ctx, getattr(GL, name))
        finally:
            ctx.textures.active = saved

    return get


def _of_coordinates(name: str) -> Callable[[Context, int], Any]:
    def get(ctx: Context, index: int) -> Any:
        with client_unit(ctx, index):
            return query(ctx, getattr(GL, name))

    return get


gets_indexed(
    compat_only(),
    {
        f"TEXTURE_{name}": _of_unit(f"TEXTURE_{name}", 0)
        for name in ("1D", "2D", "3D", "CUBE_MAP", "RECTANGLE", "GEN_S", "GEN_T", "GEN_R", "GEN_Q")
    },
)
gets_indexed(
    compat_only(TEXTURE_UNITS),
    {
        name: _of_unit(name)
        for name in ("TEXTURE_MATRIX", "TRANSPOSE_TEXTURE_MATRIX", "TEXTURE_STACK_DEPTH",
                     "CURRENT_TEXTURE_COORDS")
    }
    | {
        f"TEXTURE_COORD_ARRAY{name}": _of_coordinates(f"TEXTURE_COORD_ARRAY{name}")
        for name in ("", "_SIZE", "_TYPE", "_STRIDE", "_BUFFER_BINDING")
    },
)  # fmt: skip


# -- framebuffers ----------------------------------------------------------------------------------


@entry
def get_framebuffer_parameteriv_ext(ctx: Context, framebuffer: int, pname: int) -> list[int]:
    """Query draw and read buffers of a framebuffer; other parameters as its core version does."""
    _, select = SELECTORS["framebuffer"]
    with select(ctx, framebuffer):
        names = ctx.framebuffers.names
        found = names.require(framebuffer) if framebuffer else ctx.framebuffers.window
        index = pname - GL.DRAW_BUFFER0
        if pname == GL.DRAW_BUFFER:
            index = 0
        if 0 <= index < len(found.draw_buffers):
            return [int(found.draw_buffers[index])]
        if pname == GL.READ_BUFFER:
            return [int(found.read_buffer)]
        values: list[int] = implemented("GetNamedFramebufferParameteriv")(ctx, framebuffer, pname)
        return values


# -- the client's attributes -----------------------------------------------------------------------


@entry
def client_attrib_default_ext(ctx: Context, mask: int) -> None:
    """Reset groups of the client's state to their initial values."""
    bind = implemented("BindBuffer")
    if mask & GL.CLIENT_PIXEL_STORE_BIT:
        ctx.pack, ctx.unpack = PackState(), PackState()
        bind(ctx, GL.PIXEL_PACK_BUFFER, 0)
        bind(ctx, GL.PIXEL_UNPACK_BUFFER, 0)
    if mask & GL.CLIENT_VERTEX_ARRAY_BIT:
        vao, fresh = ctx.arrays.current, VertexArray(0)
        vao.destroy()  # only releases its buffers
        vao.attribs, vao.bindings = fresh.attribs, fresh.bindings
        vao.changed()
        bind(ctx, GL.ARRAY_BUFFER, 0)
        ctx.arrays.client_unit = 0
        ctx.raster.primitive_restart, ctx.raster.restart_index = False, 0


@entry
def push_client_attrib_default_ext(ctx: Context, mask: int) -> None:
    push_client_attrib(ctx, mask)
    client_attrib_default_ext(ctx, mask)
