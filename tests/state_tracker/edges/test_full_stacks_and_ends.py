"""Calls where something is full, or ends exactly there: one less, as many, one more.

What no single argument shows (a stack that is nearly full, a buffer that ends where an image does,
a program that must be in use) has a row in `full_stacks_and_ends.txt`, what a state forbids one in
`refusals.txt`, and what OpenGL ES forbids one in `es_refusals.txt`. The errors are the native GL's,
or stand in the row.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.compiler.text_tables import table_rows
from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.edges.walk import prepared
from tests.state_tracker.helpers import linked

_SUBROUTINES = """#version 430 compatibility
subroutine vec4 Way(); subroutine(Way) vec4 one() { return vec4(1.0); }
subroutine(Way) vec4 two() { return vec4(0.5); } subroutine uniform Way way; out vec4 result;
void main() { result = way(); }"""

_ES_COMPUTE = "#version 310 es\nlayout(local_size_x = 1) in; void main() {}"
_ES_VERTEX = "#version 310 es\nout vec4 v; void main() { gl_Position = v = vec4(0.0); }"
_ES_FRAGMENT = "#version 310 es\nout highp vec4 c; void main() { c = vec4(1.0); }"
_UNIFORMS = "uniform float f[2]; uniform float g; uniform int i; uniform bvec2 b; uniform mat2 m; "
_READ = "result = vec4(f[1], g, m[0][0], i + int(b.x));"


class Names(dict[str, Any]):
    """What a row can say: functions and enums of a context, and the helpers below."""

    def __init__(self, gl: Any) -> None:
        self.gl = gl
        super().__init__(
            times=lambda count, call, *given: [call(*given) for _ in range(count)],
            around=lambda value: [value + step for step in (-2, -1, 0, 1)],
            room=lambda count, kind="u1": np.zeros(count, kind),
            filled=lambda value, kind: np.full(4, value, kind),
            limit=self._limit,
            limit_of=lambda target, pname: int(gl.get_programiv_arb(target, pname)[0]),
            compute=self._compute,
            program=self._program,
            subroutines=lambda: self._linked({GL.FRAGMENT_SHADER: _SUBROUTINES}),
            texture=self._texture,
            compressed=self._compressed,
            framebuffer=self._framebuffers,
            uniforms=lambda: self._program(_UNIFORMS, _READ),
            geometry=self._geometry,
            captured=self._captured,
            multisample=self._multisample,
            buffer_texture=self._buffer_texture,
            buffer=self._buffer,
            es_compute=lambda: self._linked({GL.COMPUTE_SHADER: _ES_COMPUTE}),
            es_captured=self._es_captured,
        )

    def __missing__(self, name: str) -> Any:
        if hasattr(builtins, name):
            raise KeyError(name)
        if name.isupper() or name.startswith("GL_"):
            return GL.value_of(name.removeprefix("GL_"))
        return getattr(self.gl, name)

    def _limit(self, pname: int, index: int = -1) -> int:
        found = self.gl.get_integerv(pname) if index < 0 else self.gl.get_integeri_v(pname, index)
        return int(found[0])

    def _linked(self, sources: dict[int, str]) -> int:
        return linked(self.gl, sources, used=False)

    def _compute(self, layout: str = "layout(local_size_x = 1) in;") -> int:
        head = "#version 430\n#extension GL_ARB_compute_variable_group_size : enable\n"
        return self._linked({GL.COMPUTE_SHADER: f"{head}{layout} void main() {{}}"})

    def _program(self, declared: str, body: str) -> int:
        head = "#version 430 compatibility\nout vec4 result; "
        main = f"void main() {{ result = vec4(1.0); {body} }}"
        return self._linked({GL.FRAGMENT_SHADER: head + declared + main})

    def _geometry(self, primitive: str) -> int:
        head = "#version 430 compatibility\n"
        out = f"layout({primitive}) in; layout(points, max_vertices = 1) out; void main() {{}}"
        vertex = head + "void main() { gl_Position = vec4(0.0); }"
        return self._linked({GL.VERTEX_SHADER: vertex, GL.GEOMETRY_SHADER: head + out})

    def _captured(self) -> int:
        """A program whose position is captured, in blocks of its own."""
        gl = self.gl
        vertex = "#version 430 compatibility\nvoid main() { gl_Position = vec4(0.0); }"
        made = self._linked({GL.VERTEX_SHADER: vertex})
        gl.transform_feedback_varyings(made, 1, ["gl_Position"], GL.INTERLEAVED_ATTRIBS)
        gl.link_program(made)
        return made

    def _es_captured(self) -> int:
        """A program of OpenGL ES in use whose output `v` is captured."""
        gl = self.gl
        made = self._linked({GL.VERTEX_SHADER: _ES_VERTEX, GL.FRAGMENT_SHADER: _ES_FRAGMENT})
        gl.transform_feedback_varyings(made, 1, ["v"], GL.INTERLEAVED_ATTRIBS)
        gl.link_program(made)
        gl.use_program(made)
        return made

    def _buffer(self, target: int) -> int:
        """64 bytes of zeros, bound to the target, and to its first index if it has any."""
        gl = self.gl
        name: int = gl.gen_buffers(1)[0]
        gl.bind_buffer(target, name)
        gl.buffer_data(target, 64, np.zeros(64, np.uint8), GL.STATIC_DRAW)
        if target == GL.TRANSFORM_FEEDBACK_BUFFER:
            gl.bind_buffer_base(target, 0, name)
        return name

    def _multisample(self) -> int:
        """A texture of four samples."""
        gl = self.gl
        name: int = gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_2D_MULTISAMPLE, name)
        gl.tex_storage2d_multisample(GL.TEXTURE_2D_MULTISAMPLE, 4, GL.RGBA8, 4, 4, 1)
        return name

    def _buffer_texture(self) -> int:
        """A texture that is the first buffer."""
        gl = self.gl
        name: int = gl.gen_textures(1)[0]
        gl.bind_texture(GL.TEXTURE_BUFFER, name)
        gl.tex_buffer(GL.TEXTURE_BUFFER, GL.RGBA8, 1)
        return name

    def _texture(self, target: int) -> int:
        """Six layers or faces of 2x2 texels, bound."""
        gl = self.gl
        name: int = gl.gen_textures(1)[0]
        gl.bind_texture(target, name)
        if target == GL.TEXTURE_CUBE_MAP:
            gl.tex_storage2d(target, 1, GL.RGBA8, 2, 2)
        else:
            gl.tex_storage3d(target, 1, GL.RGBA8, 2, 2, 6)
        return name

    def _compressed(self, target: int) -> int:
        """One block, or one per face."""
        name: int = self.gl.gen_textures(1)[0]
        self.gl.bind_texture(target, name)
        self.gl.tex_storage2d(target, 1, GL.COMPRESSED_RGBA_BPTC_UNORM, 4, 4)
        return name

    def _framebuffers(self, read: int, draw: int) -> None:
        """Framebuffers of 4x4 with so many samples, to read and to draw into."""
        gl = self.gl
        for target, samples in ((GL.READ_FRAMEBUFFER, read), (GL.DRAW_FRAMEBUFFER, draw)):
            gl.bind_framebuffer(target, gl.gen_framebuffers(1)[0])
            gl.bind_renderbuffer(GL.RENDERBUFFER, gl.gen_renderbuffers(1)[0])
            gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, GL.RGBA8, 4, 4)
            point, bound = GL.COLOR_ATTACHMENT0, gl.get_integerv(GL.RENDERBUFFER_BINDING)[0]
            gl.framebuffer_renderbuffer(target, point, GL.RENDERBUFFER, bound)


@dataclass(frozen=True, slots=True)
class Row:
    """A line of the table."""

    text: str
    setup: str
    call: str
    values: str
    errors: list[str]
    profile: str = "compat"

    @classmethod
    def of(cls, text: str, profile: str) -> Row:
        setup, call, values, *errors = (part.strip() for part in f" {text}".split(" | "))
        own = [f"GL_{name.strip()}" for name in "".join(errors).split(",") if name]
        return cls(text, setup, call, values, own, profile)

    def codes(self, gl: Any) -> list[str]:
        """The error of the call for each n, by name."""
        names = Names(prepared(gl) if self.profile == "compat" else gl)
        exec(self.setup, {}, names)
        assert gl.get_error() == GL.NO_ERROR, self.text
        found = []
        for n in eval(f"[{self.values}]", {}, names):
            names["n"] = n
            exec(self.call, {}, names)
            found.append(GL.name_of(gl.get_error(), "error"))
            while gl.get_error():
                pass
        gl.release()
        return found


FOLDER = Path(__file__).parent
TABLES = {"full_stacks_and_ends": "compat", "refusals": "compat", "es_refusals": "es"}
ROWS = [
    Row.of(line, profile)
    for name, profile in TABLES.items()
    for line in table_rows(FOLDER / f"{name}.txt")
]


def ours(profile: str) -> Any:
    version = (4, 3) if profile == "compat" else (3, 2)
    return create_context("numpipe", profile=profile, version=version, size=(16, 16))


def theirs(profile: str) -> Any:
    version = (4, 5) if profile == "compat" else (3, 2)
    return native_context(profile=profile, version=version, size=(16, 16))


def _wrong(expected: Callable[[Row], list[str]], rows: list[Row]) -> list[str]:
    found = ((row, row.codes(ours(row.profile)), expected(row)) for row in rows)
    return [f"{row.text}: {mine}, not {other}" for row, mine, other in found if mine != other]


@pytest.mark.native
def test_errors_where_something_is_full_are_the_native_gls() -> None:
    rows = [row for row in ROWS if not row.errors]
    assert _wrong(lambda row: row.codes(theirs(row.profile)), rows) == []


def test_errors_where_something_is_full_are_those_of_the_table() -> None:
    assert _wrong(lambda row: row.errors, [row for row in ROWS if row.errors]) == []
