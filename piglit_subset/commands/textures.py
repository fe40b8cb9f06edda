"""Making the suite's well-known textures and setting their parameters."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import InputError
from gallette.piglit_subset.commands.registry import command
from gallette.piglit_subset.session import Session, enum
from gallette.piglit_subset.text import Line, Words
from gallette.state_tracker.entry_points.enums import GL

__all__ = ["TARGETS"]

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


def _upload2d(session: Session, target: int, level: int, form: int, texels: Texels) -> None:
    gl = session.gl
    height, width = texels.shape[:2]
    if session.is_es:
        # ES takes only the layouts its tables list; bytes fit the normalised formats.
        data: npt.NDArray[Any] = (texels * 255 + 0.5).astype(np.uint8)
        internal = GL.RGBA if session.needs.version < (3, 0) else form
        gl.tex_image2d(target, level, internal, width, height, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
        return
    gl.tex_image2d(target, level, form, width, height, 0, GL.RGBA, GL.FLOAT, texels)


def _format(line: Line, words: Words, default: int) -> int:
    return default if words.done else enum(line, words.word("an internal format"))


@command("texture rgbw", "texture rgbw 2D")
def texture_rgbw(session: Session, line: Line, words: Words) -> None:
    """texture rgbw UNIT (W, H) [GL_FORMAT]: four quadrants red, green, blue, white"""
    unit = words.integer("a texture unit")
    width, height = words.sizes(2)
    form = _format(line, words, GL.RGBA)
    words.end()
    _new(session, unit, GL.TEXTURE_2D)
    for wrap in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        session.gl.tex_parameteri(GL.TEXTURE_2D, wrap, GL.CLAMP_TO_EDGE)
    name = GL.name_of(form)
    if re.search(r"\dU?I$", name):
        integers = (_quadrants(width, height)).astype(np.int32)
        kind = GL.UNSIGNED_INT if name.endswith("UI") else GL.INT
        session.gl.tex_image2d(
            GL.TEXTURE_2D, 0, form, width, height, 0, GL.RGBA_INTEGER, kind, integers
        )
        return
    _upload2d(session, GL.TEXTURE_2D, 0, form, _quadrants(width, height))


@command("texture rgbw 1D")
def texture_rgbw_1d(session: Session, line: Line, words: Words) -> None:
    """texture rgbw 1D UNIT: four texels red, green, blue, white"""
    unit = words.integer("a texture unit")
    words.end()
    _new(session, unit, GL.TEXTURE_1D)
    texels = np.stack([_RED, _GREEN, _BLUE, _WHITE])
    session.gl.tex_image1d(GL.TEXTURE_1D, 0, GL.RGBA, 4, 0, GL.RGBA, GL.FLOAT, texels)


@command("texture rgbw 3D")
def texture_rgbw_3d(session: Session, line: Line, words: Words) -> None:
    """texture rgbw 3D UNIT: 2 x 2 x 2; red, green, blue, white, then their mixtures"""
    unit = words.integer("a texture unit")
    words.end()
    _new(session, unit, GL.TEXTURE_3D)
    texels = np.empty((2, 2, 2, 4), np.float32)
    texels[0] = [[_RED, _GREEN], [_BLUE, _WHITE]]
    texels[1] = [[_RED + _GREEN, _RED + _BLUE], [_GREEN + _BLUE, _WHITE]]
    texels[..., 3] = 1
    session.gl.tex_image3d(GL.TEXTURE_3D, 0, GL.RGBA, 2, 2, 2, 0, GL.RGBA, GL.FLOAT, texels)


@command("texture rgbw 2DArray")
def texture_rgbw_2d_array(session: Session, line: Line, words: Words) -> None:
    """texture rgbw 2DArray UNIT (W, H, LAYERS): layers red, green, blue, white in turn"""
    unit = words.integer("a texture unit")
    width, height, layers = words.sizes(3)
    words.end()
    _new(session, unit, GL.TEXTURE_2D_ARRAY)
    texels = np.broadcast_to(_layers(layers)[:, None, None], (layers, height, width, 4)).copy()
    session.gl.tex_image3d(
        GL.TEXTURE_2D_ARRAY, 0, GL.RGBA, width, height, layers, 0, GL.RGBA, GL.FLOAT, texels
    )


@command("texture rgbw 1DArray")
def texture_rgbw_1d_array(session: Session, line: Line, words: Words) -> None:
    """texture rgbw 1DArray UNIT (W, LAYERS): layers red, green, blue, white in turn"""
    unit = words.integer("a texture unit")
    width, layers = words.sizes(2)
    words.end()
    _new(session, unit, GL.TEXTURE_1D_ARRAY)
    texels = np.broadcast_to(_layers(layers)[:, None], (layers, width, 4)).copy()
    session.gl.tex_image2d(
        GL.TEXTURE_1D_ARRAY, 0, GL.RGBA, width, layers, 0, GL.RGBA, GL.FLOAT, texels
    )


@command("texture checkerboard")
def texture_checkerboard(session: Session, line: Line, words: Words) -> None:
    """texture checkerboard UNIT LEVEL (W, H) (R G B A) (R G B A): 2 x 2 squares"""
    unit, level = words.integers(2, "a unit or level")
    width, height = words.sizes(2)
    black = np.array(words.numbers(4, "a colour channel"), np.float32)
    white = np.array(words.numbers(4, "a colour channel"), np.float32)
    words.end()
    _new(session, unit, GL.TEXTURE_2D)
    rows = np.arange(height)[:, None] // max(height // 2, 1)
    columns = np.arange(width)[None, :] // max(width // 2, 1)
    odd = ((rows ^ columns) & 1).astype(bool)
    texels = np.where(odd[..., None], white, black).astype(np.float32)
    _upload2d(session, GL.TEXTURE_2D, level, GL.RGBA, texels)


@command("texture miptree")
def texture_miptree(session: Session, line: Line, words: Words) -> None:
    """texture miptree UNIT: 8 x 8 with the levels red, green, blue, white"""
    unit = words.integer("a texture unit")
    words.end()
    _new(session, unit, GL.TEXTURE_2D)
    gl = session.gl
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    for level, color in enumerate((_RED, _GREEN, _BLUE, _WHITE)):
        size = 8 >> level
        texels = np.broadcast_to(color, (size, size, 4)).copy()
        _upload2d(session, GL.TEXTURE_2D, level, GL.RGBA, texels)


@command("texture integer")
def texture_integer(session: Session, line: Line, words: Words) -> None:
    """texture integer UNIT (W, H) (STEP, BASE) GL_FORMAT: texel (x, y) holds BASE + STEP*y + x"""
    unit = words.integer("a texture unit")
    width, height = words.sizes(2)
    step, base = words.integers(2)
    form = enum(line, words.word("an internal format"))
    words.end()
    _new(session, unit, GL.TEXTURE_2D)
    signed = not GL.name_of(form).endswith("UI")
    texels = np.zeros((height, width, 4), np.int32)
    texels[..., 0] = base + step * np.arange(height)[:, None] + np.arange(width)
    kind = GL.INT if signed else GL.UNSIGNED_INT
    gl = session.gl
    if session.is_es:
        # Image units of ES take immutable textures, and uploads in the format's own layout.
        gl.tex_storage2d(GL.TEXTURE_2D, 1, form, width, height)
        red = np.ascontiguousarray(texels[..., 0])
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, width, height, GL.RED_INTEGER, kind, red)
        return
    gl.tex_image2d(GL.TEXTURE_2D, 0, form, width, height, 0, GL.RGBA_INTEGER, kind, texels)


@command("texture junk 2DArray")
def texture_junk(session: Session, line: Line, words: Words) -> None:
    """texture junk 2DArray UNIT (W, H, LAYERS): content nobody may rely on"""
    unit = words.integer("a texture unit")
    width, height, layers = words.sizes(3)
    words.end()
    _new(session, unit, GL.TEXTURE_2D_ARRAY)
    count = width * height * layers
    texels = (np.arange(count * 4) * 7919 % 256).astype(np.uint8)
    size, bytes_ = (width, height, layers), GL.UNSIGNED_BYTE
    session.gl.tex_image3d(GL.TEXTURE_2D_ARRAY, 0, GL.RGBA8, *size, 0, GL.RGBA, bytes_, texels)


@command("texture storage")
def texture_storage(session: Session, line: Line, words: Words) -> None:
    """texture storage UNIT TARGET GL_FORMAT (LEVELS W [H [D]]): allocated, not filled"""
    unit = words.integer("a texture unit")
    target = target_of(words)
    form = enum(line, words.word("an internal format"))
    levels, *size = words.sizes(max(len(words), 2))
    _new(session, unit, target)
    storage = {1: "tex_storage1d", 2: "tex_storage2d", 3: "tex_storage3d"}
    if len(size) not in storage:
        raise line.error("a storage has 1 to 3 sizes")
    getattr(session.gl, storage[len(size)])(target, levels, form, *size)


_DEPTH_SHAPES = {"1D": 1, "2D": 2, "Rect": 2, "1DArray": 2, "2DArray": 3, "Cube": 2}


def _shadow(target_name: str) -> Any:
    def run(session: Session, line: Line, words: Words) -> None:
        unit = words.integer("a texture unit")
        size = words.sizes(_DEPTH_SHAPES[target_name])
        words.end()
        _depth_texture(session, unit, target_name, size)

    run.__doc__ = f"texture shadow{target_name} UNIT (SIZE): depth rising from 0 to 1 in x"
    return run


for _name in _DEPTH_SHAPES:
    command(f"texture shadow{_name}")(_shadow(_name))


def _depth_texture(session: Session, unit: int, target_name: str, size: list[int]) -> None:
    gl = session.gl
    target = int(getattr(GL, TARGETS[target_name]))
    _new(session, unit, target)
    ramp = np.linspace(0, 1, size[0], dtype=np.float32)
    texels = np.broadcast_to(ramp, (*size[:0:-1], size[0])).copy()
    form, kind = GL.DEPTH_COMPONENT, GL.FLOAT
    if target_name == "Cube":
        for face in range(6):
            side = GL.TEXTURE_CUBE_MAP_POSITIVE_X + face
            gl.tex_image2d(side, 0, form, *size, 0, form, kind, texels)
    else:
        upload = getattr(gl, f"tex_image{len(size)}d")
        upload(target, 0, form, *size, 0, form, kind, texels)
    gl.tex_parameteri(target, GL.TEXTURE_COMPARE_MODE, GL.COMPARE_REF_TO_TEXTURE)
    gl.tex_parameteri(target, GL.TEXTURE_COMPARE_FUNC, GL.GREATER)


_PARAMETERS = {
    "min": "TEXTURE_MIN_FILTER",
    "mag": "TEXTURE_MAG_FILTER",
    "wrap_s": "TEXTURE_WRAP_S",
    "wrap_t": "TEXTURE_WRAP_T",
    "wrap_r": "TEXTURE_WRAP_R",
    "compare_func": "TEXTURE_COMPARE_FUNC",
    "depth_mode": "DEPTH_TEXTURE_MODE",
}
_NUMBERS = {
    "lod_bias": "TEXTURE_LOD_BIAS",
    "max_level": "TEXTURE_MAX_LEVEL",
    "base_level": "TEXTURE_BASE_LEVEL",
    "min_lod": "TEXTURE_MIN_LOD",
    "max_lod": "TEXTURE_MAX_LOD",
}


@command("texparameter")
def texture_parameter(session: Session, line: Line, words: Words) -> None:
    """texparameter TARGET min|mag|wrap_s|...|compare_func|depth_mode|lod_bias|max_level VALUE"""
    target = target_of(words)
    name = words.word("a parameter")
    if name in _NUMBERS:
        value = words.number("a value")
        words.end()
        session.gl.tex_parameterf(target, int(getattr(GL, _NUMBERS[name])), value)
        return
    if name in ("swizzle_r", "swizzle_g", "swizzle_b", "swizzle_a"):
        parameter = f"TEXTURE_{name.upper()}"
    elif name in _PARAMETERS:
        parameter = _PARAMETERS[name]
    else:
        raise words.error(f"unknown texture parameter {name!r}")
    text = words.word("a value")
    words.end()
    try:
        chosen = enum(line, text.upper())
    except InputError:
        raise line.error(f"unknown value {text!r}") from None
    session.gl.tex_parameteri(target, int(getattr(GL, parameter)), chosen)


@command("image texture")
def image_texture(session: Session, line: Line, words: Words) -> None:
    """image texture UNIT GL_FORMAT: bind the texture of that unit as an image"""
    unit = words.integer("a unit")
    form = enum(line, words.word("a format"))
    words.end()
    if unit not in session.textures:
        raise line.error(f"no texture was made on unit {unit}")
    session.gl.bind_image_texture(unit, session.textures[unit], 0, 0, 0, GL.READ_WRITE, form)
