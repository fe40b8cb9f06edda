"""Which values stand at an edge, for each kind of parameter in the table of functions.

A limit is named and looked up in the context that is asked, since two GLs have different ones. What
has no named limit gets the numbers around zero, around the sizes of the objects the calls work on,
and the ends of its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import numpy as np

from gallette.state_tracker import GL, GLInterface
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Kind, Param

# Limit, what is added to it (the first enum of a range, say), then METHOD.parameter patterns.
_LIMITS = """
MAX_VERTEX_ATTRIBS 0 *vertex_attrib*.index *.attribindex bind_attrib_location.index
MAX_VERTEX_ATTRIBS 0 *able_vertex_array_attrib.index get_vertex_array_index*.index
MAX_VERTEX_ATTRIB_BINDINGS 0 *.bindingindex bind_vertex_buffers.first bind_vertex_buffers.count
MAX_VERTEX_ATTRIB_STRIDE 0 vertex_attrib_pointer.stride bind_vertex_buffer.stride
MAX_VERTEX_ATTRIB_STRIDE 0 vertex_array_vertex_buffer.stride
MAX_VERTEX_ATTRIB_RELATIVE_OFFSET 0 *.relativeoffset
MAX_COMBINED_TEXTURE_IMAGE_UNITS 0 bind_texture_unit.unit bind_sampler.unit
MAX_COMBINED_TEXTURE_IMAGE_UNITS 0 bind_samplers.first bind_textures.first
MAX_COMBINED_TEXTURE_IMAGE_UNITS TEXTURE0 active_texture.texture
MAX_TEXTURE_COORDS TEXTURE0 client_active_texture.texture
MAX_IMAGE_UNITS 0 bind_image_texture.unit bind_image_textures.first bind_image_textures.count
MAX_UNIFORM_BUFFER_BINDINGS 0 bind_buffer_base.index bind_buffer_range.index
MAX_UNIFORM_BUFFER_BINDINGS 0 bind_buffers_base.first bind_buffers_range.first
MAX_UNIFORM_BUFFER_BINDINGS 0 uniform_block_binding.uniformBlockBinding
MAX_UNIFORM_BUFFER_BINDINGS 0 get_integer64i_v.index
MAX_DRAW_BUFFERS 0 blend_*i.buf color_maski.index enablei.index disablei.index is_enabledi.index
MAX_DRAW_BUFFERS 0 clear_buffer?v.drawbuffer clear_named_framebuffer?v.drawbuffer
MAX_DRAW_BUFFERS 0 bind_frag_data_location*.color* draw_buffers.n
MAX_DRAW_BUFFERS 0 get_booleani_v.index
MAX_DUAL_SOURCE_DRAW_BUFFERS 0 bind_frag_data_location_indexed.colorNumber
MAX_COLOR_ATTACHMENTS COLOR_ATTACHMENT0 *framebuffer_*.attachment *_buffer.buf *_buffer.src
MAX_VIEWPORTS 0 *_indexedf.index *_indexed.index *_arrayv.first *_arrayv.count get_*i_v.index
MAX_VIEWPORT_DIMS 0 viewport.width viewport.height
MAX_SAMPLE_MASK_WORDS 0 sample_maski.maskNumber
MAX_PATCH_VERTICES 1 patch_parameteri.value
MAX_TEXTURE_SIZE 0 tex_image1d.width tex_image2d.width tex_image2d.height tex_storage1d.width
MAX_RECTANGLE_TEXTURE_SIZE 0 tex_storage2d.width tex_storage2d.height
MAX_3D_TEXTURE_SIZE 0 tex_image3d.width tex_image3d.height tex_image3d.depth
MAX_ARRAY_TEXTURE_LAYERS 0 tex_image3d.depth tex_storage3d.depth
MAX_CUBE_MAP_TEXTURE_SIZE 0 tex_image2d.width tex_image2d.height
MAX_RENDERBUFFER_SIZE 0 *renderbuffer_storage*.width *renderbuffer_storage*.height
MAX_FRAMEBUFFER_WIDTH 0 *framebuffer_parameteri.param
MAX_SAMPLES 0 *.samples
MAX_VERTEX_STREAMS 0 *query_index*.index
MAX_LIGHTS LIGHT0 light*.light get_light*.light
MAX_CLIP_DISTANCES CLIP_DISTANCE0 clip_plane.plane get_clip_plane.plane
MAX_CLIP_DISTANCES CLIP_DISTANCE0 enable.cap disable.cap is_enabled.cap
MAX_LIGHTS LIGHT0 enable.cap disable.cap is_enabled.cap
NUM_EXTENSIONS 0 get_stringi.index
MAX_PIXEL_MAP_TABLE 0 pixel_mapfv.mapsize
MAX_EVAL_ORDER 0 map1f.order map2f.uorder map2f.vorder
"""
_AROUND = (0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 31, 32, 33, 60, 61, 63, 64, 65)
_ENDS = {"int": 31, "sizei": 31, "intptr": 31, "sizeiptr": 31, "int64": 31, "uint": 32}
# Work that grows with an argument, or memory that is read: nothing far beyond what is there.
_WORK = "draw_* multi_draw_* eval_mesh* delete_lists gen_* create_* *buffer_data *_storage"
_WORK += " dispatch* call_lists copy_pixels draw_pixels bitmap read_pixels readn_pixels map1f map2f"
_LENGTHS = ("n", "count", "length", "bufSize", "buffers", "propCount", "drawcount", "mapsize")
_LENGTHS += ("numAttachments", "uniformCount", "maxLength")
# Where the native GL computes with the end of a type before it looks at it, and crashes.
_CRASHES = "*_arrayv.first bind_*.first program_*_parameter* get_program_*_parameter* "
_CRASHES += "*tex_image* *tex*_sub_image* copy_image_sub_data*"
_UNDEFINED = "transform_feedback_varyings.count draw_range_elements.* shader_source.count"
_UNDEFINED += " create_shader_programv.count"
# Names: those that are there, and some that are not.
_NAMES = ("program", "shader", "name", "pipeline")
# A name is not deleted, and none near the end of its type is made: Mesa looks for free names there.
_OWN = ("delete_program", "delete_shader", "begin_query", "begin_query_indexed", "query_counter")


@dataclass(frozen=True, slots=True)
class AtLimit:
    """A limit of whichever context it is looked up in, plus a number."""

    name: str
    plus: int

    def resolve(self, gl: GLInterface) -> int:
        return int(gl.get_integerv(getattr(GL, self.name))[0]) + self.plus

    def __str__(self) -> str:
        return f"{self.name}{self.plus:+d}" if self.plus else self.name


def _number(word: str) -> int:
    return int(word) if word.isdigit() else int(getattr(GL, word))


@cache
def _rows() -> list[tuple[str, int, list[str]]]:
    rows = [line.split() for line in _LIMITS.strip().splitlines()]
    return [(name, _number(plus), patterns) for name, plus, *patterns in rows]


def limits_named() -> Iterator[tuple[str, str]]:
    """Every (limit, pattern) of the table."""
    for name, _, patterns in _rows():
        for pattern in patterns:
            yield name, pattern


def limit_of(method: str, param: Param) -> list[tuple[str, int]]:
    """The limits an argument has: (name, what is added)."""
    return _limits_of(f"{method}.{param.name}")


@cache
def _limits_of(place: str) -> list[tuple[str, int]]:
    return [(name, plus) for name, plus, patterns in _rows() if _any_matches(place, patterns)]


def edges_of(method: str, param: Param, value: Any) -> list[Any]:
    """What to try in place of `value`."""
    if param.stars or value is None or isinstance(value, str | np.ndarray):
        return []
    found: list[Any] = []
    for name, plus in limit_of(method, param):
        found += [AtLimit(name, plus + step) for step in (-2, -1, 0, 1)]
    if param.type == "enum":
        found += [value + step for step in range(-40, 41)]
    elif param.type == "bitfield":
        found += [0, *(1 << bit for bit in range(32)), 0xFFFFFFFF]
    elif param.type in ("float", "double", "clampf", "clampd"):
        found += [0.0, -0.0, 1.0, -1.0, 0.5, 90.0, 91.0, 128.0, 129.0, 180.0, 1e30, -1e30]
    elif param.type in _ENDS:
        found += _numbers(method, param)
    unique = dict.fromkeys(v for v in found if isinstance(v, AtLimit | float) or v >= -(1 << 31))
    return [v for v in unique if not (v == value and type(v) is type(value))]


def _numbers(method: str, param: Param) -> Iterator[int]:
    bits = _ENDS[param.type]
    if method in _OWN and param.name not in _LENGTHS:
        yield from (0, 17, 99, 1 << 20)
        return
    if param.kind is Kind.VALUE and param.name == "length":
        yield from (0, 1)
        return
    if param.name in _NAMES:
        yield from (0, 1, 2, 3, 99, 1 << 20)
        return
    place = f"{method}.{param.name}"
    if param.type != "uint":
        yield from (-1, -2, -(1 << 31))
    if _matches(place, _UNDEFINED):
        return
    # Between the limits of two GLs nothing is to be compared.
    yield from _AROUND[:5] if limit_of(method, param) else _AROUND
    if _matches(method, _WORK) or _matches(place, _CRASHES):
        return
    if param.name not in _LENGTHS:
        yield from ((1 << bits) - 2, (1 << bits) - 1)


def _matches(place: str, patterns: str) -> bool:
    return _any_matches(place, patterns.split())


def _any_matches(place: str, patterns: list[str]) -> bool:
    return any(fnmatchcase(place, pattern) for pattern in patterns)


def arguments_for(method: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments of a valid call with memory enough for every edge: what is read or written."""
    room: list[Any] = []
    for param, value in zip(FUNCTIONS.method(method).params, arguments, strict=False):
        if isinstance(value, np.ndarray) and param.stars:
            longer = np.zeros(max(1 << 17, value.size), value.dtype)
            longer[: value.size] = value
            value = longer
        room.append(value)
    return tuple(room)
