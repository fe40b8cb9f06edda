"""Direct state access: a call that names its object does what the other does to the bound one.

Both run in contexts where the same object is bound; afterwards everything the contexts know is the
same, and so is what the objects hold and what the calls answered.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from gallette.state_tracker import GL, create_context
from tests.state_tracker.edges.digest import difference, digest
from tests.state_tracker.negative_suite import value

TEXELS = "RGBA UNSIGNED_BYTE b:" + ",".join(str(7 * i % 256) for i in range(64))
_RULES = {
    "texture": (
        r"(^|_)(tex_|mipmap)",
        lambda m: f"{m[1]}texture_{m[2] if m[2] == 'mipmap' else ''}",
    ),
    "buffer": (r"(^|_)buffer", lambda m: f"{m[1]}named_buffer"),
    "renderbuffer": (r"(^|_)renderbuffer_", lambda m: f"{m[1]}named_renderbuffer_"),
    "framebuffer": (r"(^|_)framebuffer_", lambda m: f"{m[1]}named_framebuffer_"),
}
_LINES = Path(__file__).with_name("calls_by_name.txt").read_text().splitlines()
ROWS = [line.replace("$TEXELS", TEXELS) for line in _LINES if line and line[0] != "#"]


def made(kind: str, target: int) -> tuple[Any, int]:
    """A context with an object of that kind bound, and with others to refer to; its name."""
    gl = create_context("numpipe", profile="core", version=(4, 5), size=(8, 8))
    gl.clear_color(0.25, 0.5, 0.75, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    for objects in ("textures", "buffers", "renderbuffers", "framebuffers"):
        getattr(gl, f"gen_{objects}")(9)
    for name, what in ((9, GL.TEXTURE_2D), (8, GL.TEXTURE_2D_ARRAY)):
        gl.bind_texture(what, name)
    gl.tex_storage2d(GL.TEXTURE_2D, 2, GL.RGBA8, 4, 4)
    gl.tex_storage3d(GL.TEXTURE_2D_ARRAY, 2, GL.RGBA8, 4, 4, 2)
    gl.bind_renderbuffer(GL.RENDERBUFFER, 9)
    gl.renderbuffer_storage(GL.RENDERBUFFER, GL.RGBA8, 4, 4)
    gl.bind_buffer(GL.COPY_WRITE_BUFFER, 9)
    gl.buffer_data(GL.COPY_WRITE_BUFFER, 64, None, GL.STATIC_DRAW)
    getattr(gl, f"bind_{kind}")(target, 1)
    return gl, 1


def contents(gl: Any, kind: str, target: int) -> Any:
    if kind == "buffer":
        return bytes(gl.get_buffer_sub_data(target, 0, 64))
    if kind != "texture" or "MULTISAMPLE" in GL.name_of(target) or target == GL.TEXTURE_BUFFER:
        return None
    levels = range(gl.get_tex_parameteriv(target, GL.TEXTURE_IMMUTABLE_LEVELS)[0])
    return [bytes(gl.get_tex_image(target, n, GL.RGBA, GL.UNSIGNED_BYTE)) for n in levels]


@pytest.mark.parametrize("row", ROWS, ids=[r.split(":")[1].split()[0] for r in ROWS])
def test_a_call_by_name_does_what_the_other_does_to_the_bound_object(row: str) -> None:
    head, _, text = row.partition(": ")
    kind, target = head.split()[0], int(getattr(GL, head.split()[1]))
    pattern, replacement = _RULES[kind]
    seen = []
    for by_name in (False, True):
        gl, name = made(kind, target)
        answers = []
        for words in (call.split() for call in text.split(";")):
            method = re.sub(pattern, replacement, words[0]) if by_name else words[0]
            assert by_name is (method != words[0])
            first = name if by_name else target
            result = getattr(gl, method)(first, *(value(w) for w in words[2:]))
            answers.append(None if method.startswith("map_") else result)
            assert gl.get_error() == GL.NO_ERROR, method
        seen.append((digest(gl), answers, contents(gl, kind, target)))
    # Identities of the driver's objects, what a format of the table has been asked for, and which
    # context was current before.
    same = re.compile(r": \d{9,}|\.info\.|^\._replaced:")
    found = difference(seen[0][0], seen[1][0])
    assert [line for line in found if not same.search(line)] == []
    assert seen[0][1:] == seen[1][1:]


BINDINGS = [
    "ARRAY_BUFFER", "COPY_READ_BUFFER", "COPY_WRITE_BUFFER", "PIXEL_PACK_BUFFER",
    "PIXEL_UNPACK_BUFFER", "UNIFORM_BUFFER", "DRAW_FRAMEBUFFER", "READ_FRAMEBUFFER",
    "RENDERBUFFER", "TEXTURE_2D", "TEXTURE_BUFFER", "TEXTURE_CUBE_MAP", "VERTEX_ARRAY",
]  # fmt: skip
CLEARS: list[tuple[str, tuple[Any, ...]]] = [
    ("clear_named_framebufferfv", (GL.COLOR, 0, [0.5] * 4)),
    ("clear_named_framebufferfv", (GL.DEPTH, 0, [0.5])),
    ("clear_named_framebufferiv", (GL.STENCIL, 0, [3])),
    ("clear_named_framebufferfi", (GL.DEPTH_STENCIL, 0, 0.5, 3)),
    ("clear_named_framebufferfi", (GL.COLOR, 0, 0.5, 3)),
    ("clear_named_framebufferfv", (GL.COLOR, 77, [0.5] * 4)),
    ("invalidate_named_framebuffer_data", (1, [GL.COLOR_ATTACHMENT0])),
    ("named_framebuffer_draw_buffer", (GL.COLOR_ATTACHMENT0,)),
    ("named_framebuffer_draw_buffers", (1, [GL.COLOR_ATTACHMENT0])),
    ("named_framebuffer_read_buffer", (GL.COLOR_ATTACHMENT0,)),
    ("named_framebuffer_texture", (GL.COLOR_ATTACHMENT1, 3, 0)),
    ("check_named_framebuffer_status", (GL.READ_FRAMEBUFFER,)),
]


def elsewhere() -> tuple[Any, list[int]]:
    """A context where every binding point has an object of its own; its three framebuffers."""
    gl = create_context("numpipe", profile="core", version=(4, 5), size=(8, 8))
    buffers = gl.gen_buffers(8)
    for point, name in zip(BINDINGS[:6], buffers, strict=False):
        gl.bind_buffer(getattr(GL, point), name)
        gl.buffer_data(getattr(GL, point), 64, None, GL.STATIC_DRAW)
    textures = gl.gen_textures(4)
    for target, name in zip(("TEXTURE_2D", "TEXTURE_BUFFER", "TEXTURE_CUBE_MAP"), textures,
                            strict=False):  # fmt: skip
        gl.bind_texture(getattr(GL, target), name)
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    made = gl.create_framebuffers(3)
    for name in made:
        for place, kind in ((GL.COLOR_ATTACHMENT0, GL.RGBA8),
                            (GL.DEPTH_STENCIL_ATTACHMENT, GL.DEPTH24_STENCIL8)):  # fmt: skip
            (image,) = gl.create_renderbuffers(1)
            gl.named_renderbuffer_storage(image, kind, 4, 4)
            gl.named_framebuffer_renderbuffer(name, place, GL.RENDERBUFFER, image)
    gl.bind_renderbuffer(GL.RENDERBUFFER, image)
    gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, made[0])
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, made[1])
    assert gl.get_error() == GL.NO_ERROR
    return gl, [int(n) for n in made]


@pytest.mark.parametrize("window", [False, True])
def test_framebuffers_named_by_a_call_are_not_bound_by_it(window: bool) -> None:
    """Whether it succeeds or not; both bindings stay what they were, each its own."""
    gl, made = elsewhere()

    def bound() -> dict[str, int]:
        found = {}
        for point in BINDINGS:
            kind, _, rest = point.partition("_")
            word = f"TEXTURE_BINDING_{rest}" if kind == "TEXTURE" else f"{point}_BINDING"
            found[point] = int(gl.get_integerv(getattr(GL, word))[0])
        return found

    before = bound()
    assert len({before["DRAW_FRAMEBUFFER"], before["READ_FRAMEBUFFER"], 0}) == 3
    for method, given in CLEARS:
        getattr(gl, method)(0 if window else made[2], *given)
        gl.get_error()
        assert bound() == before, method
        gl.blit_named_framebuffer(
            made[1], 0, 0, 0, 4, 4, 0, 0, 4, 4, GL.COLOR_BUFFER_BIT, GL.NEAREST
        )
        assert gl.get_error() == GL.NO_ERROR
        assert bound() == before
