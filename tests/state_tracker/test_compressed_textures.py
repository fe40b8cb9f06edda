"""BPTC and ASTC textures through GL: sizes that are no whole blocks, layers, slices, sampling."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.pipe.codecs import pack
from gallette.pipe.formats import FORMATS
from gallette.state_tracker import GL, GLInterface, create_context
from tests.conftest import native_context

from .helpers import errors, pixels, program, quad

FS = """#version 430
uniform sampler2D image;
uniform sampler2DArray layers;
uniform sampler3D slices;
uniform int kind;
out vec4 color;
void main() {
    vec2 at = gl_FragCoord.xy / 64.0;
    color = kind == 0 ? texture(image, at)
        : kind == 1 ? texture(layers, vec3(at, 1.0)) : texture(slices, vec3(at, 0.5));
}"""
CASES = (
    ("COMPRESSED_RGBA_BPTC_UNORM", (4, 4)),
    ("COMPRESSED_SRGB_ALPHA_BPTC_UNORM", (4, 4)),
    ("COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT", (4, 4)),
    ("COMPRESSED_RGBA_ASTC_6x5_KHR", (6, 5)),
    ("COMPRESSED_SRGB8_ALPHA8_ASTC_10x6_KHR", (10, 6)),
    ("COMPRESSED_SRGB8_ALPHA8_ASTC_4x4_KHR", (4, 4)),
)


def drawn(gl: GLInterface, name: str, block: tuple[int, int], kind: int) -> Any:
    form, size = getattr(GL, name), (23, 17)
    count = -(-size[0] // block[0]) * -(-size[1] // block[1])
    depth = (1, 3, 2)[kind]
    rng = np.random.default_rng(7)
    blocks = rng.integers(0, 256, (depth * count, 16), np.uint8)
    if "BPTC" in name:
        blocks[:, 0] |= 0x20 if "FLOAT" not in name else 3
    else:
        blocks[:, :2] = rng.choice([(0x42, 0x00), (0x53, 0x01), (0x42, 0x08)], depth * count)
    target = (GL.TEXTURE_2D, GL.TEXTURE_2D_ARRAY, GL.TEXTURE_3D)[kind]
    gl.bind_texture(target, gl.gen_textures(1)[0])
    data = blocks.tobytes()
    if kind == 0:
        gl.compressed_tex_image2d(target, 0, form, *size, 0, len(data), data)
    else:
        gl.compressed_tex_image3d(target, 0, form, *size, depth, 0, len(data), data)
    gl.tex_parameteri(target, GL.TEXTURE_MIN_FILTER, GL.LINEAR)
    shader = program(gl, fragment=FS)
    quad(gl, shader)
    for unit, sampler in enumerate(("image", "layers", "slices")):
        gl.uniform1i(gl.get_uniform_location(shader, sampler), 0 if unit == kind else 5 + unit)
    gl.uniform1i(gl.get_uniform_location(shader, "kind"), kind)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    assert errors(gl) == []
    return pixels(gl).astype(int)


@pytest.mark.native
@pytest.mark.parametrize("kind", [0, 1, 2], ids=["2D", "layers", "slices"])
@pytest.mark.parametrize(("name", "block"), CASES)
def test_they_look_as_on_llvmpipe(name: str, block: tuple[int, int], kind: int) -> None:
    options: dict[str, Any] = {"version": (4, 3), "size": (64, 64)}
    native = native_context(profile="core", **options)
    expected = drawn(native, name, block, kind)
    native.release()
    seen = drawn(create_context("numpipe", **options), name, block, kind)
    assert len(np.unique(expected)) > 30
    assert abs(seen - expected).max() <= 1


ENCODED = ("COMPRESSED_RGB_S3TC_DXT1_EXT", "COMPRESSED_RGBA_S3TC_DXT5_EXT",
           "COMPRESSED_RG_RGTC2", "COMPRESSED_RGBA_BPTC_UNORM",
           "COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT")  # fmt: skip


def gradients() -> Any:
    y, x = np.mgrid[:24, :36] / 36
    return np.stack((x, y, (x + y) / 2, 1 - x * 0.5), axis=-1).astype(np.float32)


def compressed(gl: GLInterface, name: str) -> list[Any]:
    """Pixels that GL compresses, with an update and mipmaps; every level read back."""
    image = gradients()
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    target, form = GL.TEXTURE_2D, getattr(GL, name)
    gl.tex_image2d(target, 0, form, 36, 24, 0, GL.RGBA, GL.FLOAT, np.ascontiguousarray(image))
    assert gl.get_tex_level_parameteriv(target, 0, GL.TEXTURE_COMPRESSED)[0]
    patch = np.full((8, 8, 4), 0.25, np.float32)
    gl.tex_sub_image2d(target, 0, 16, 8, 8, 8, GL.RGBA, GL.FLOAT, patch)
    gl.generate_mipmap(target)
    assert errors(gl) == []
    size = gl.get_tex_level_parameteriv(target, 0, GL.TEXTURE_COMPRESSED_IMAGE_SIZE)[0]
    assert size == 6 * 9 * (8 if "DXT1" in name else 16)
    seen = []
    for level, (width, height) in enumerate(((36, 24), (18, 12), (9, 6), (4, 3))):
        raw = gl.get_tex_image(target, level, GL.RGBA, GL.FLOAT)
        seen.append(np.frombuffer(raw, np.float32).reshape(height, width, 4))
    return seen


@pytest.mark.native
@pytest.mark.parametrize("name", ENCODED)
def test_pixels_are_compressed_and_mipmaps_made(name: str) -> None:
    native = native_context(profile="core", version=(4, 3), size=(8, 8))
    expected = compressed(native, name)
    native.release()
    seen = compressed(create_context("numpipe", version=(4, 3), size=(8, 8)), name)
    used = slice(0, 2) if "RG_" in name else slice(0, 3)
    true = gradients()
    true[8:16, 16:24] = 0.25
    for a, b in zip(seen[:3], expected[:3], strict=True):
        error, theirs = (abs(c - true)[..., used].mean() for c in (a, b))
        assert error <= 1.25 * theirs + 0.002
        height, width = true.shape[:2]
        if height % 2 == width % 2 == 0:
            true = true.reshape(height // 2, 2, width // 2, 2, 4).mean(axis=(1, 3))
    assert abs(seen[0][8:16, 16:24, used] - 0.25).max() < 0.02


# Each with the format's name, and what is read of it.
STORED = {
    "COMPRESSED_RGBA_S3TC_DXT5_EXT": ("DXT5_RGBA", slice(0, 4)),
    "COMPRESSED_RG_RGTC2": ("RGTC2_UNORM", slice(0, 2)),
    "COMPRESSED_RGBA_BPTC_UNORM": ("BPTC_RGBA", slice(0, 4)),
    "COMPRESSED_RGB_BPTC_UNSIGNED_FLOAT": ("BPTC_RGB_UFLOAT", slice(0, 3)),
}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        (name, kind)
        for name in STORED
        for kind in ("plane", "layers", "volume")
        if kind != "volume" or "BPTC" in name
    ],
)
def test_mipmaps_of_blocks(name: str, kind: str) -> None:
    """Each level is the mean of the one above, as far as blocks can tell."""
    form, used = getattr(GL, name), STORED[name][1]
    deep = {"plane": 1, "layers": 3, "volume": 4}[kind]
    target = {"plane": GL.TEXTURE_2D, "layers": GL.TEXTURE_2D_ARRAY, "volume": GL.TEXTURE_3D}[kind]
    t = np.broadcast_to((np.arange(36) + 0.5) / 36, (24, 36))
    ramp = np.stack((t, t / 2, 1 - t, t), axis=-1).astype(np.float32)  # on one line in each block
    true = np.stack([ramp * (1 - z / 5) for z in range(deep)])
    blocks = np.ascontiguousarray(pack(FORMATS[STORED[name][0]], true))
    gl: Any = create_context(profile="core", version=(4, 3), size=(8, 8))
    gl.bind_texture(target, gl.gen_textures(1)[0])
    given = (0, blocks.nbytes, blocks)
    if kind == "plane":
        gl.compressed_tex_image2d(target, 0, form, 36, 24, *given)
    else:
        gl.compressed_tex_image3d(target, 0, form, 36, 24, deep, *given)
    gl.generate_mipmap(target)
    for level, (width, height) in enumerate(((36, 24), (18, 12), (9, 6), (4, 3), (2, 1))):
        found = np.zeros((len(true), height, width, 4), np.float32)
        gl.get_tex_image(target, level, GL.RGBA, GL.FLOAT, found)
        off = (found - true)[..., used]
        near = 0.02 if level < 3 else 0.07  # where a block is all of the ramp
        assert abs(off).mean() <= near, level
        assert abs(off.mean(axis=(1, 2))).max() <= near, level
        true = np.stack([shrunk(plane, width // 2, height // 2) for plane in true])
        if kind == "volume" and len(true) > 1:
            true = (true[::2] + true[1::2]) / 2
    assert errors(gl) == []
    gl.release()


def shrunk(plane: Any, width: int, height: int) -> Any:
    """A picture of gradients at another size: they stay what they are at the centres of texels."""
    for axis, size in enumerate((max(height, 1), max(width, 1))):
        old = plane.shape[axis]
        at = (np.arange(size) + 0.5) * old / size - 0.5
        low = np.clip(np.floor(at).astype(int), 0, max(old - 2, 0))
        part = (at - low).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
        high = np.minimum(low + 1, old - 1)
        plane = plane.take(low, axis) * (1 - part) + plane.take(high, axis) * part
    return plane


# -- FXT1 ------------------------------------------------------------------------------------------

FXT1 = ["COMPRESSED_RGB_FXT1_3DFX", "COMPRESSED_RGBA_FXT1_3DFX"]


def _texels(gl: GLInterface, width: int, height: int) -> npt.NDArray[np.uint8]:
    found = np.zeros((height, width, 4), np.uint8)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, found.ctypes.data)
    return found


@pytest.mark.native
@pytest.mark.parametrize("name", FXT1)
def test_fxt1_of_all_modes_reads_as_natively(name: str) -> None:
    blocks = np.random.default_rng(3).integers(0, 256, (32 * 32, 16), dtype=np.uint8)

    def decoded(gl: GLInterface) -> npt.NDArray[np.uint8]:
        (texture,) = gl.gen_textures(1)
        gl.bind_texture(GL.TEXTURE_2D, texture)
        gl.compressed_tex_image2d(GL.TEXTURE_2D, 0, getattr(GL, name), 256, 128, 0, blocks.nbytes,
                                  blocks)  # fmt: skip
        assert gl.get_error() == GL.NO_ERROR
        return _texels(gl, 256, 128)

    ours = create_context("numpipe", profile="compat")
    mine = decoded(ours)
    ours.release()
    with native_context(profile="compat") as native:
        assert mine.tobytes() == decoded(native).tobytes()
    assert len(set((blocks[:, 15] >> 5).tolist())) == 8  # every mode is there


@pytest.mark.parametrize("name", FXT1)
def test_images_become_fxt1(name: str) -> None:
    y, x = np.mgrid[0:64, 0:64]
    alpha = 255 - x * 2 if "RGBA" in name else x * 0 + 255
    image = np.stack([x * 4, y * 4, (x + y) * 2, alpha], -1).astype(np.uint8)
    gl = create_context("numpipe", profile="compat")
    (texture,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, texture)
    kind = getattr(GL, name)
    gl.tex_image2d(GL.TEXTURE_2D, 0, kind, 64, 64, 0, GL.RGBA, GL.UNSIGNED_BYTE, image)
    coded = np.zeros(64 * 64 // 2, np.uint8)
    gl.get_compressed_tex_image(GL.TEXTURE_2D, 0, coded.ctypes.data)
    gl.compressed_tex_image2d(GL.TEXTURE_2D, 0, kind, 64, 64, 0, coded.nbytes, coded)
    difference = np.abs(_texels(gl, 64, 64).astype(int) - image)
    gl.release()
    assert difference.mean() < 3.0  # llvmpipe's: 2.9 and 3.0
    assert difference.max() <= 12


@pytest.mark.native
@pytest.mark.parametrize(
    ("profile", "version"), [("compat", (4, 3)), ("core", (4, 3)), ("es", (3, 1)), ("es", (1, 1))]
)
def test_the_listed_compressed_formats_are_llvmpipes(
    profile: str, version: tuple[int, int]
) -> None:
    def told(gl: GLInterface) -> list[int]:
        (count,) = gl.get_integerv(GL.NUM_COMPRESSED_TEXTURE_FORMATS)
        found = np.zeros(count, np.int32)
        gl.get_integerv(GL.COMPRESSED_TEXTURE_FORMATS, found.ctypes.data)
        return sorted(found.tolist())

    ours = create_context("numpipe", profile=profile, version=version)
    mine = told(ours)
    ours.release()
    with native_context(profile=profile, version=version) as native:
        assert mine == told(native)


# -- plain pixels for compressed images ------------------------------------------------------------

WRITTEN = """RGB_S3TC_DXT1_EXT RGBA_S3TC_DXT1_EXT RGBA_S3TC_DXT5_EXT SRGB_ALPHA_S3TC_DXT5_EXT
RED_RGTC1 SIGNED_RG_RGTC2 LUMINANCE_LATC1_EXT LUMINANCE_ALPHA_LATC2_EXT RGBA_BPTC_UNORM
RGB_FXT1_3DFX RGB_BPTC_UNSIGNED_FLOAT RGB8_ETC2 RGBA_ASTC_4x4_KHR""".split()  # noqa: SIM905
PARTS = (
    *((0, 0, 16, 14), (8, 4, 8, 4), (8, 12, 8, 2), (0, 0, 0, 0)),
    *((1, 4, 4, 4), (8, 4, 3, 4), (8, 4, 4, 3), (8, 5, 8, 4)),
)


def written(gl: GLInterface, name: str, how: str) -> tuple[list[str], npt.NDArray[np.uint8]]:
    """What is said of each part, and what lies there then."""
    internal = getattr(GL, f"COMPRESSED_{name}")
    gl.bind_texture(GL.TEXTURE_2D, gl.gen_textures(1)[0])
    if how == "storage":
        gl.tex_storage2d(GL.TEXTURE_2D, 1, internal, 16, 14)
    else:
        gl.tex_image2d(GL.TEXTURE_2D, 0, internal, 16, 14, 0, GL.RGBA, GL.UNSIGNED_BYTE, None)
    told = errors(gl)
    for x, y, width, height in PARTS:
        part = np.full((height, width, 4), (200, 100, 48, 255), np.uint8)
        part[: height // 2] = (8, 16, 24, 255)
        gl.tex_sub_image2d(GL.TEXTURE_2D, 0, x, y, width, height, GL.RGBA, GL.UNSIGNED_BYTE, part)
        told.append(GL.name_of(gl.get_error(), "error"))
    room = np.zeros((14, 16, 4), np.uint8)
    gl.get_tex_image(GL.TEXTURE_2D, 0, GL.RGBA, GL.UNSIGNED_BYTE, room)
    return told, room


@pytest.mark.native
@pytest.mark.parametrize("how", ["storage", "image"])
def test_pixels_become_blocks_where_they_cover_some(how: str) -> None:
    ours = create_context("numpipe", profile="compat", version=(4, 5))
    native = native_context(profile="compat", version=(4, 5))
    for name in WRITTEN[: None if how == "storage" else -2]:  # there plain pixels make the image
        (mine, one), (theirs, two) = written(ours, name, how), written(native, name, how)
        assert mine == theirs, name
        if theirs[0] == "GL_NO_ERROR":
            red = np.full((14, 16), 200)
            for (x, y, width, height), said in zip(PARTS, mine, strict=True):
                if said == "GL_NO_ERROR":
                    red[y : y + height // 2, x : x + width] = 8
                    red[y + height // 2 : y + height, x : x + width] = 200
            assert np.abs(one[..., 0] - red).max() <= 8, name
            rough = 48 if "FLOAT" in name else 16  # llvmpipe's encoder of floats
            assert np.abs(one.astype(int) - two).max() <= rough, name
    ours.release()
    native.release()


@pytest.mark.parametrize("channels", [1, 2])
def test_blocks_of_luminance_say_what_they_hold(compat: GLInterface, channels: int) -> None:
    gl = compat
    name = ("LUMINANCE_LATC1_EXT", "LUMINANCE_ALPHA_LATC2_EXT")[channels - 1]
    written(gl, name, "image")
    sizes = {
        what: gl.get_tex_level_parameteriv(GL.TEXTURE_2D, 0, getattr(GL, f"TEXTURE_{what}_SIZE"))[0]
        for what in ("LUMINANCE", "ALPHA", "RED", "GREEN", "INTENSITY")
    }
    both = 8 if channels == 2 else 0
    assert sizes == {"LUMINANCE": 8, "ALPHA": both, "RED": 0, "GREEN": 0, "INTENSITY": 0}
    kind = gl.get_tex_level_parameteriv(GL.TEXTURE_2D, 0, GL.TEXTURE_LUMINANCE_TYPE_ARB)[0]
    assert kind == GL.UNSIGNED_NORMALIZED
