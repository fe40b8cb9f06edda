"""Creates the suite's well-known textures and sets their parameters."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import InputError
from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL

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
_RED, _GREEN, _BLUE, _WHITE = (
    np.array(c, np.float32) for c in ((1, 0, 0, 1), (0, 1, 0, 1), (0, 0, 1, 1), (1, 1, 1, 1))
)
Texels = npt.NDArray[np.float32]


def target_of(words: Words) -> int:
    return int(getattr(GL, TARGETS[words.choice("a texture target", *TARGETS)]))


def _new(session: Session, unit: int, target: int, width: int, height: int = 1) -> int:
    """Make a texture on a unit, with nearest filtering; fixed function sees it too."""
    gl = session.gl
    (name,) = gl.gen_textures(1)
    gl.active_texture(GL.TEXTURE0 + unit)
    gl.bind_texture(target, name)
    session.textures[unit] = name
    session.texture_sizes[unit] = width, height
    gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    gl.tex_parameteri(target, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    fixed_function = (GL.TEXTURE_1D, GL.TEXTURE_2D, GL.TEXTURE_3D, GL.TEXTURE_CUBE_MAP)
    if session.is_compat and target in fixed_function:
        gl.enable(target)
    return int(name)


def _quadrants(width: int, height: int) -> Texels:
    """Red, green below; blue, white above."""
    out = np.empty((height, width, 4), np.float32)
    half_w, half_h = width // 2, height // 2
    out[:half_h, :half_w], out[:half_h, half_w:] = _RED, _GREEN
    out[half_h:, :half_w], out[half_h:, half_w:] = _BLUE, _WHITE
    return out


def _layers(count: int) -> Texels:
    """One colour per layer."""
    return np.stack([_RED, _GREEN, _BLUE, _WHITE])[np.arange(count) % 4]


def _upload(
    session: Session, target: int, texels: Texels, form: int = GL.RGBA, level: int = 0
) -> None:
    """Colours, of as many dimensions as the target has."""
    gl = session.gl
    size = texels.shape[-2::-1]
    if session.is_es and target == GL.TEXTURE_2D:
        # ES takes only the layouts its tables list; bytes fit the normalised formats.
        data: npt.NDArray[Any] = (texels * 255 + 0.5).astype(np.uint8)
        internal = GL.RGBA if session.needs.version < (3, 0) else form
        gl.tex_image2d(target, level, internal, *size, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
        return
    upload = getattr(gl, f"tex_image{len(size)}d")
    upload(target, level, form, *size, 0, GL.RGBA, GL.FLOAT, texels)


_UNIT = "integer a texture unit"


@command(
    "texture rgbw", "texture rgbw 2D", reads=f"{_UNIT}, 2 size a size, enum? an internal format"
)
def texture_rgbw(session: Session, unit: int, width: int, height: int, form: int = GL.RGBA) -> None:
    """texture rgbw UNIT (W, H) [GL_FORMAT]: four quadrants red, green, blue, white"""
    _new(session, unit, GL.TEXTURE_2D, width, height)
    for wrap in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        session.gl.tex_parameteri(GL.TEXTURE_2D, wrap, GL.CLAMP_TO_EDGE)
    name = GL.name_of(form)
    texels = _quadrants(width, height)
    if not re.search(r"\dU?I$", name):
        _upload(session, GL.TEXTURE_2D, texels, form)
        return
    kind = GL.UNSIGNED_INT if name.endswith("UI") else GL.INT
    layout = (width, height, 0, GL.RGBA_INTEGER, kind)
    session.gl.tex_image2d(GL.TEXTURE_2D, 0, form, *layout, texels.astype(np.int32))


@command("texture rgbw 3D", reads=_UNIT)
def texture_rgbw_3d(session: Session, unit: int) -> None:
    """texture rgbw 3D UNIT: 2 x 2 x 2; red, green, blue, white, then their mixtures"""
    _new(session, unit, GL.TEXTURE_3D, 2, 2)
    texels = np.empty((2, 2, 2, 4), np.float32)
    texels[0] = [[_RED, _GREEN], [_BLUE, _WHITE]]
    texels[1] = [[_RED + _GREEN, _RED + _BLUE], [_GREEN + _BLUE, _WHITE]]
    texels[..., 3] = 1
    _upload(session, GL.TEXTURE_3D, texels)


def texture_rgbw_layers(session: Session, unit: int, *size: int) -> None:
    size, target = size or (4,), int(getattr(GL, TARGETS[session.head[2]]))
    _new(session, unit, target, size[0], size[1] if len(size) > 2 else 1)
    layers = _layers(size[-1]).reshape(-1, *[1] * (len(size) - 1), 4)
    _upload(session, target, np.broadcast_to(layers, (*size[::-1], 4)).copy())


_CYCLE = "layers cycle through red, green, blue, white"
for _name, _sizes, _usage in (
    ("1D", "", "UNIT: four texels red, green, blue, white"),
    ("2DArray", ", 3 size a size", f"UNIT (W, H, LAYERS): {_CYCLE}"),
    ("1DArray", ", 2 size a size", f"UNIT (W, LAYERS): {_CYCLE}"),
):
    _head = f"texture rgbw {_name}"
    command(_head, reads=_UNIT + _sizes, usage=f"{_head} {_usage}")(texture_rgbw_layers)


_CHANNELS = "number a colour channel"


@command("texture checkerboard", reads=f"2 integer a unit or level, 2 size a size, 8 {_CHANNELS}")
def texture_checkerboard(
    session: Session, unit: int, level: int, width: int, height: int, *colors: float
) -> None:
    """texture checkerboard UNIT LEVEL (W, H) (R G B A) (R G B A): 2 x 2 squares"""
    black, white = colors[:4], colors[4:]
    square = (max(width // 2, 1), max(height // 2, 1))
    texture_quads(session, unit, level, width, height, *square, *black, *white, *white, *black)


@command(
    "texture quads", reads=f"2 integer a unit or level, 4 size a size, 8 {_CHANNELS}, 8 {_CHANNELS}"
)
def texture_quads(
    session: Session, unit: int, level: int, width: int, height: int, *numbers: Any
) -> None:
    """texture quads UNIT LEVEL (W, H) (SW, SH) (R G B A)...: squares of four colours

    They are those of the bottom left, bottom right, top left and top right.
    """
    (across, up), colors = numbers[:2], np.array(numbers[2:], np.float32).reshape(4, 4)
    _new(session, unit, GL.TEXTURE_2D, width, height)
    gl = session.gl
    wrapping = GL.CLAMP_TO_EDGE if session.is_es else GL.CLAMP_TO_BORDER
    for wrap in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        gl.tex_parameteri(GL.TEXTURE_2D, wrap, wrapping)
    if not session.is_es:
        gl.tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR, _RED)
    rows, columns = np.arange(height)[:, None] // up % 2, np.arange(width)[None, :] // across % 2
    _upload(session, GL.TEXTURE_2D, colors[2 * rows + columns], level=level)


@command("texture miptree", reads=_UNIT)
def texture_miptree(session: Session, unit: int) -> None:
    """texture miptree UNIT: 8 x 8 with the levels red, green, blue, white"""
    _new(session, unit, GL.TEXTURE_2D, 8, 8)
    gl = session.gl
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    for level, color in enumerate((_RED, _GREEN, _BLUE, _WHITE)):
        texels = np.broadcast_to(color, (8 >> level, 8 >> level, 4))
        _upload(session, GL.TEXTURE_2D, texels.copy(), level=level)


@command(
    "texture integer",
    reads=f"{_UNIT}, 2 size a size, 2 integer an integer, enum an internal format",
)
def texture_integer(
    session: Session, unit: int, width: int, height: int, step: int, base: int, form: int
) -> None:
    """texture integer UNIT (W, H) (STEP, BASE) GL_FORMAT: texel (x, y) holds BASE + STEP*y + x"""
    _new(session, unit, GL.TEXTURE_2D, width, height)
    texels = np.zeros((height, width, 4), np.int32)
    texels[..., 0] = base + step * np.arange(height)[:, None] + np.arange(width)
    kind = GL.UNSIGNED_INT if GL.name_of(form).endswith("UI") else GL.INT
    gl = session.gl
    if session.is_es:
        # Image units of ES take immutable textures, and uploads in the format's own layout.
        gl.tex_storage2d(GL.TEXTURE_2D, 1, form, width, height)
        red = np.ascontiguousarray(texels[..., 0])
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, width, height, GL.RED_INTEGER, kind, red)
        return
    gl.tex_image2d(GL.TEXTURE_2D, 0, form, width, height, 0, GL.RGBA_INTEGER, kind, texels)


@command("texture junk 2DArray", reads=f"{_UNIT}, 3 size a size")
def texture_junk(session: Session, unit: int, *size: int) -> None:
    """texture junk 2DArray UNIT (W, H, LAYERS): undefined content"""
    _new(session, unit, GL.TEXTURE_2D_ARRAY, *size[:2])
    texels = (np.arange(math.prod(size) * 4) * 7919 % 256).astype(np.uint8)
    layout = (*size, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    session.gl.tex_image3d(GL.TEXTURE_2D_ARRAY, 0, GL.RGBA8, *layout, texels)


@command("texture storage")
def texture_storage(session: Session, words: Words) -> None:
    """texture storage UNIT TARGET GL_FORMAT (LEVELS W [H [D]]): allocated, not filled"""
    unit, target = words.integer("a texture unit"), target_of(words)
    form = enum(words.line, words.word("an internal format"))
    levels, *size = words.sizes(max(len(words), 2))
    if len(size) > 3:
        raise words.line.error("a storage has 1 to 3 sizes")
    layers = target == GL.TEXTURE_1D_ARRAY  # is its height
    _new(session, unit, target, size[0], size[1] if len(size) > 1 and not layers else 1)
    getattr(session.gl, f"tex_storage{len(size)}d")(target, levels, form, *size)


def texture_shadow(session: Session, unit: int, *size: int) -> None:
    name = session.head[1].removeprefix("shadow")
    gl, target = session.gl, int(getattr(GL, TARGETS[name]))
    _new(session, unit, target, size[0], 1 if name.startswith("1D") else size[1])
    ramp = np.linspace(0, 1, size[0], dtype=np.float32)
    texels = np.broadcast_to(ramp, (*size[:0:-1], size[0])).copy()
    faces = [GL.TEXTURE_CUBE_MAP_POSITIVE_X + face for face in range(6)]
    for image in faces if name == "Cube" else [target]:
        layout = (GL.DEPTH_COMPONENT, *size, 0, GL.DEPTH_COMPONENT, GL.FLOAT)
        getattr(gl, f"tex_image{len(size)}d")(image, 0, *layout, texels)
    gl.tex_parameteri(target, GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)
    gl.tex_parameteri(target, GL.TEXTURE_COMPARE_FUNC, GL.GREATER)


_DEPTH_SHAPES = {"1D": 1, "2D": 2, "Rect": 2, "1DArray": 2, "2DArray": 3, "Cube": 2}
for _name, _count in _DEPTH_SHAPES.items():
    _head = f"texture shadow{_name}"
    _usage = f"{_head} UNIT (SIZE): depth rising from 0 to 1 in x"
    command(_head, reads=f"{_UNIT}, {_count} size a size", usage=_usage)(texture_shadow)


_ENUMS = (
    *("min", "mag", "wrap_s", "wrap_t", "wrap_r", "compare_func", "depth_mode"),
    *("swizzle_r", "swizzle_g", "swizzle_b", "swizzle_a"),
)
_NUMBERS = ("lod_bias", "max_level", "base_level", "min_lod", "max_lod")
_LONG = {"min": "MIN_FILTER", "mag": "MAG_FILTER"}


@command("texparameter")
def texture_parameter(session: Session, words: Words) -> None:
    """texparameter TARGET min|mag|wrap_s|...|compare_func|swizzle_r|lod_bias|border_color VALUE"""
    target, name, gl = target_of(words), words.word("a parameter"), session.gl
    if name not in (*_ENUMS, *_NUMBERS, "border_color"):
        raise words.error(f"unknown texture parameter {name!r}")
    long = "DEPTH_TEXTURE_MODE" if name == "depth_mode" else f"TEXTURE_{_LONG.get(name, name)}"
    parameter = int(getattr(GL, long.upper()))
    if name not in _ENUMS:
        what = "a value" if name in _NUMBERS else "a colour channel"
        values = words.array(np.float32, 1 if name in _NUMBERS else 4, what)
        words.end()
        gl.tex_parameterfv(target, parameter, values)
        return
    text = words.word("a value")
    words.end()
    try:
        gl.tex_parameteri(target, parameter, enum(words.line, text.upper()))
    except InputError:
        raise words.line.error(f"unknown value {text!r}") from None


@command("image texture", reads="integer a unit, enum a format")
def image_texture(session: Session, unit: int, form: int) -> None:
    """image texture UNIT GL_FORMAT: bind the texture of that unit as an image"""
    name = session.texture(unit)
    session.gl.bind_image_texture(unit, name, 0, 0, 0, GL.READ_WRITE, form)
