"""The live explorer: a pair of shaders, compiled and drawn with whenever they change.

One compilation serves everything: the GL context that draws the picture compiles with every pass
recorded, and the driver's own variants are asked for afterwards.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.run.pass_runner import recording
from gallette.compiler.nir.text.printer import print_shader
from gallette.debugger.invocation import compiled_afresh
from gallette.inspector.frames import Frame
from gallette.inspector.programs import Way, add_passes, marked_code
from gallette.inspector.service import Questions
from gallette.inspector.surfaces import attachments_of
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL

__all__ = ["Explorer", "sources_of"]

SIZE = 256
VERTEX = """#version 330
in vec2 position;
out vec2 uv;
void main() {
    uv = position * 0.5 + 0.5;
    gl_Position = vec4(position, 0.0, 1.0);
}
"""
FRAGMENT = """#version 330
in vec2 uv;
uniform float time;
out vec4 color;
void main() {
    vec3 wave = 0.5 + 0.5 * cos(time + uv.xyx * 6.0 + vec3(0.0, 2.0, 4.0));
    color = vec4(wave, 1.0);
}
"""
# Switches that become fields of variant keys: the name, and the GL capability.
SWITCHES = {"clip plane 0": GL.CLIP_DISTANCE0, "alpha test": GL.ALPHA_TEST, "two sides": 0x8643}
USED_ONCE = ("not_position", "always", "never")
_CORNERS = np.array([[-1, -1], [1, -1], [-1, 1], [1, 1]], np.float32)


EXAMPLES: dict[str, dict[str, str]] = {
    "waves": {"vertex": VERTEX, "fragment": FRAGMENT},
    "a loop that pixels leave": {
        "vertex": VERTEX,
        "fragment": """#version 330
in vec2 uv;
uniform float time;
out vec4 color;
void main() {
    vec2 c = uv * 3.0 - vec2(2.0, 1.5), z = c;
    int steps = 0;
    for (; steps < 40 && dot(z, z) < 4.0; steps++)
        z = vec2(z.x * z.x - z.y * z.y, 2.0 * z.x * z.y) + c;
    color = vec4(vec3(float(steps) / 40.0) * (0.75 + 0.25 * sin(time)), 1.0);
}
""",
    },
    "a branch that becomes a selection": {
        "vertex": VERTEX,
        "fragment": """#version 330
in vec2 uv;
uniform float level;
out vec4 color;
void main() {
    float shade = uv.x * level * 2.0;
    if (shade > 0.5) {
        shade = 1.0 - shade;
    }
    color = vec4(shade, shade, uv.y, 1.0);
}
""",
    },
    "a light at the pointer": {
        "vertex": VERTEX,
        "fragment": """#version 330
in vec2 uv;
uniform vec2 mouse;
out vec4 color;
void main() {
    float near = 1.0 - smoothstep(0.0, 0.4, distance(uv, mouse));
    color = vec4(vec3(near) * vec3(1.0, 0.8, 0.5), 1.0);
}
""",
    },
    "colours of fixed function": {
        "vertex": """#version 120
attribute vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    gl_FrontColor = vec4(position * 0.5 + 0.5, 0.0, 0.75);
    gl_BackColor = vec4(0.0, 0.0, 1.0, 0.25);
}
""",
        "fragment": """#version 120
void main() {
    gl_FragColor = gl_Color;
}
""",
    },
}
_ERROR = re.compile(r"^<(\w+) shader>:(\d+):(\d+): error: (.*)$", re.M)


def errors_of(log: str) -> list[list[Any]]:
    """[stage, line, column, message] of each error in a log."""
    return [[m[1], int(m[2]), int(m[3]), m[4]] for m in _ERROR.finditer(log)]


def sources_of(path: Path) -> dict[str, str]:
    """The pair a file belongs to: `a.frag` goes with `a.vert` if there is one."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".vert":
        other = path.with_suffix(".frag")
        fragment = other.read_text(encoding="utf-8") if other.exists() else FRAGMENT
        return {"vertex": text, "fragment": fragment}
    other = path.with_suffix(".vert")
    vertex = other.read_text(encoding="utf-8") if other.exists() else VERTEX
    return {"vertex": vertex, "fragment": text}


class Explorer(Questions):
    """Compiles, draws, answers."""

    def __init__(self, sources: dict[str, str] | None = None, driver: str = "numpipe"):
        super().__init__(Frame("explorer", driver))
        self.sources = sources or {"vertex": VERTEX, "fragment": FRAGMENT}
        self.driver = driver
        self._contexts: dict[tuple[str, str, bool], Any] = {}
        self.questions = {"frame": self._start, "explore": self._explore}

    def _start(self, q: dict[str, Any]) -> Any:
        drivers = [self.driver, *(d for d in ("numpipe", "jit") if d != self.driver)]
        return {
            "title": "explorer",
            "sources": self.sources,
            "drivers": drivers,
            "used_once": list(USED_ONCE),
            "switches": list(SWITCHES),
            "examples": EXAMPLES,
        }

    def close(self) -> None:
        """The contexts go."""
        for gl in self._contexts.values():
            if not gl.released:
                gl.make_current()
                gl.release()
        self._contexts.clear()

    def _context(self, driver: str, used_once: str, fuse: bool) -> Any:
        key = driver, used_once, fuse
        gl = self._contexts.get(key)
        if gl is None or gl.released:
            options: dict[str, Any] = {"inexact_used_once": used_once, "fuse_ffma": fuse}
            gl = Context(driver, profile="compat", version=(3, 3), size=(SIZE, SIZE), **options)
            self._contexts[key] = gl
        gl.make_current()
        return gl

    def _drop(self, gl: Any) -> None:
        """A context that cannot draw any more, or whose state is in doubt: the next is new."""
        self._contexts = {key: kept for key, kept in self._contexts.items() if kept is not gl}
        gl.release()

    def _explore(self, q: dict[str, Any]) -> Any:
        used_once = str(q.get("used_once", USED_ONCE[0]))
        if used_once not in USED_ONCE:
            raise GalletteError(f"unknown setting: {used_once}")
        driver = str(q.get("driver", self.driver))
        if driver not in self._start({})["drivers"]:
            raise GalletteError(f"unknown driver: {driver}")
        texts = {"vertex": str(q["vertex"]), "fragment": str(q["fragment"])}
        switches = [name for name in SWITCHES if dict(q.get("switches", {})).get(name)]
        given = float(q.get("time", 0.0)), *map(float, q.get("mouse", (0.0, 0.0))[:2])
        gl = self._context(driver, used_once, bool(q.get("fuse")))
        usable = False
        try:
            answer = self._drawn(gl, texts, switches, given)
            usable = not gl.lost
        finally:
            if not usable:
                self._drop(gl)
        return answer

    def _drawn(
        self, gl: Any, texts: dict[str, str], switches: list[str], given: tuple[float, ...]
    ) -> dict[str, Any]:
        """What becomes of a pair of shaders, as far as it gets."""
        start = time.perf_counter()
        with (
            compiled_afresh(),
            recording(lines=True) as passes,
            np.errstate(all="ignore"),
            _program(gl, texts) as (program, log),
        ):
            if not program:
                return {"log": log, "errors": errors_of(log), "stages": [], "picture": ""}
            for name in switches:
                gl.enable(SWITCHES[name])
            gl.alpha_func(GL.GREATER, 0.5)
            try:
                _draw(gl, program, given)
            finally:
                for capability in SWITCHES.values():
                    gl.disable(capability)
            gl.pipe.settle()
            ways = _ways(gl, texts, passes.records)
            failure = _failure(gl)
            if failure:
                return {"log": log + failure, "stages": ways, "picture": ""}
            picture = attachments_of(gl.pipe, gl.pipe_framebuffer)["colour 0"]
            name = self.frame.keep(picture)
        spent = round((time.perf_counter() - start) * 1000)
        return {"log": log, "stages": ways, "picture": name, "milliseconds": spent}


@contextmanager
def _program(gl: Any, texts: dict[str, str]) -> Iterator[tuple[int, str]]:
    """A linked program in use, and the log; 0 if it does not compile."""
    program, log = gl.create_program(), ""
    kinds = {"vertex": GL.VERTEX_SHADER, "fragment": GL.FRAGMENT_SHADER}
    for stage, text in texts.items():
        shader = gl.create_shader(kinds[stage])
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        log += gl.get_shader_info_log(shader)
        gl.attach_shader(program, shader)
        gl.delete_shader(shader)
    ok = True
    if log and "error" in log:
        ok = False
    else:
        gl.link_program(program)
        log += gl.get_program_info_log(program)
        ok = bool(gl.get_programiv(program, GL.LINK_STATUS)[0])
    if ok:
        gl.use_program(program)
    try:
        yield (program if ok else 0), log
    finally:
        gl.use_program(0)
        gl.delete_program(program)
        while gl.get_error():
            pass


def _draw(gl: Any, program: int, given: tuple[float, ...]) -> None:
    """A square over the whole picture; inputs and uniforms get something sensible by name."""
    linked = gl.programs.executable.linked
    for uniform in linked.uniforms:
        if not uniform.builtin and uniform.location >= 0:
            _set_uniform(gl, uniform, given)
    vertex_array, buffer = gl.gen_vertex_arrays(1)[0], gl.gen_buffers(1)[0]
    gl.bind_vertex_array(vertex_array)
    gl.bind_buffer(GL.ARRAY_BUFFER, buffer)
    columns = []
    for attribute in linked.attributes:
        columns.append(_attribute(attribute.name.lower()))
    data = np.concatenate(columns, axis=1) if columns else np.zeros((4, 4), np.float32)
    data = np.ascontiguousarray(data, np.float32)
    gl.buffer_data(GL.ARRAY_BUFFER, data.nbytes, data, GL.STATIC_DRAW)
    for i, attribute in enumerate(linked.attributes):
        if attribute.location >= 0:
            gl.enable_vertex_attrib_array(attribute.location)
            gl.vertex_attrib_pointer(attribute.location, 4, GL.FLOAT, 0, data.strides[0], 16 * i)
    gl.viewport(0, 0, SIZE, SIZE)
    gl.clear_color(0, 0, 0, 0)
    gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gl.finish()
    gl.bind_vertex_array(0)
    gl.delete_vertex_arrays(1, [vertex_array])
    gl.delete_buffers(1, [buffer])


def _failure(gl: Any) -> str:
    """Why there is no picture, if there is none."""
    if gl.lost:
        return f"error: the shaders were stopped, and the context is made anew: {gl.lost}\n"
    code = gl.get_error()
    return f"error: {GL.name_of(code, 'error')}: the shaders cannot be drawn with\n" if code else ""


def _attribute(name: str) -> Any:
    """Four corners of an attribute, guessed from its name."""
    flat = np.zeros((4, 4), np.float32)
    if "norm" in name:
        flat[:, 2] = 1
    elif "col" in name:
        flat[:] = [[1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 1, 1], [1, 1, 0, 1]]
    elif "uv" in name or "tex" in name:
        flat[:, :2] = _CORNERS * 0.5 + 0.5
    else:
        flat[:, :2], flat[:, 3] = _CORNERS, 1
    return flat


def _set_uniform(gl: Any, uniform: Any, given: tuple[float, ...]) -> None:
    """`time` is the clock, `mouse` the pointer, matrices do nothing, other numbers are a half."""
    kind, location = uniform.type.without_array, uniform.location
    if kind.is_opaque:
        return
    base = kind.base.name
    if kind.is_matrix:
        if kind.columns == kind.rows and base == "FLOAT":
            matrix = np.eye(kind.rows, dtype=np.float32)
            getattr(gl, f"uniform_matrix{kind.rows}fv")(location, 1, 0, matrix)
        return
    value = given[0] if uniform.name.lower() in ("time", "t", "now", "itime") else 0.5
    if "resolution" in uniform.name.lower():
        value = float(SIZE)
    if base == "FLOAT":
        values = np.full(kind.components, value, np.float32)
        if "mouse" in uniform.name.lower():
            values[:2] = given[1:][: kind.components]
        getattr(gl, f"uniform{kind.components}fv")(location, 1, values)
    elif base in ("INT", "BOOL", "UINT"):
        letter = "ui" if base == "UINT" else "i"
        whole = np.ones(kind.components, np.uint32 if base == "UINT" else np.int32)
        getattr(gl, f"uniform{kind.components}{letter}v")(location, 1, whole)


def _ways(gl: Any, texts: dict[str, str], records: list[Any]) -> list[dict[str, Any]]:
    """Each stage's passes, and the variants its draw used."""
    ways = []
    for (stage, _), handle in gl.programs.executable.handles.items():
        way = Way(stage.value, texts.get(stage.value, ""))
        add_passes(way, [r for r in records if r.stage == stage.value])
        for v, told in zip(handle.variants.values(), handle.explain()["variants"], strict=True):
            way.variants.append(
                {
                    "key": told["key"],
                    "reason": told["reason"],
                    "nir": print_shader(v.shader, lines=True),
                    "code": marked_code(v, told["code"]),
                }
            )
        way.variants.reverse()  # the one the draw has just used comes first
        ways.append(asdict(way))
    return ways
