"""Direct state access: a call that names its object does what its twin does to the bound one.

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
_LINES = Path(__file__).with_name("twins.txt").read_text().splitlines()
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
def test_a_call_by_name_does_what_its_twin_does(row: str) -> None:
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
