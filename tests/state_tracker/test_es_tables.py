"""OpenGL ES's tables of formats: what may be given, drawn to, read, copied, resolved.

Each table is walked on our ES context and on the native one. Where they differ, a line below says
why: the native GL takes more than the specification does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.texturing.es_formats import es_format
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS
from tests.conftest import native_context
from tests.state_tracker.helpers import errors

pytestmark = pytest.mark.native

SIZED = """
R8 R8_SNORM RG8 RG8_SNORM RGB8 RGB8_SNORM RGB565 RGBA4 RGB5_A1 RGBA8 RGBA8_SNORM RGB10_A2
RGB10_A2UI SRGB8 SRGB8_ALPHA8 R16F RG16F RGB16F RGBA16F R32F RG32F RGB32F RGBA32F R11F_G11F_B10F
RGB9_E5 R8I R8UI R16I R16UI R32I R32UI RG8I RG8UI RG16I RG16UI RG32I RG32UI RGB8I RGB8UI RGB16I
RGB16UI RGB32I RGB32UI RGBA8I RGBA8UI RGBA16I RGBA16UI RGBA32I RGBA32UI
"""
DEPTHS = """
DEPTH_COMPONENT16 DEPTH_COMPONENT24 DEPTH_COMPONENT32F DEPTH24_STENCIL8 DEPTH32F_STENCIL8
STENCIL_INDEX8
"""
UNSIZED = "RGBA RGB LUMINANCE ALPHA LUMINANCE_ALPHA RED RG DEPTH_COMPONENT DEPTH_STENCIL"
FORMATS = """
RED RG RGB RGBA RED_INTEGER RG_INTEGER RGB_INTEGER RGBA_INTEGER LUMINANCE ALPHA LUMINANCE_ALPHA
DEPTH_COMPONENT DEPTH_STENCIL STENCIL_INDEX
"""
TYPES = """
UNSIGNED_BYTE BYTE UNSIGNED_SHORT SHORT UNSIGNED_INT INT HALF_FLOAT FLOAT UNSIGNED_SHORT_5_6_5
UNSIGNED_SHORT_4_4_4_4 UNSIGNED_SHORT_5_5_5_1 UNSIGNED_INT_2_10_10_10_REV
UNSIGNED_INT_10F_11F_11F_REV UNSIGNED_INT_5_9_9_9_REV UNSIGNED_INT_24_8
FLOAT_32_UNSIGNED_INT_24_8_REV
"""

Answers = dict[str, object]


def _named(names: str) -> dict[str, int]:
    return {name: int(getattr(GL, name)) for name in names.split()}


def _error(gl: GLInterface) -> str:
    found = errors(gl)
    return found[0] if found else ""


def _texture(gl: GLInterface) -> int:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    return int(name)


def images(gl: GLInterface) -> Answers:
    """Which format and type each internal format takes."""
    found: Answers = {}
    pixels = bytes(256)
    for (name, internal), (f, form), (t, kind) in itertools.product(
        _named(SIZED + DEPTHS + UNSIZED).items(), _named(FORMATS).items(), _named(TYPES).items()
    ):
        texture = _texture(gl)
        gl.tex_image2d(GL.TEXTURE_2D, 0, internal, 4, 4, 0, form, kind, pixels)
        found[f"{name} {f} {t}"] = _error(gl) == ""
        gl.delete_textures(1, [texture])
    return found


def attachments(gl: GLInterface) -> Answers:
    """What can be attached, as a texture and as a renderbuffer."""
    found: Answers = {}
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    points = _named("COLOR_ATTACHMENT0 DEPTH_ATTACHMENT STENCIL_ATTACHMENT")
    for name, internal in _named(SIZED + DEPTHS).items():
        texture = _texture(gl)
        gl.tex_storage2d(GL.TEXTURE_2D, 1, internal, 8, 8)
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage(GL.RENDERBUFFER, internal, 8, 8)
        found[f"{name} storage"] = _error(gl)
        for point, at in points.items():
            gl.framebuffer_texture2d(GL.FRAMEBUFFER, at, GL.TEXTURE_2D, texture, 0)
            status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
            found[f"{name} texture {point}"] = status == GL.FRAMEBUFFER_COMPLETE
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, at, GL.RENDERBUFFER, buffer)
            status = gl.check_framebuffer_status(GL.FRAMEBUFFER)
            found[f"{name} renderbuffer {point}"] = status == GL.FRAMEBUFFER_COMPLETE
            gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, at, GL.RENDERBUFFER, 0)
        gl.delete_textures(1, [texture])
        gl.delete_renderbuffers(1, [buffer])
        errors(gl)
    return found


def _color_buffer(gl: GLInterface, internal: int, samples: int = 0) -> bool:
    """A bound framebuffer with a colour buffer of that format; false if it is not complete."""
    (framebuffer,), (buffer,) = gl.gen_framebuffers(1), gl.gen_renderbuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
    gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, internal, 8, 8)
    point = GL.COLOR_ATTACHMENT0
    gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
    errors(gl)
    return bool(gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE)


READ = "RED RG RGB RGBA RED_INTEGER RG_INTEGER RGB_INTEGER RGBA_INTEGER BGRA_EXT"
PACKED_BGRA = " UNSIGNED_SHORT_4_4_4_4_REV UNSIGNED_SHORT_1_5_5_5_REV"


def reads(gl: GLInterface) -> Answers:
    """What a colour buffer of each format is read as."""
    found: Answers = {}
    for name, internal in _named(SIZED).items():
        if _color_buffer(gl, internal):
            for (f, form), (t, kind) in itertools.product(
                _named(READ).items(), _named(TYPES + PACKED_BGRA).items()
            ):
                gl.read_pixels(0, 0, 2, 2, form, kind, bytearray(64))
                found[f"{name} {f} {t}"] = _error(gl) == ""
    return found


def copies(gl: GLInterface) -> Answers:
    """From which colour buffers textures of each format are copied."""
    found: Answers = {}
    for name, internal in _named(SIZED).items():
        if _color_buffer(gl, internal):
            for wanted, target in _named(
                SIZED + "RGBA RGB LUMINANCE ALPHA LUMINANCE_ALPHA"
            ).items():
                texture = _texture(gl)
                gl.copy_tex_image2d(GL.TEXTURE_2D, 0, target, 0, 0, 4, 4, 0)
                found[f"{name} {wanted}"] = _error(gl) == ""
                gl.delete_textures(1, [texture])
    return found


def resolves(gl: GLInterface) -> Answers:
    """Blits between colour buffers with and without samples."""
    found: Answers = {}
    some = _named("R8 RGB565 RGBA8 SRGB8_ALPHA8 RGBA8I RGBA8UI RGBA16F")
    for (a, source), (b, target), (n, m) in itertools.product(
        some.items(), some.items(), ((0, 0), (4, 0), (0, 4), (4, 4))
    ):
        _color_buffer(gl, source, n)
        read = gl.get_integerv(GL.FRAMEBUFFER_BINDING)[0]
        _color_buffer(gl, target, m)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, read)
        for filter, to in itertools.product((GL.NEAREST, GL.LINEAR), ((0, 0, 8, 8), (8, 0, 0, 8))):
            gl.blit_framebuffer(0, 0, 8, 8, *to, GL.COLOR_BUFFER_BIT, filter)
            found[f"{a}*{n} {b}*{m} {filter} {to}"] = _error(gl)
    return found


def mipmaps(gl: GLInterface) -> Answers:
    """Of which formats mipmaps are generated."""
    found: Answers = {}
    for name, internal in _named(SIZED + DEPTHS).items():
        texture = _texture(gl)
        gl.tex_storage2d(GL.TEXTURE_2D, 2, internal, 8, 8)
        errors(gl)
        gl.generate_mipmap(GL.TEXTURE_2D)
        found[name] = _error(gl)
        gl.delete_textures(1, [texture])
    return found


def compressed(gl: GLInterface) -> Answers:
    """Which targets take which compressed format, as pixels, as blocks, as storage."""
    found: Answers = {}
    volumes = _named("TEXTURE_3D TEXTURE_2D_ARRAY TEXTURE_CUBE_MAP_ARRAY")
    planes = _named("TEXTURE_2D TEXTURE_CUBE_MAP_NEGATIVE_X")
    for value, info in INTERNAL_FORMATS.items():
        if not info.is_compressed or "ASTC_1" in info.name:
            continue
        block = info.candidates[0]
        size = block.rows(24) * block.row_bytes(24)
        sizes = {0: size, 1: 6 * size}
        for name, target in (volumes | planes).items():
            layers = (6,) if name in volumes else ()
            bound = target if name != "TEXTURE_CUBE_MAP_NEGATIVE_X" else GL.TEXTURE_CUBE_MAP
            images: tuple[Any, ...] = (
                ("tex_image", target, 0, value, 24, 24, *layers, 0, GL.RGBA, GL.UNSIGNED_BYTE),
                ("compressed_tex_image", target, 0, value, 24, 24, *layers, 0, sizes[len(layers)]),
                ("tex_storage", bound, 1, value, 24, 24, *layers),
            )
            for method, *arguments in images:
                (texture,) = gl.gen_textures(1)
                gl.bind_texture(bound, texture)
                more = () if method == "tex_storage" else (None,)
                getattr(gl, f"{method}{2 + len(layers)}d")(*arguments, *more)
                found[f"{info.name} {name} {method}"] = _error(gl)
                gl.delete_textures(1, [texture])
    return found


# What the native GL does and the specification does not.
_NATIVE = {
    # The buffer's own pair (IMPLEMENTATION_COLOR_READ_*): that of its format, here.
    "RG8_SNORM RG BYTE", "RGB8 RGB UNSIGNED_BYTE", "RGB5_A1 RGBA UNSIGNED_SHORT_5_5_5_1",
    "RGB5_A1 RGBA UNSIGNED_SHORT_1_5_5_5_REV",
    "RGB16F RGB HALF_FLOAT", "RGB16F RGBA HALF_FLOAT",
    "RGB16F",  # EXT_color_buffer_half_float makes it renderable, and it is filterable
    # EXT_texture_format_BGRA8888 and EXT_texture_rg say nothing of halves by that name.
    "RED RED HALF_FLOAT", "RG RG HALF_FLOAT",
}  # fmt: skip


@pytest.mark.parametrize(
    "walk",
    [images, attachments, reads, copies, resolves, mipmaps, compressed],
    ids=lambda w: w.__name__,
)
def test_a_table_is_the_native_ones(walk: Callable[[GLInterface], Answers]) -> None:
    _check(walk, {"profile": "es", "version": (3, 0), "size": (16, 16)})


def test_compressed_formats_of_desktop_gl_are_accepted_for_the_native_targets() -> None:
    _check(compressed, {"profile": "compat", "version": (4, 5)}, _ONLINE)


# GL_ARB_ES3_compatibility does not say which of two errors: 3D, or not to be compressed here.
_ONLINE = frozenset(
    f"{info.name} TEXTURE_3D tex_image"
    for info in INTERNAL_FORMATS.values()
    if "ETC2" in info.name or "EAC" in info.name
)


def _check(
    walk: Callable[[GLInterface], Answers],
    options: dict[str, Any],
    but: frozenset[str] = frozenset(),
) -> None:
    ours = create_context("numpipe", **options)
    mine = walk(ours)
    ours.release()
    native = native_context(**options)
    theirs = walk(native)
    native.release()
    assert mine.keys() == theirs.keys()
    assert len(mine) > 50
    off = {k: (v, theirs[k]) for k, v in mine.items() if v != theirs[k] and k not in _NATIVE | but}
    assert off == {}


def test_own_pairs_can_be_read() -> None:
    """What IMPLEMENTATION_COLOR_READ_* answer, glReadPixels takes."""
    gl = create_context("numpipe", profile="es", version=(3, 0), size=(16, 16))
    for name, internal in _named(SIZED).items():
        row = es_format(internal)
        assert row is not None
        assert _color_buffer(gl, internal) == row.renderable, name
        if row.renderable:
            form = gl.get_integerv(GL.IMPLEMENTATION_COLOR_READ_FORMAT)[0]
            kind = gl.get_integerv(GL.IMPLEMENTATION_COLOR_READ_TYPE)[0]
            gl.read_pixels(0, 0, 2, 2, form, kind, bytearray(64))
            assert errors(gl) == [], name
    gl.release()
