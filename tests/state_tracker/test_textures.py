"""Texture images, parameters and completeness, on our GL and on the native one."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, pixels, program, quad

SAMPLE_FS = """#version 330
uniform sampler2D image;
uniform vec2 at;
out vec4 result;
void main() { result = texture(image, at); }
"""


def bound(gl: GLInterface, target: int = GL.TEXTURE_2D) -> int:
    (name,) = gl.gen_textures(1)
    gl.bind_texture(target, name)
    return int(name)


def sampled(gl: GLInterface, s: float = 0.5, t: float = 0.5) -> list[int]:
    """The colour at one place of the texture bound to unit 0."""
    name = program(gl, fragment=SAMPLE_FS)
    quad(gl, name)
    gl.uniform2f(gl.get_uniform_location(name, "at"), s, t)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    found: list[int] = pixels(gl)[32, 32].tolist()
    return found


FORMATS = [
    # internal format, client format, client type, one pixel as sent, as read back with RGBA floats
    ("R8", "RED", "UNSIGNED_BYTE", np.array([51], np.uint8), (0.2, 0, 0, 1)),
    ("RG8", "RG", "UNSIGNED_BYTE", np.array([51, 102], np.uint8), (0.2, 0.4, 0, 1)),
    ("RGB8", "RGB", "UNSIGNED_BYTE", np.array([51, 102, 153], np.uint8), (0.2, 0.4, 0.6, 1)),
    ("RGBA8", "BGRA", "UNSIGNED_BYTE", np.array([51, 0, 255, 51], np.uint8), (1, 0, 0.2, 0.2)),
    ("RGBA8", "RGBA", "FLOAT", np.array([2, -1, 0.2, 0.4], np.float32), (1, 0, 0.2, 0.4)),
    ("RGBA8", "BGRA", "UNSIGNED_INT_8_8_8_8_REV", np.array([0x33FF0066], np.uint32),
     (1, 0, 0.4, 0.2)),
    ("RGBA16", "RGBA", "UNSIGNED_SHORT", np.array([0, 65535, 13107, 26214], np.uint16),
     (0, 1, 0.2, 0.4)),
    ("RGBA16F", "RGBA", "HALF_FLOAT", np.array([2, -1, 0.5, 4], np.float16), (2, -1, 0.5, 4)),
    ("RGBA32F", "RGBA", "FLOAT", np.array([2, -1, 0.3, 4], np.float32), (2, -1, 0.3, 4)),
    ("RGB32F", "RGB", "FLOAT", np.array([2, -1, 0.3], np.float32), (2, -1, 0.3, 1)),
    ("RGB5_A1", "RGBA", "UNSIGNED_SHORT_5_5_5_1", np.array([0xF801], np.uint16), (1, 0, 0, 1)),
    ("RGB565", "RGB", "UNSIGNED_SHORT_5_6_5", np.array([0x07E0], np.uint16), (0, 1, 0, 1)),
    ("RGB10_A2", "RGBA", "UNSIGNED_INT_2_10_10_10_REV", np.array([0xC00003FF], np.uint32),
     (1, 0, 0, 1)),
    ("R11F_G11F_B10F", "RGB", "FLOAT", np.array([1.5, 0.25, 4], np.float32), (1.5, 0.25, 4, 1)),
    ("RGB9_E5", "RGB", "FLOAT", np.array([1.5, 0.25, 4], np.float32), (1.5, 0.25, 4, 1)),
    ("RGBA8_SNORM", "RGBA", "BYTE", np.array([127, -127, 0, 127], np.int8), (1, -1, 0, 1)),
    ("SRGB8_ALPHA8", "RGBA", "UNSIGNED_BYTE", np.array([51, 102, 153, 204], np.uint8),
     (0.2, 0.4, 0.6, 0.8)),
]  # fmt: skip


@pytest.mark.parametrize(
    ("internal", "format", "type", "pixel", "expected"),
    FORMATS,
    ids=[f"{f[0]}-{f[1]}-{f[2]}" for f in FORMATS],
)
def test_pixels_come_back_in_float(
    gl: GLInterface,
    internal: str,
    format: str,
    type: str,
    pixel: npt.NDArray[Any],
    expected: tuple[float, ...],
) -> None:
    bound(gl)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    data = np.tile(pixel, 15)
    gl.tex_image2d(
        GL.TEXTURE_2D,
        0,
        getattr(GL, internal),
        5,
        3,
        0,
        getattr(GL, format),
        getattr(GL, type),
        data,
    )
    assert errors(gl) == []
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.FLOAT)
    image = np.frombuffer(raw, np.float32).reshape(3, 5, 4)
    assert np.allclose(image, expected, atol=1e-6)


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_integer_pixels_keep_their_bits(gl: GLInterface, bits: int) -> None:
    bound(gl)
    values = np.array([1, 2**bits - 1, 77, 2 ** (bits - 1)], np.uint32)
    internal = getattr(GL, f"RGBA{bits}UI")
    gl.tex_image2d(GL.TEXTURE_2D, 0, internal, 1, 1, 0, GL.RGBA_INTEGER, GL.UNSIGNED_INT, values)
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA_INTEGER, GL.UNSIGNED_INT)
    assert np.frombuffer(raw, np.uint32).tolist() == values.tolist()


def test_unpack_state_says_where_pixels_are(gl: GLInterface) -> None:
    bound(gl)
    source = np.arange(6 * 5, dtype=np.uint8).reshape(6, 5)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.pixel_storei(GL.UNPACK_ROW_LENGTH, 5)
    gl.pixel_storei(GL.UNPACK_SKIP_ROWS, 1)
    gl.pixel_storei(GL.UNPACK_SKIP_PIXELS, 2)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.R8, 3, 4, 0, GL.RED, GL.UNSIGNED_BYTE, source)
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RED, GL.UNSIGNED_BYTE)
    assert np.frombuffer(raw, np.uint8).reshape(4, 3).tolist() == source[1:5, 2:5].tolist()


def test_pack_alignment_leaves_gaps_untouched(gl: GLInterface) -> None:
    bound(gl)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    data = bytes(range(6))
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.R8, 3, 2, 0, GL.RED, GL.UNSIGNED_BYTE, data)
    out = np.full(8, 99, np.uint8)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RED, GL.UNSIGNED_BYTE, out)
    assert out.tolist() == [0, 1, 2, 99, 3, 4, 5, 99]


def test_sub_images_replace_a_part(gl: GLInterface) -> None:
    bound(gl)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.R8, 4, 4, 0, GL.RED, GL.UNSIGNED_BYTE, bytes(16))
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 1, 2, 2, 1, GL.RED, GL.UNSIGNED_BYTE, b"\x07\x08\0\0")
    raw = np.frombuffer(gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RED, GL.UNSIGNED_BYTE), np.uint8)
    assert raw.reshape(4, 4)[2].tolist() == [0, 7, 8, 0]
    assert raw.sum() == 15
    gl.tex_sub_image2d(GL.TEXTURE_2D, 0, 3, 0, 2, 1, GL.RED, GL.UNSIGNED_BYTE, bytes(4))
    assert errors(gl) == ["GL_INVALID_VALUE"]


def test_levels_defined_in_any_order_make_a_complete_texture(gl: GLInterface) -> None:
    bound(gl)
    for level in (2, 0, 1):
        size = 4 >> level
        data = np.full((size, size, 4), 80 * (level + 1), np.uint8)
        gl.tex_image2d(
            GL.TEXTURE_2D, level, GL.RGBA8, size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE, data
        )
    gl.tex_parameterf(GL.TEXTURE_2D, GL.TEXTURE_MIN_LOD, 1.0)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    assert sampled(gl)[0] == 160


def test_levels_of_a_wrong_size_make_it_incomplete(gl: GLInterface) -> None:
    bound(gl)
    white = np.full(4 * 4 * 4, 255, np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, white)
    gl.tex_image2d(GL.TEXTURE_2D, 1, GL.RGBA8, 3, 3, 0, GL.RGBA, GL.UNSIGNED_BYTE, white)
    gl.tex_image2d(GL.TEXTURE_2D, 2, GL.RGBA8, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, white)
    assert sampled(gl) == [0, 0, 0, 255]
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR)
    assert sampled(gl) == [255, 255, 255, 255]
    gl.tex_image2d(GL.TEXTURE_2D, 1, GL.RGBA8, 2, 2, 0, GL.RGBA, GL.UNSIGNED_BYTE, white)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.LINEAR_MIPMAP_LINEAR)
    assert sampled(gl) == [255, 255, 255, 255]


def test_what_is_incomplete_has_no_border(gl: GLInterface) -> None:
    bound(gl)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_WRAP_T, GL.CLAMP_TO_BORDER)
    gl.tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR, np.ones(4, np.float32))
    assert sampled(gl, 0.5, 2.0) == [0, 0, 0, 255]


def test_a_redefined_base_level_replaces_the_chain(gl: GLInterface) -> None:
    bound(gl)
    red = np.tile(np.array([255, 0, 0, 255], np.uint8), 16)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, red)
    gl.generate_mipmap(GL.TEXTURE_2D)
    assert sampled(gl) == [255, 0, 0, 255]
    blue = np.tile(np.array([0, 0, 255, 255], np.uint8), 64)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 8, 8, 0, GL.RGBA, GL.UNSIGNED_BYTE, blue)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    assert sampled(gl) == [0, 0, 255, 255]
    gl.generate_mipmap(GL.TEXTURE_2D)
    gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, GL.NEAREST_MIPMAP_NEAREST)
    gl.tex_parameterf(GL.TEXTURE_2D, GL.TEXTURE_MIN_LOD, 3.0)
    assert sampled(gl) == [0, 0, 255, 255]


def test_generated_mipmaps_average(gl: GLInterface) -> None:
    bound(gl)
    data = np.zeros((4, 4, 4), np.uint8)
    data[:2, :2] = 200
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    gl.generate_mipmap(GL.TEXTURE_2D)
    level1 = np.frombuffer(gl.get_tex_image(GL.TEXTURE_2D, 1, GL.RED, GL.UNSIGNED_BYTE), np.uint8)
    assert level1[[0, 1, 4, 5]].tolist() == [200, 0, 0, 0]
    level2 = np.frombuffer(gl.get_tex_image(GL.TEXTURE_2D, 2, GL.RGBA, GL.UNSIGNED_BYTE), np.uint8)
    assert level2[0] == 50
    assert gl.get_tex_level_parameteriv(GL.TEXTURE_2D, 2, GL.TEXTURE_WIDTH) == [1]


def test_immutable_storage(gl: GLInterface) -> None:
    bound(gl)
    gl.tex_storage2d(GL.TEXTURE_2D, 3, GL.RGBA8, 8, 4)
    assert errors(gl) == []
    assert gl.get_tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_IMMUTABLE_FORMAT) == [1]
    assert gl.get_tex_level_parameteriv(GL.TEXTURE_2D, 2, GL.TEXTURE_WIDTH) == [2]
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    assert errors(gl) == ["GL_INVALID_OPERATION"]
    gl.tex_storage2d(GL.TEXTURE_2D, 1, GL.RGBA8, 8, 4)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


_NO_SIZE = (
    r"[1-4]|BGRA|STENCIL_INDEX|DEPTH_(COMPONENT|STENCIL)|(COMPRESSED_)?"
    r"(RED|RG|S?RGB|S?RGB_?ALPHA|RGBA|ALPHA|S?LUMINANCE(_ALPHA)?|INTENSITY)"
)


def test_immutable_storage_has_a_sized_format() -> None:
    """The native GL forgets numbers of components, what is sRGB without a size, and others."""
    gl, made = create_context("numpipe", profile="compat"), []
    for value in INTERNAL_FORMATS:
        (texture,) = gl.create_textures(GL.TEXTURE_2D, 1)
        gl.texture_storage2d(texture, 1, value, 4, 4)
        made.append(gl.get_error())
        gl.delete_textures(1, [texture])
    names = {info.name: error for info, error in zip(INTERNAL_FORMATS.values(), made, strict=True)}
    assert names.pop("ETC1_RGB8_OES") == GL.INVALID_ENUM  # which is of OpenGL ES
    assert set(names.values()) == {GL.NO_ERROR, GL.INVALID_ENUM}
    refused = {name for name, error in names.items() if error == GL.INVALID_ENUM}
    assert refused == {name for name in names if re.fullmatch(_NO_SIZE, name)}
    gl.release()


def test_swizzles_and_sampler_objects_apply(gl: GLInterface) -> None:
    bound(gl)
    data = np.array([10, 20, 30, 40], np.uint8)
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 1, 1, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    (sampler,) = gl.gen_samplers(1)
    gl.sampler_parameteri(sampler, GL.TEXTURE_MIN_FILTER, GL.NEAREST)
    assert sampled(gl) == [10, 20, 30, 40]  # one level is the whole chain of a 1x1 texture
    swizzle = [GL.ALPHA, GL.ZERO, GL.RED, GL.ONE]
    gl.tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_SWIZZLE_RGBA, swizzle)
    gl.bind_sampler(0, sampler)
    assert sampled(gl) == [40, 0, 10, 255]
    gl.sampler_parameterfv(sampler, GL.TEXTURE_BORDER_COLOR, [0.0, 1.0, 0.0, 1.0])
    for pname in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        gl.sampler_parameteri(sampler, pname, GL.CLAMP_TO_BORDER)
    gl.sampler_parameteri(sampler, GL.TEXTURE_MAG_FILTER, GL.NEAREST)
    assert sampled(gl, 1.5, 0.5) == [255, 0, 0, 255]


def test_texture_parameters_come_back(gl: GLInterface) -> None:
    bound(gl)
    gl.tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR, [0.25, 0.5, 0.75, 1.0])
    found = gl.get_tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR)
    assert found == [0.25, 0.5, 0.75, 1.0]
    gl.tex_parameterf(GL.TEXTURE_2D, GL.TEXTURE_MAX_LOD, 4.5)
    assert gl.get_tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_MAX_LOD) == [4.5]
    assert gl.get_tex_parameteriv(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER) == [
        GL.NEAREST_MIPMAP_LINEAR
    ]
    bound(gl, GL.TEXTURE_RECTANGLE)
    assert gl.get_tex_parameteriv(GL.TEXTURE_RECTANGLE, GL.TEXTURE_WRAP_S) == [GL.CLAMP_TO_EDGE]
    gl.tex_parameteri(GL.TEXTURE_RECTANGLE, GL.TEXTURE_WRAP_S, GL.REPEAT)
    assert errors(gl) == ["GL_INVALID_ENUM"]


def test_proxy_textures_answer_what_would_fit(gl: GLInterface) -> None:
    edge = gl.get_integerv(GL.MAX_TEXTURE_SIZE)[0]
    args = (GL.RGBA, GL.UNSIGNED_BYTE, None)
    gl.tex_image2d(GL.PROXY_TEXTURE_2D, 0, GL.RGBA8, 64, 32, 0, *args)
    assert gl.get_tex_level_parameteriv(GL.PROXY_TEXTURE_2D, 0, GL.TEXTURE_WIDTH) == [64]
    gl.tex_image2d(GL.PROXY_TEXTURE_2D, 0, GL.RGBA8, edge * 2, 32, 0, *args)
    assert gl.get_tex_level_parameteriv(GL.PROXY_TEXTURE_2D, 0, GL.TEXTURE_WIDTH) == [0]
    assert errors(gl) == []


PROXIES = {
    "1D": (16,),
    "2D": (16, 8),
    "RECTANGLE": (16, 8),
    "1D_ARRAY": (16, 8),
    "CUBE_MAP": (8, 8),
    "3D": (16, 8, 4),
    "2D_ARRAY": (16, 8, 5),
    "CUBE_MAP_ARRAY": (8, 8, 12),
}
STORED = "RGBA8 R16F DEPTH_COMPONENT24 RGBA COMPRESSED_RED_RGTC1 SRGB8_ALPHA8"
ASKED = "WIDTH HEIGHT DEPTH INTERNAL_FORMAT RED_SIZE DEPTH_SIZE COMPRESSED"


def proxies(gl: GLInterface) -> dict[str, Any]:
    """Errors of storage of proxies, and the sizes and formats of their levels after it."""
    edges = {"3D": GL.MAX_3D_TEXTURE_SIZE, "RECTANGLE": GL.MAX_RECTANGLE_TEXTURE_SIZE}
    edges |= dict.fromkeys(("CUBE_MAP", "CUBE_MAP_ARRAY"), GL.MAX_CUBE_MAP_TEXTURE_SIZE)
    layers = gl.get_integerv(GL.MAX_ARRAY_TEXTURE_LAYERS)[0]
    found: dict[str, Any] = {}
    for name, size in PROXIES.items():
        target, last = int(getattr(GL, f"PROXY_TEXTURE_{name}")), len(size) - 1
        limit = gl.get_integerv(edges.get(name, GL.MAX_TEXTURE_SIZE))[0]
        cases = {f"format {kind}": (1, kind, size) for kind in STORED.split()}
        cases |= {f"levels {levels}": (levels, "R16F", size) for levels in (0, 1, 2, 4, 5, 6, 40)}
        for axis in range(len(size)):
            most = layers - layers % 6 if "ARRAY" in name and axis == last else limit
            for what, edge in (("none", 0), ("negative", -1), ("many", most + 6)):
                other = list(size)
                other[axis] = edge
                if "CUBE" in name and axis < 2:
                    other[:2] = edge, edge
                cases[f"{what} along {axis}"] = (1, "R16F", tuple(other))
        for case, (levels, kind, extent) in cases.items():
            storage = getattr(gl, f"tex_storage{len(size)}d")
            storage(target, 1, GL.RG8, *(4, 4, 6)[: len(size)])
            assert errors(gl) == []
            storage(target, levels, getattr(GL, kind), *extent)
            error = errors(gl)
            told = range(1 if error else levels)
            found[f"{name} {case}"] = (
                error,
                [
                    gl.get_tex_level_parameteriv(target, level, getattr(GL, f"TEXTURE_{asked}"))[0]
                    for level in told
                    for asked in ASKED.split()
                ],
            )
            assert errors(gl) == []
    return found


@pytest.mark.native
def test_storage_of_proxies_is_checked_and_reported_as_on_native_gl() -> None:
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (4, 4)}
    native, ours = native_context(**options), create_context("numpipe", **options)
    theirs, found = proxies(native), proxies(ours)
    assert {key: (value, theirs[key]) for key, value in found.items() if value != theirs[key]} == {}
    for gl in (native, ours):
        gl.release()


def multisampled(gl: GLInterface) -> dict[str, Any]:
    """Errors of textures of several samples, as large as may be and beyond; proxies' sizes."""
    edge = gl.get_integerv(GL.MAX_TEXTURE_SIZE)[0]
    layers = gl.get_integerv(GL.MAX_ARRAY_TEXTURE_LAYERS)[0]
    sizes = [(4, 3, 2), (edge + 1, 1, 1), (1, edge + 1, 1), (1, 1, layers), (1, 1, layers + 1)]
    found: dict[str, Any] = {}
    for call, dimensions in itertools.product(("tex_image", "tex_storage"), (2, 3)):
        made = getattr(gl, f"{call}{dimensions}d_multisample")
        name = "TEXTURE_2D_MULTISAMPLE" + ("_ARRAY" if dimensions == 3 else "")
        for what, size in itertools.product(("", "PROXY_"), sizes):
            target, key = getattr(GL, what + name), f"{what}{name} {call} {size}"
            if not what:
                bound(gl, target)
            made(target, 2, GL.R8, *size[:dimensions], 1)
            found[key] = [errors(gl)]
            if what:
                found[key] += gl.get_tex_level_parameteriv(target, 0, GL.TEXTURE_WIDTH)
                found[key] += gl.get_tex_level_parameteriv(target, 0, GL.TEXTURE_DEPTH)
                for format, extent in ((GL.R8, (0, 3, 2)), (GL.RED, (4, 3, 2))):
                    made(target, 2, format, *extent[:dimensions], 1)
                    found[key].append(errors(gl))
    return found


@pytest.mark.native
def test_sizes_of_textures_of_several_samples_are_limited_as_on_native_gl() -> None:
    options: dict[str, Any] = {"profile": "compat", "version": (4, 5), "size": (4, 4)}
    native, ours = native_context(**options), create_context("numpipe", **options)
    theirs, found = multisampled(native), multisampled(ours)
    for key in theirs:
        if key.startswith("PROXY") and "tex_storage" in key:  # which Mesa does not take at all
            theirs[key][:3] = theirs[key.replace("tex_storage", "tex_image")][:3]
    assert {key: (value, theirs[key]) for key, value in found.items() if value != theirs[key]} == {}
    for gl in (native, ours):
        gl.release()


def test_copies_from_the_framebuffer(gl: GLInterface) -> None:
    gl.clear_color(1.0, 0.0, 0.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.enable(GL.SCISSOR_TEST)
    gl.scissor(0, 0, 2, 2)
    gl.clear_color(0.0, 1.0, 0.0, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    bound(gl)
    gl.copy_tex_image2d(GL.TEXTURE_2D, 0, GL.RGB8, 0, 0, 4, 4, 0)
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    image = np.frombuffer(raw, np.uint8).reshape(4, 4, 4)
    assert image[0, 0].tolist() == [0, 255, 0, 255]
    assert image[3, 3].tolist() == [255, 0, 0, 255]
    gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 2, 2, 0, 0, 2, 2)
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    assert np.frombuffer(raw, np.uint8).reshape(4, 4, 4)[3, 3].tolist() == [0, 255, 0, 255]


@pytest.mark.parametrize("target", ["TEXTURE_3D", "TEXTURE_2D_ARRAY"])
def test_volumes_and_arrays_hold_slices(gl: GLInterface, target: str) -> None:
    which = getattr(GL, target)
    bound(gl, which)
    data = np.arange(3 * 2 * 2 * 4, dtype=np.uint8).reshape(3, 2, 2, 4)
    gl.tex_image3d(which, 0, GL.RGBA8, 2, 2, 3, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    patch = np.full(4, 255, np.uint8)
    gl.tex_sub_image3d(which, 0, 1, 0, 2, 1, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE, patch)
    expected = data.copy()
    expected[2, 0, 1] = 255
    raw = gl.get_tex_image(which, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    assert (np.frombuffer(raw, np.uint8).reshape(3, 2, 2, 4) == expected).all()


def test_one_dimensional_arrays_hold_rows(gl: GLInterface) -> None:
    bound(gl, GL.TEXTURE_1D_ARRAY)
    data = np.arange(4 * 3 * 4, dtype=np.uint8).reshape(3, 4, 4)
    gl.tex_image2d(GL.TEXTURE_1D_ARRAY, 0, GL.RGBA8, 4, 3, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    raw = gl.get_tex_image(GL.TEXTURE_1D_ARRAY, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    assert (np.frombuffer(raw, np.uint8).reshape(3, 4, 4) == data).all()


def test_cube_faces_are_images_of_their_own(gl: GLInterface) -> None:
    bound(gl, GL.TEXTURE_CUBE_MAP)
    for face in range(6):
        data = np.full((2, 2, 4), 40 * face, np.uint8)
        gl.tex_image2d(
            GL.TEXTURE_CUBE_MAP_POSITIVE_X + face, 0, GL.RGBA8, 2, 2, 0,
            GL.RGBA, GL.UNSIGNED_BYTE, data,
        )  # fmt: skip
    raw = gl.get_tex_image(GL.TEXTURE_CUBE_MAP_NEGATIVE_Y, 0, GL.RGBA, GL.UNSIGNED_BYTE)
    assert set(raw) == {120}
    gl.tex_image2d(
        GL.TEXTURE_CUBE_MAP_POSITIVE_X, 0, GL.RGBA8, 2, 3, 0, GL.RGBA, GL.UNSIGNED_BYTE, None
    )
    assert errors(gl) == ["GL_INVALID_VALUE"]


def test_buffer_textures_read_a_buffer(gl: GLInterface) -> None:
    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.TEXTURE_BUFFER, buffer)
    data = np.array([0.25, 0.5, 0.75, 1.0], np.float32)
    gl.buffer_data(GL.TEXTURE_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    bound(gl, GL.TEXTURE_BUFFER)
    gl.tex_buffer(GL.TEXTURE_BUFFER, GL.R32F, buffer)
    fragment = (
        "#version 330\nuniform samplerBuffer values;\nout vec4 result;\nvoid main() {\n"
        "result = vec4(texelFetch(values, 1).r, texelFetch(values, 2).r,"
        " float(textureSize(values)) / 255.0, 1.0);\n}\n"
    )
    quad(gl, program(gl, fragment=fragment))
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert pixels(gl)[5, 5].tolist() == [128, 191, 4, 255]


def test_buffer_textures_return_their_buffer(gl: GLInterface) -> None:
    """A buffer or a part of it, in the last format; without a buffer, nothing."""

    def told() -> dict[str, int]:
        names = [f"{name}_{what}" for name in ("RED", "GREEN", "ALPHA", "DEPTH", "STENCIL")
                 for what in ("SIZE", "TYPE")][:-1]  # fmt: skip
        names += ["WIDTH", "HEIGHT", "DEPTH", "INTERNAL_FORMAT", "SAMPLES", "COMPRESSED"]
        names += ["BUFFER_DATA_STORE_BINDING", "BUFFER_OFFSET", "BUFFER_SIZE"]
        asked = [(name, getattr(GL, f"TEXTURE_{name}")) for name in names]
        values = {
            name: gl.get_tex_level_parameteriv(GL.TEXTURE_BUFFER, 0, value)[0]
            for name, value in asked
        }
        return {name: value for name, value in values.items() if value}

    (buffer,) = gl.gen_buffers(1)
    gl.bind_buffer(GL.TEXTURE_BUFFER, buffer)
    gl.buffer_data(GL.TEXTURE_BUFFER, 1024, None, GL.STATIC_DRAW)
    assert told() == {"INTERNAL_FORMAT": GL.R8}
    bound(gl, GL.TEXTURE_BUFFER)
    assert told() == {"INTERNAL_FORMAT": GL.R8}
    flat = {"HEIGHT": 1, "DEPTH": 1, "BUFFER_DATA_STORE_BINDING": buffer}
    for format, channels, bits, kind in (
        (GL.R8, ("RED",), 8, GL.UNSIGNED_NORMALIZED),
        (GL.RG16F, ("RED", "GREEN"), 16, GL.FLOAT),
        (GL.RG32I, ("RED", "GREEN"), 32, GL.INT),
        (GL.RGBA16UI, ("RED", "GREEN", "ALPHA"), 16, GL.UNSIGNED_INT),
    ):
        gl.tex_buffer(GL.TEXTURE_BUFFER, format, buffer)
        wanted = {f"{name}_SIZE": bits for name in channels}
        wanted |= {f"{name}_TYPE": kind for name in channels}
        texel = bits // 8 * (len(channels) + ("ALPHA" in channels))
        wanted |= {"WIDTH": 1024 // texel, "INTERNAL_FORMAT": format}
        assert told() == wanted | flat | {"BUFFER_SIZE": 1024}
        gl.tex_buffer_range(GL.TEXTURE_BUFFER, format, buffer, 256, 512)
        wanted["WIDTH"] //= 2
        assert told() == wanted | flat | {"BUFFER_OFFSET": 256, "BUFFER_SIZE": 512}
    gl.tex_buffer(GL.TEXTURE_BUFFER, GL.RGBA8, 0)
    assert told() == {"INTERNAL_FORMAT": GL.RGBA8}
    assert errors(gl) == []


def test_depth_textures_keep_depth(gl: GLInterface) -> None:
    bound(gl)
    data = np.array([[0.0, 0.25], [0.5, 1.0]], np.float32)
    gl.tex_image2d(
        GL.TEXTURE_2D, 0, GL.DEPTH_COMPONENT24, 2, 2, 0, GL.DEPTH_COMPONENT, GL.FLOAT, data
    )
    raw = gl.get_tex_image(GL.TEXTURE_2D, 0, GL.DEPTH_COMPONENT, GL.FLOAT)
    assert np.allclose(np.frombuffer(raw, np.float32), data.reshape(-1), atol=1e-6)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.FLOAT, np.zeros(16, np.float32))
    assert errors(gl) == ["GL_INVALID_OPERATION"]


def test_a_deleted_texture_becomes_the_default_one(gl: GLInterface) -> None:
    name = bound(gl)
    assert gl.is_texture(name)
    gl.delete_textures(1, [name])
    assert gl.get_integerv(GL.TEXTURE_BINDING_2D) == [0]
    assert not gl.is_texture(name)


def test_a_texture_belongs_to_the_target_it_was_first_bound_to(gl: GLInterface) -> None:
    name = bound(gl)
    gl.bind_texture(GL.TEXTURE_3D, name)
    assert errors(gl) == ["GL_INVALID_OPERATION"]


@pytest.mark.parametrize("shape", [(10,), (6, 8), (4, 5, 6)])
def test_the_border_of_an_image_is_left_out(compat: GLInterface, shape: tuple[int, ...]) -> None:
    gl = compat
    target = (GL.TEXTURE_1D, GL.TEXTURE_2D, GL.TEXTURE_3D)[len(shape) - 1]
    data = np.arange(int(np.prod(shape)), dtype=np.uint8).reshape(shape)
    gl.pixel_storei(GL.UNPACK_ALIGNMENT, 1)
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    gl.bind_texture(target, gl.gen_textures(1)[0])
    define = (gl.tex_image1d, gl.tex_image2d, gl.tex_image3d)[len(shape) - 1]
    size = tuple(reversed(shape))
    define(target, 0, GL.LUMINANCE8, *size, 1, GL.LUMINANCE, GL.UNSIGNED_BYTE, data)
    assert errors(gl) == []
    inside = data[tuple(slice(1, -1) for _ in shape)]
    raw = gl.get_tex_image(target, 0, GL.LUMINANCE, GL.UNSIGNED_BYTE)
    assert np.frombuffer(raw, np.uint8).reshape(inside.shape).tolist() == inside.tolist()
    define(target, 0, GL.LUMINANCE8, *size, 2, GL.LUMINANCE, GL.UNSIGNED_BYTE, data)
    assert errors(gl) == ["GL_INVALID_VALUE"]


@pytest.mark.parametrize("samples", [0, 4])
def test_nv_copies_images_of_one_format_only(gl: GLInterface, samples: int) -> None:
    target = GL.TEXTURE_2D_MULTISAMPLE if samples else GL.TEXTURE_2D
    names = gl.gen_textures(3)
    for name, format in zip(names, (GL.R8, GL.R8UI, GL.R8), strict=True):
        gl.bind_texture(target, name)
        if samples:
            gl.tex_image2d_multisample(target, samples, format, 8, 8, True)
        else:
            gl.tex_storage2d(target, 1, format, 8, 8)
    for other, code in ((names[1], GL.INVALID_OPERATION), (names[2], GL.NO_ERROR)):
        places = names[0], target, 0, 0, 0, 0, other, target, 0, 0, 0, 0, 4, 4, 1
        gl.copy_image_sub_data(*places)
        assert gl.get_error() == GL.NO_ERROR
        gl.copy_image_sub_data_nv(*places)
        assert gl.get_error() == code


@pytest.mark.parametrize("size", [1, 2, 4])
def test_the_smallest_level_of_the_largest_cube_may_come_first(size: int) -> None:
    gl = create_context("numpipe", profile="es", version=(3, 0))
    level = 14 - (size.bit_length() - 1)
    gl.bind_texture(GL.TEXTURE_CUBE_MAP, gl.gen_textures(1)[0])
    faces = range(GL.TEXTURE_CUBE_MAP_POSITIVE_X, GL.TEXTURE_CUBE_MAP_POSITIVE_X + 6)
    for face in faces:
        pixels = np.full((size, size, 4), 50 + face % 7, np.uint8)
        args = (size, size, 0, GL.RGBA, GL.UNSIGNED_BYTE, pixels)
        gl.tex_image2d(face, level, GL.RGBA, *args)
        assert errors(gl) == []
    (framebuffer,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, framebuffer)
    (texture,) = gl.get_integerv(GL.TEXTURE_BINDING_CUBE_MAP)
    for face in faces:
        gl.tex_image2d(face, 0, GL.RGBA, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
        gl.framebuffer_texture2d(GL.FRAMEBUFFER, GL.COLOR_ATTACHMENT0, face, texture, 0)
        assert gl.check_framebuffer_status(GL.FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
    gl.release()
