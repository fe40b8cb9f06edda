"""Making the suite's well-known textures and setting their parameters."""

from __future__ import annotations

import math
import re
from functools import partial

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import InputError
from gallette.piglit_subset.commands.registry import calls, command
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__ = ["TARGETS", "target_of", "texture_on"]

TARGETS: dict[str, str] = {
    "1D": "TEXTURE_1D",
    "2D": "TEXTURE_2D",
    "3D": "TEXTURE_3D",
    "Rect": "TEXTURE_RECTANGLE",
    "Cube": "TEXTURE_CUBE_MAP",
    "1DArray": "TEXTURE_1D_ARRAY",
    "2DArray": "TEXTURE_2D_ARRAY",
    "CubeArray": "TEXTURE_CUBE_MAP_ARRAY",
    "2DMS": "TEXTURE_2D_MULTISAMPLE",
    "2DMSArray": "TEXTURE_2D_MULTISAMPLE_ARRAY",
}
_COLORS = _RED, _GREEN, _BLUE, _WHITE = tuple(
    np.array(c, np.float32) for c in ((1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (1, 1, 1, 1))
)
Texels = npt.NDArray[np.float32]


def target_of(words: Words) -> int:
    name = words.word("a texture target")
    if name not in TARGETS:
        raise words.error(f"unknown texture target {name!r} (one of {', '.join(TARGETS)})")
    return int(getattr(GL, TARGETS[name]))


def _new(session: Session, unit: int, target: int) -> int:
    """Make a texture on a unit, with nearest filtering; fixed function sees it too."""
    gl = session.gl
    (name,) = gl.gen_textures(1)
    gl.active_texture(GL.TEXTURE0 + unit)
    gl.bind_texture(target, name)
    session.textures[unit] = name
    session.uniform_cache[f"texture target {unit}"] = target
    gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    fixed_function = (GL.TEXTURE_1D, GL.TEXTURE_2D, GL.TEXTURE_3D, GL.TEXTURE_CUBE_MAP)
    if session.is_compat and target in fixed_function:
        gl.enable(target)
    return int(name)


def texture_on(session: Session, line: Line, unit: int) -> int:
    """The texture that this test made on a unit."""
    if unit not in session.textures:
        raise line.error(f"no texture was made on unit {unit}")
    return session.textures[unit]


def _quadrants(width: int, height: int) -> Texels:
    """Red, green below; blue, white above."""
    out = np.empty((height, width, 4), np.float32)
    half_w, half_h = width // 2, height // 2
    out[:half_h, :half_w], out[:half_h, half_w:] = _RED, _GREEN
    out[half_h:, :half_w], out[half_h:, half_w:] = _BLUE, _WHITE
    return out


def _layers(count: int, *size: int) -> Texels:
    """One colour per layer."""
    colors = np.stack(_COLORS)[np.arange(count) % 4]
    return np.broadcast_to(colors.reshape(count, *[1] * len(size), 4), (count, *size, 4)).copy()


def _upload(
    session: Session, target: int, texels: Texels, form: int = GL.RGBA, level: int = 0
) -> None:
    """A level as large as the array of its colours."""
    size = texels.shape[-2::-1]
    data, internal, kind = texels, form, GL.FLOAT
    if session.is_es:
        # ES takes only the layouts its tables list; bytes fit the normalised formats.
        data = (texels * 255 + 0.5).astype(np.uint8)
        internal, kind = GL.RGBA if session.needs.version < (3, 0) else form, GL.UNSIGNED_BYTE
    upload = getattr(session.gl, f"tex_image{len(size)}d")
    upload(target, level, internal, *size, 0, GL.RGBA, kind, data)


@command("texture rgbw", "texture rgbw 2D")
def texture_rgbw(session: Session, line: Line, words: Words) -> None:
    """texture rgbw UNIT (W, H) [GL_FORMAT]: four quadrants red, green, blue, white"""
    unit = words.integer("a texture unit")
    width, height = words.sizes(2)
    form = GL.RGBA if words.done else enum(line, words.word("an internal format"))
    words.end()
    _new(session, unit, GL.TEXTURE_2D)
    for wrap in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        session.gl.tex_parameteri(GL.TEXTURE_2D, wrap, GL.CLAMP_TO_EDGE)
    integer = re.search(r"\d(U?I)$", GL.name_of(form))
    if not integer:
        _upload(session, GL.TEXTURE_2D, _quadrants(width, height), form)
        return
    texels = _quadrants(width, height).astype(np.int32)
    layout = (GL.RGBA_INTEGER, GL.UNSIGNED_INT if integer[1] == "UI" else GL.INT)
    session.gl.tex_image2d(GL.TEXTURE_2D, 0, form, width, height, 0, *layout, texels)


def _rgbw_1d(session: Session, unit: int) -> None:
    _new(session, unit, GL.TEXTURE_1D)
    _upload(session, GL.TEXTURE_1D, np.stack(_COLORS))


def _rgbw_3d(session: Session, unit: int) -> None:
    _new(session, unit, GL.TEXTURE_3D)
    texels = np.empty((2, 2, 2, 4), np.float32)
    texels[0] = [[_RED, _GREEN], [_BLUE, _WHITE]]
    texels[1] = [[_RED + _GREEN, _RED + _BLUE], [_GREEN + _BLUE, _WHITE]]
    texels[..., 3] = 1
    _upload(session, GL.TEXTURE_3D, texels)


def _rgbw_2d_array(session: Session, unit: int, width: int, height: int, layers: int) -> None:
    _new(session, unit, GL.TEXTURE_2D_ARRAY)
    _upload(session, GL.TEXTURE_2D_ARRAY, _layers(layers, height, width))


def _rgbw_1d_array(session: Session, unit: int, width: int, layers: int) -> None:
    _new(session, unit, GL.TEXTURE_1D_ARRAY)
    _upload(session, GL.TEXTURE_1D_ARRAY, _layers(layers, width))


def _checkerboard(
    session: Session, unit: int, level: int, width: int, height: int, *colors: float
) -> None:
    _new(session, unit, GL.TEXTURE_2D)
    rows = np.arange(height)[:, None] // max(height // 2, 1)
    columns = np.arange(width)[None, :] // max(width // 2, 1)
    texels = np.array(colors, np.float32).reshape(2, 4)[(rows ^ columns) & 1]
    _upload(session, GL.TEXTURE_2D, texels, level=level)


def _miptree(session: Session, unit: int) -> None:
    _new(session, unit, GL.TEXTURE_2D)
    filter_ = GL.NEAREST_MIPMAP_NEAREST
    session.gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, filter_)
    for level, color in enumerate(_COLORS):
        texels = np.broadcast_to(color, (8 >> level, 8 >> level, 4)).copy()
        _upload(session, GL.TEXTURE_2D, texels, level=level)


def _integers(
    session: Session, unit: int, width: int, height: int, step: int, base: int, form: int
) -> None:
    gl, target = session.gl, GL.TEXTURE_2D
    _new(session, unit, target)
    texels = np.zeros((height, width, 4), np.int32)
    texels[..., 0] = base + step * np.arange(height)[:, None] + np.arange(width)
    kind = GL.UNSIGNED_INT if GL.name_of(form).endswith("UI") else GL.INT
    if session.is_es:
        # Image units of ES take immutable textures, and uploads in the format's own layout.
        gl.tex_storage2d(target, 1, form, width, height)
        red = np.ascontiguousarray(texels[..., 0])
        gl.tex_sub_image2d(target, 0, 0, 0, width, height, GL.RED_INTEGER, kind, red)
        return
    gl.tex_image2d(target, 0, form, width, height, 0, GL.RGBA_INTEGER, kind, texels)


def _junk(session: Session, unit: int, *size: int) -> None:
    _new(session, unit, GL.TEXTURE_2D_ARRAY)
    texels = (np.arange(math.prod(size) * 4) * 7919 % 256).astype(np.uint8)
    layout = (GL.RGBA, GL.UNSIGNED_BYTE)
    session.gl.tex_image3d(GL.TEXTURE_2D_ARRAY, 0, GL.RGBA8, *size, 0, *layout, texels)


@command("texture storage")
def texture_storage(session: Session, line: Line, words: Words) -> None:
    """texture storage UNIT TARGET GL_FORMAT (LEVELS W [H [D]]): allocated, not filled"""
    unit = words.integer("a texture unit")
    target = target_of(words)
    form = enum(line, words.word("an internal format"))
    levels, *size = words.sizes(max(len(words), 2))
    _new(session, unit, target)
    if len(size) > 3:
        raise line.error("a storage has 1 to 3 sizes")
    getattr(session.gl, f"tex_storage{len(size)}d")(target, levels, form, *size)


def _shadow(name: str, session: Session, unit: int, *size: int) -> None:
    gl, target = session.gl, int(getattr(GL, TARGETS[name]))
    _new(session, unit, target)
    ramp = np.linspace(0, 1, size[0], dtype=np.float32)
    texels = np.broadcast_to(ramp, (*size[:0:-1], size[0])).copy()
    upload = getattr(gl, f"tex_image{len(size)}d")
    sides = [GL.TEXTURE_CUBE_MAP_POSITIVE_X + i for i in range(6)] if name == "Cube" else [target]
    for side in sides:
        upload(side, 0, GL.DEPTH_COMPONENT, *size, 0, GL.DEPTH_COMPONENT, GL.FLOAT, texels)
    gl.tex_parameteri(target, GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)
    gl.tex_parameteri(target, GL.TEXTURE_COMPARE_FUNC, GL.GREATER)


_UNIT = "integer a texture unit"
_SHADOWS = {"1D": 1, "2D": 2, "Rect": 2, "1DArray": 2, "2DArray": 3, "Cube": 2}
calls(
    (
        ("texture rgbw 1D", "UNIT: four texels red, green, blue, white", _rgbw_1d, _UNIT),
        ("texture rgbw 3D", "UNIT: 2 x 2 x 2; red, green, blue, white, then their mixtures",
         _rgbw_3d, _UNIT),
        ("texture rgbw 2DArray", "UNIT (W, H, LAYERS): layers red, green, blue, white in turn",
         _rgbw_2d_array, f"{_UNIT}, 3 size"),
        ("texture rgbw 1DArray", "UNIT (W, LAYERS): layers red, green, blue, white in turn",
         _rgbw_1d_array, f"{_UNIT}, 2 size"),
        ("texture checkerboard", "UNIT LEVEL (W, H) (R G B A) (R G B A): 2 x 2 squares",
         _checkerboard, "2 integer a unit or level, 2 size, 8 number a colour channel"),
        ("texture miptree", "UNIT: 8 x 8 with the levels red, green, blue, white", _miptree, _UNIT),
        ("texture integer",
         "UNIT (W, H) (STEP, BASE) GL_FORMAT: texel (x, y) holds BASE + STEP*y + x", _integers,
         f"{_UNIT}, 2 size, 2 integer an integer, enum an internal format"),
        ("texture junk 2DArray", "UNIT (W, H, LAYERS): content nobody may rely on", _junk,
         f"{_UNIT}, 3 size"),
        *((f"texture shadow{name}", "UNIT (SIZE): depth rising from 0 to 1 in x",
           partial(_shadow, name), f"{_UNIT}, {count} size") for name, count in _SHADOWS.items()),
    )
)  # fmt: skip

_PARAMETERS = {
    "min": "TEXTURE_MIN_FILTER",
    "mag": "TEXTURE_MAG_FILTER",
    "compare_func": "TEXTURE_COMPARE_FUNC",
    "depth_mode": "DEPTH_TEXTURE_MODE",
    **{f"wrap_{axis}": f"TEXTURE_WRAP_{axis.upper()}" for axis in "str"},
    **{f"swizzle_{channel}": f"TEXTURE_SWIZZLE_{channel.upper()}" for channel in "rgba"},
}
_NUMBERS = ("lod_bias", "max_level", "base_level", "min_lod", "max_lod")


@command("texparameter")
def texture_parameter(session: Session, line: Line, words: Words) -> None:
    """texparameter TARGET min|mag|wrap_s|...|compare_func|depth_mode|lod_bias|max_level VALUE"""
    target = target_of(words)
    name = words.word("a parameter")
    if name in _NUMBERS:
        value = words.number("a value")
        words.end()
        session.gl.tex_parameterf(target, int(getattr(GL, f"TEXTURE_{name.upper()}")), value)
        return
    if name not in _PARAMETERS:
        raise words.error(f"unknown texture parameter {name!r}")
    text = words.word("a value")
    words.end()
    try:
        chosen = enum(line, text.upper())
    except InputError:
        raise line.error(f"unknown value {text!r}") from None
    session.gl.tex_parameteri(target, int(getattr(GL, _PARAMETERS[name])), chosen)


@command("image texture")
def image_texture(session: Session, line: Line, words: Words) -> None:
    """image texture UNIT GL_FORMAT: bind the texture of that unit as an image"""
    unit = words.integer("a unit")
    form = enum(line, words.word("a format"))
    words.end()
    name = texture_on(session, line, unit)
    session.gl.bind_image_texture(unit, name, 0, 0, 0, GL.READ_WRITE, form)
