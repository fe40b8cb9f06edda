"""glGetInternalformat*: what it says can be made is made, and the native GL says the same of it.

Native GL's answers about images it refuses to make are not looked at: it has some. What is said of
how many stands in `format_answers.txt` (`python -m tests.state_tracker.test_format_queries`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from gallette.state_tracker import GL, GLInterface, create_context
from gallette.state_tracker.texturing import format_queries
from gallette.state_tracker.texturing.texture_formats import INTERNAL_FORMATS, InternalFormat
from gallette.state_tracker.texturing.texture_targets import DESKTOP_TARGETS
from tests.conftest import native_context

TARGETS = {**{t: info.name for t, info in DESKTOP_TARGETS.items()}, GL.RENDERBUFFER: "RENDERBUFFER"}


@pytest.fixture(params=["core", "compat"])
def contexts(request: pytest.FixtureRequest) -> Iterator[tuple[str, GLInterface, GLInterface]]:
    """A profile; the native GL's context and ours."""
    options = {"profile": request.param, "version": (4, 5), "size": (16, 16)}
    native, ours = native_context(**options), create_context("numpipe", **options)
    yield request.param, native, ours
    native.release()
    ours.release()


def _pixels(info: InternalFormat) -> tuple[int, int]:
    """A client format and type that such an image takes."""
    if info.is_ycbcr:
        return GL.YCBCR_MESA, GL.UNSIGNED_SHORT_8_8_MESA
    if info.is_color:
        return GL.RGBA_INTEGER if info.is_integer else GL.RGBA, GL.UNSIGNED_BYTE
    return {
        "Z": (GL.DEPTH_COMPONENT, GL.FLOAT),
        "ZS": (GL.DEPTH_STENCIL, GL.UNSIGNED_INT_24_8),
        "S": (GL.STENCIL_INDEX, GL.UNSIGNED_BYTE),
    }[info.base]


def _define(gl: GLInterface, target: int, info: InternalFormat, fixed: bool) -> None:
    """An image of the bound texture, by glTexImage* or by glTexStorage*."""
    call, size = "tex_storage" if fixed else "tex_image", (12, 12, 12)
    kind = DESKTOP_TARGETS[target]
    if kind.multisample:
        axes = 3 if "ARRAY" in kind.name else 2
        getattr(gl, f"{call}{axes}d_multisample")(target, 2, info.value, *size[:axes], 1)
    elif fixed:
        gl_call = getattr(gl, f"{call}{kind.dimensions}d")
        gl_call(target, 1, info.value, *size[: kind.dimensions])
    else:
        face = GL.TEXTURE_CUBE_MAP_POSITIVE_X if kind.faces == 6 else target
        gl_call = getattr(gl, f"{call}{kind.dimensions}d")
        gl_call(face, 0, info.value, *size[: kind.dimensions], 0, *_pixels(info), None)


def made(gl: GLInterface, target: int, info: InternalFormat) -> bool:
    """Is there a call that makes such an image?"""
    if target == GL.RENDERBUFFER:
        (name,) = gl.create_renderbuffers(1)
        gl.named_renderbuffer_storage(name, info.value, 12, 12)
        gl.delete_renderbuffers(1, [name])
        return gl.get_error() == GL.NO_ERROR
    found = False
    for fixed in (False, True):
        (name,) = gl.create_textures(target, 1)
        gl.bind_texture(target, name)
        if target == GL.TEXTURE_BUFFER:
            gl.tex_buffer(target, info.value, 0)
        else:
            _define(gl, target, info, fixed)
        found = gl.get_error() == GL.NO_ERROR or found
        gl.delete_textures(1, [name])
    return found


# (format, targets, why) of images that the native GL makes and ours does not.
REFUSED = [
    ("(LUMINANCE|INTENSITY).*_SNORM", "RENDERBUFFER|.*MULTISAMPLE.*",
     "core profiles have no such; it is the one kind that it forgets"),
    ("RGB9_E5", ".*MULTISAMPLE.*", "8.5.1: it is not renderable"),
]  # fmt: skip


Contexts = tuple[str, GLInterface, GLInterface]
# How often each row explains one.
TIMES = {"core": [27, 2], "compat": [0, 2]}


@pytest.mark.native
def test_what_is_supported_can_be_made(contexts: Contexts) -> None:
    profile, native, ours = contexts
    wrong, used = [], Counter[int]()
    for value, info in INTERNAL_FORMATS.items():
        for target, name in TARGETS.items():
            (said,) = ours.get_internalformativ(target, value, GL.INTERNALFORMAT_SUPPORTED, 1)
            makes = made(ours, target, info)
            if said != makes:
                wrong.append(f"{info.name} {name}: {makes} made, {said} said")
            if makes != made(native, target, info):
                rows = [i for i, (format, where, _) in enumerate(REFUSED)
                        if not makes and re.fullmatch(format, info.name)
                        and re.fullmatch(where, name)]  # fmt: skip
                used.update(rows)
                wrong += [] if rows else [f"{info.name} {name}: {makes} made, unlike natively"]
    assert wrong == []
    assert [used[row] for row in range(len(REFUSED))] == TIMES[profile]


ASKED = """
    MAX_WIDTH MAX_HEIGHT MAX_DEPTH MAX_LAYERS MAX_COMBINED_DIMENSIONS COLOR_COMPONENTS
    DEPTH_COMPONENTS STENCIL_COMPONENTS COLOR_ENCODING COLOR_RENDERABLE DEPTH_RENDERABLE
    STENCIL_RENDERABLE FRAMEBUFFER_RENDERABLE TEXTURE_COMPRESSED TEXTURE_COMPRESSED_BLOCK_SIZE
    IMAGE_FORMAT_COMPATIBILITY_TYPE IMAGE_TEXEL_SIZE IMAGE_COMPATIBILITY_CLASS IMAGE_PIXEL_FORMAT
    IMAGE_PIXEL_TYPE VIEW_COMPATIBILITY_CLASS MANUAL_GENERATE_MIPMAP SRGB_READ SRGB_DECODE_ARB
    FILTER TEXTURE_SHADOW TEXTURE_GATHER TEXTURE_GATHER_SHADOW SHADER_IMAGE_LOAD CLEAR_BUFFER
    TEXTURE_VIEW VERTEX_TEXTURE INTERNALFORMAT_RED_TYPE INTERNALFORMAT_ALPHA_TYPE
    INTERNALFORMAT_DEPTH_TYPE INTERNALFORMAT_STENCIL_TYPE INTERNALFORMAT_DEPTH_SIZE
    INTERNALFORMAT_STENCIL_SIZE INTERNALFORMAT_SHARED_SIZE COMPUTE_TEXTURE
    FRAGMENT_TEXTURE GEOMETRY_TEXTURE TESS_CONTROL_TEXTURE TESS_EVALUATION_TEXTURE
    SHADER_IMAGE_STORE SIMULTANEOUS_TEXTURE_AND_DEPTH_TEST
"""
_TEXTURES_ALONE = r"[1-4]|SRG?8_EXT|SRGB(_ALPHA)?|SLUMINANCE.*"
# (names, formats, targets, why) of answers that differ from the native GL's.
EXPLAINED = [
    ("MAX_COMBINED_DIMENSIONS", ".*", ".*MULTISAMPLE.*", "there are 16 samples, and 4 natively"),
    ("COLOR_COMPONENTS|COLOR_ENCODING", "YCBCR_MESA", ".*", "it is shown as colours"),
    ("STENCIL_COMPONENTS", "STENCIL_INDEX[0-9]+", ".*", "they are stencil as STENCIL_INDEX is"),
    ("INTERNALFORMAT_STENCIL_TYPE", "DEPTH.*STENCIL.*", ".*", "depth has that type, not stencil"),
    ("COLOR_RENDERABLE", ".*", "TEXTURE_BUFFER", "a buffer is attached to no framebuffer"),
    ("(COLOR|FRAMEBUFFER)_RENDERABLE", "RGB9_E5", ".*", "framebuffers of it are unsupported"),
    ("(COLOR|FRAMEBUFFER)_RENDERABLE", _TEXTURES_ALONE, ".*", "framebuffers of them are complete"),
    ("INTERNALFORMAT_(RED_TYPE|SHARED_SIZE)", "RGB9_E5", "RENDERBUFFER", "as that of textures"),
    ("SRGB_READ", ".*", "RENDERBUFFER", "no shader reads a renderbuffer"),
    ("SRGB_.*|COLOR_ENCODING", ".*SLUMINANCE.*", ".*", "they are encoded as other sRGB is"),
    ("FILTER", ".*", "RENDERBUFFER|TEXTURE_BUFFER", "there is nothing that filters"),
    ("FILTER", "STENCIL_INDEX.*", ".*", "integers are not filtered"),
    ("MANUAL_GENERATE_MIPMAP", "STENCIL_INDEX[0-9]+", ".*", "they have no means"),
    ("MANUAL_GENERATE_MIPMAP", ".*_(ETC2|EAC)", ".*", "nothing here packs such blocks"),
    ("VIEW_COMPATIBILITY_CLASS", ".*_(ETC2|EAC|ASTC_.*)", ".*", "classes of OES_texture_view"),
]
EXPLANATIONS = {
    "core": [168, 16, 40, 30, 33, 18, 64, 2, 2, 0, 60, 35, 24, 40, 180],
    "compat": [300, 16, 40, 30, 73, 18, 192, 2, 2, 144, 102, 35, 24, 40, 180],
}
"""how often each row explains an answer"""


@pytest.mark.native
def test_what_is_made_is_described_as_natively(contexts: Contexts) -> None:
    profile, native, ours = contexts
    wrong, used = [], Counter[int]()
    supported = [
        (target, value)
        for target in TARGETS
        for value in INTERNAL_FORMATS
        if all(
            gl.get_internalformativ(target, value, GL.INTERNALFORMAT_SUPPORTED, 1)[0]
            for gl in (native, ours)
        )
    ]
    for name in ASKED.split():
        pname = getattr(GL, name)
        for target, value in supported:
            theirs, said = (
                int(gl.get_internalformati64v(target, value, pname, 1)[0]) for gl in (native, ours)
            )
            if theirs == said:
                continue
            names = name, INTERNAL_FORMATS[value].name, TARGETS[target]
            rows = [i for i, (*patterns, _) in enumerate(EXPLAINED)
                    if all(map(re.fullmatch, patterns, names))]  # fmt: skip
            used.update(rows[:1])
            wrong += [] if rows else [f"{' '.join(names)}: {theirs:#x}, not {said:#x}"]
    assert wrong == []
    assert len(supported) > 1000
    assert [used[row] for row in range(len(EXPLAINED))] == EXPLANATIONS[profile]


TABLE = Path(__file__).with_name("format_answers.txt")


def answers() -> list[str]:
    """How many images have each answer, name by name."""
    gl: Any = create_context("numpipe", profile="compat", version=(4, 5), size=(16, 16))
    lines = []
    for pname in sorted(format_queries.VALUES.keys() | format_queries._FEATURES):
        found = Counter[int]()
        for target, value in product(TARGETS, INTERNAL_FORMATS):
            found.update(map(int, gl.get_internalformati64v(target, value, pname, 1)[:1]))
        said = ", ".join(f"{count} {value}" for value, count in sorted(found.items()))
        lines.append(f"{GL.name_of(pname)}: {said}")
    gl.release()
    return lines


def test_as_many_images_as_are_written_down_have_each_answer() -> None:
    """Those that the native GL answers for every image alike, too."""
    assert answers() == TABLE.read_text().splitlines()


@pytest.mark.parametrize("format", ["ALPHA8", "LUMINANCE8", "LUMINANCE8_ALPHA8", "INTENSITY8"])
@pytest.mark.parametrize("samples", [0, 4])
def test_legacy_renderbuffers_are_drawn_to(compat: GLInterface, format: str, samples: int) -> None:
    """As large as they are told to be, with the channels they have."""
    pixels = []
    for count in (samples, 0):
        (buffer,) = compat.gen_renderbuffers(1)
        compat.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        value = getattr(GL, format)
        compat.renderbuffer_storage_multisample(GL.RENDERBUFFER, count, value, 4, 4)
        (name,) = compat.gen_framebuffers(1)
        compat.bind_framebuffer(GL.DRAW_FRAMEBUFFER, name)
        compat.framebuffer_renderbuffer(
            GL.DRAW_FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer
        )
        assert compat.check_framebuffer_status(GL.DRAW_FRAMEBUFFER) == GL.FRAMEBUFFER_COMPLETE
        if not pixels:
            compat.clear_color(0.2, 0.4, 0.6, 0.8)
            compat.clear(GL.COLOR_BUFFER_BIT)
            pixels.append(name)
    compat.bind_framebuffer(GL.READ_FRAMEBUFFER, pixels[0])
    compat.blit_framebuffer(0, 0, 4, 4, 0, 0, 4, 4, GL.COLOR_BUFFER_BIT, GL.NEAREST)
    compat.bind_framebuffer(GL.READ_FRAMEBUFFER, name)
    pixel = list(compat.read_pixels(1, 1, 1, 1, GL.RGBA, GL.UNSIGNED_BYTE))
    wanted = {
        "ALPHA8": [0, 0, 0, 204],
        "LUMINANCE8": [51, 0, 0, 255],
        "LUMINANCE8_ALPHA8": [51, 0, 0, 204],
        "INTENSITY8": [51, 0, 0, 255],
    }
    assert pixel == wanted[format]
    assert compat.get_error() == GL.NO_ERROR


if __name__ == "__main__":
    TABLE.write_text("".join(f"{line}\n" for line in answers()))
