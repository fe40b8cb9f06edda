"""Lesson: one triangle, followed through every layer by the records of its own run."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gallette.capture import open_capture
from gallette.capture.recorder import recording as recording_calls
from gallette.compiler.nir.run.pass_runner import PassRecord, recording
from gallette.debugger.invocation import compiled_afresh, debug_vertex
from gallette.history import pixel_history
from gallette.history.records import Fragment
from gallette.lessons.page import Block, Code, Drawing, Page, Pictures, Prose, Table, lesson
from gallette.notebook import show
from gallette.pipe.loader import create_screen
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL

__all__ = ["FRAGMENT", "VERTEX", "Run", "run_once"]

SIZE = (160, 120)
VERTEX = """#version 330
in vec2 position;
in vec3 shade;
out vec3 mixed;
void main() {
    mixed = shade;
    gl_Position = vec4(position, 0.0, 1.0);
}
"""
FRAGMENT = """#version 330
in vec3 mixed;
uniform float light;
out vec4 color;
void main() {
    color = vec4(mixed * light, 1.0);
}
"""


def draw(gl: Any) -> None:
    """Everything an application does for a triangle."""
    program = gl.create_program()
    for kind, text in ((GL.VERTEX_SHADER, VERTEX), (GL.FRAGMENT_SHADER, FRAGMENT)):
        shader = gl.create_shader(kind)
        gl.shader_source(shader, text)
        gl.compile_shader(shader)
        gl.attach_shader(program, shader)
    gl.link_program(program)
    gl.use_program(program)
    gl.uniform1f(gl.get_uniform_location(program, "light"), 0.8)
    corners = np.array(
        [[-0.8, -0.7, 1, 0, 0], [0.8, -0.7, 0, 1, 0], [0.0, 0.8, 0, 0, 1]], np.float32
    )
    gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
    gl.bind_buffer(GL.ARRAY_BUFFER, gl.gen_buffers(1)[0])
    gl.buffer_data(GL.ARRAY_BUFFER, corners.nbytes, corners, GL.STATIC_DRAW)
    for name, components, offset in (("position", 2, 0), ("shade", 3, 8)):
        place = gl.get_attrib_location(program, name)
        gl.vertex_attrib_pointer(place, components, GL.FLOAT, 0, 20, offset)
        gl.enable_vertex_attrib_array(place)
    gl.clear_color(0.1, 0.1, 0.15, 1.0)
    gl.clear(GL.COLOR_BUFFER_BIT)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)


@dataclass(slots=True)
class Run:
    """What the layers wrote down while the program above ran."""

    capture: Path
    pipe_calls: list[dict[str, Any]]
    passes: list[PassRecord]
    stages: dict[str, dict[str, Any]]
    picture: Any


@contextmanager
def run_once(driver: str) -> Iterator[Run]:
    """Run it, with everybody taking notes."""
    calls: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "triangle.gcap"
        screen = create_screen(f"trace:{driver}", sink=calls.append)
        header = {"program": "triangle", "driver": driver}
        with compiled_afresh(), recording() as log, recording_calls(path, **header):
            gl: Any = Context(screen=screen, profile="core", version=(3, 3), size=SIZE)
            draw(gl)
            picture = show(gl).rgb()
            handles = gl.programs.executable.handles
            stages = {stage.value: gl.pipe.explain(h) for (stage, _), h in handles.items()}
            gl.release()
        yield Run(path, calls, log.made_progress(), stages, picture)


@lesson("triangle", "A triangle's way through the stack", chapter="First steps", place=10)
def run(page: Page, driver: str) -> None:
    """Twenty GL calls, and what becomes of them in each layer, down to the bytes of one pixel.

    Nothing on this page is drawn by hand: it is what the layers wrote down during one run.
    """
    page.section(
        "The layers",
        """OpenGL above, pixels below, and a narrow place in the middle: the state tracker is all
        of OpenGL and knows no machine, the driver knows the machine and no OpenGL. Between them
        is the pipe, an interface of a few dozen calls. Shaders go down a way of their own.""",
    )
    page.add(_stack())
    page.add(Code(inspect.getsource(draw).strip(), "python", "the program"))
    page.progress("one run")
    with run_once(driver) as seen:
        _gl_calls(page, seen)
        _pipe_calls(page, seen)
        _shaders(page, seen)
        page.progress("vertices")
        _vertices(page, seen, driver)
        page.progress("pixels")
        _pixels(page, seen, driver)
    page.ask(
        "Which layer would you look into if `glDrawArrays` left GL_INVALID_OPERATION?",
        """The state tracker: the driver never sees a call that is an error. The flag `gl:calls` of
        GALLETTE_DEBUG prints the calls as they come.""",
    )
    page.ask(
        "The triangle is right and its colours are wrong. Which record tells most?",
        """The pixel's: it has what the shader wrote next to what was stored. If the shader's
        output is wrong, step through it; if it is right, look at blending, masks and format.""",
    )
    page.tries(
        ("gallette trace my_script.py -o my.gcap", "a capture of a program of your own"),
        (
            "gallette trace gradient",
            "the pipe's side: each draw and the state behind it",
        ),
        ("gallette pixel shadow_map 120,90", "the history of a pixel of a larger scene"),
        ("gallette inspect shadow_map", "all of this in one page, for every draw"),
    )


def _gl_calls(page: Page, seen: Run) -> None:
    calls = open_capture(seen.capture).calls
    calls = calls[: 1 + next(i for i, c in enumerate(calls) if c.name == "DrawArrays")]
    text = "\n".join(str(c) for c in calls)
    page.section(
        "1. OpenGL",
        f"""{len(calls)} calls. Most only change what is remembered: objects, bindings, names. The
        state tracker checks each of them, and sets an error instead of doing what is wrong.""",
    )
    page.add(Code(text, "text", "the capture"))


def _pipe_calls(page: Page, seen: Run) -> None:
    kept = [c for c in seen.pipe_calls if "call" in c]
    kept = kept[: 1 + next(i for i, c in enumerate(kept) if c["call"] == "draw_vbo")]
    page.section(
        "2. Pipe",
        f"""Only when something is drawn does the tracker look at what has changed, and derive the
        driver's state from it: {len(kept)} calls, up to the draw. State objects are immutable;
        hundreds of GL settings have become a handful of them, mostly left at their defaults.""",
    )
    page.add(Code("\n".join(_call(c) for c in kept), "text", "what the driver was asked to do"))


def _call(call: dict[str, Any]) -> str:
    args = ", ".join(f"{k}={_short(v)}" for k, v in call.get("args", {}).items())
    result = call.get("result")
    return f"{call['call']}({args})" + (f" -> {_short(result)}" if result is not None else "")


def _short(value: Any) -> str:
    if isinstance(value, dict):
        if "bytes" in value:
            return f"<{value['bytes']} bytes>"
        inner = ", ".join(f"{k}={_short(v)}" for k, v in value.items() if k != "type")
        return f"{value.get('type', '')}({inner})"
    if isinstance(value, list):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    text = str(value)
    return text if len(text) < 60 else text[:57] + "..."


def _shaders(page: Page, seen: Run) -> None:
    page.section(
        "3. Shaders",
        f"""Linking made NIR of both shaders, and {len(seen.passes)} runs of passes changed it: some
        in the linker, the rest when the driver was given the shader. The driver's code for the
        null key, a draw that asks for nothing special, is made at once.""",
    )
    for stage in ("vertex", "fragment"):
        variant = seen.stages[stage]["variants"][-1]
        source = VERTEX if stage == "vertex" else FRAGMENT
        names = [r.name for r in seen.passes if r.stage == stage]
        states: list[tuple[str, list[Block]]] = [
            ("GLSL", [Code(source.strip(), "glsl")]),
            ("passes", [Prose(" · ".join(names))]),
            ("NIR", [Code(variant["nir"].strip(), "nir")]),
            ("code", [Code(variant["code"].strip(), "python")]),
        ]
        page.flip(f"the {stage} shader", *states)


def _vertices(page: Page, seen: Run, driver: str) -> None:
    page.section(
        "4. Vertices",
        """The vertex shader runs for three lanes. Positions are in clip space; dividing by w and
        applying the viewport gives places in the window.""",
    )
    rows: list[tuple[str, ...]] = []
    for vertex in range(3):
        outputs = debug_vertex(str(seen.capture), vertex, driver).outputs
        position = next(v for k, v in outputs.items() if k.lower().startswith("pos"))
        others = [v for k, v in outputs.items() if not k.lower().startswith("pos")]
        x, y = ((position[i] / position[3] * 0.5 + 0.5) * size for i, size in enumerate(SIZE))
        shade = _vector(others[0][:3]) if others else ""
        rows.append((str(vertex), _vector(position), f"{x:.1f}, {y:.1f}", shade))
    page.add(Table(("vertex", "gl_Position", "window", "mixed"), rows))


def _vector(values: Any) -> str:
    return ", ".join(f"{v:.3g}" for v in values)


def _pixels(page: Page, seen: Run, driver: str) -> None:
    page.section(
        "5. Fragments and pixels",
        """The rasterizer decides, exactly, which pixels' centres lie in the triangle. For each the
        inputs are weighed with the barycentrics, the fragment shader runs, tests are made, and
        what is left is converted to the framebuffer's format and stored. The same questions can
        be asked of any pixel of any program.""",
    )
    picture = np.repeat(np.repeat(seen.picture, 2, 0), 2, 1)
    states: list[tuple[str, list[Block]]] = []
    for name, x, y in (("inside", 80, 50), ("near a corner", 20, 20), ("outside", 10, 100)):
        history = pixel_history(str(seen.capture), x, y, driver)
        marked = picture.copy()
        row, column = 2 * (SIZE[1] - 1 - y), 2 * x
        marked[max(row - 4, 0) : row + 6, max(column - 4, 0) : column + 6] = (255, 255, 255)
        marked[row - 2 : row + 4, column - 2 : column + 4] = picture[row, column]
        rows: list[tuple[str, ...]] = []
        for event in history.events:
            if not event.touched:
                continue
            rows.append((event.call, "before", str(event.before.get("colour 0", ""))))
            rows += [(f"  {k}", "", v) for f in event.fragments for k, v in _fragment(f)]
            rows += [("  no fragment", "", f.verdict) for f in event.missing]
            rows.append((event.call, "after", str(event.after.get("colour 0", ""))))
        final = history.final["colour 0"].raw.hex(" ")
        blocks: list[Block] = [
            Pictures([(f"pixel {x}, {y}", marked)]),
            Table(("call", "", "what happened"), rows),
            Prose(f"In memory: {final}."),
        ]
        states.append((f"{name}: {x}, {y}", blocks))
    page.flip("the history of a pixel", *states)


def _fragment(f: Fragment) -> Iterator[tuple[str, str]]:
    """A fragment's story, in rows."""
    yield "primitive", f"{f.primitive}, vertices {', '.join(map(str, f.vertices))}"
    if f.weights:
        yield "barycentrics", _vector(f.weights)
    if f.depth is not None:
        yield "depth", f"{f.depth:.6g}"
    for test in f.tests:
        yield "test", str(test)
    for name, values in f.outputs.items():
        yield f"shader output {name}", _vector(values)
    yield "verdict", f.verdict


_LAYERS = (
    ("the application", "glDrawArrays", "box"),
    ("state_tracker", "OpenGL: objects, errors, what is bound", "box"),
    ("pipe", "immutable state, draw, copy", "good"),
    ("driver", "vertices, coverage, fragments, tests, blending", "box"),
    ("memory", "pixels", "box"),
)


def _stack() -> Drawing:
    """The layers, and the compiler beside them."""
    parts = []
    for i, (name, what, kind) in enumerate(_LAYERS):
        y = 10 + 58 * i
        parts.append(f'<rect class="{kind}" x="10" y="{y}" width="330" height="42" rx="6"/>')
        parts.append(f'<text x="22" y="{y + 18}" font-weight="600">{name}</text>')
        parts.append(f'<text class="faint" x="22" y="{y + 34}">{what}</text>')
        if i:
            parts.append(f'<path class="arrow" d="M175 {y - 16} v14 m-4 -5 l4 5 l4 -5"/>')
    parts.append('<rect class="box" x="400" y="68" width="230" height="158" rx="6"/>')
    parts.append('<text x="412" y="86" font-weight="600">compiler</text>')
    steps = ("GLSL or SPIR-V", "NIR: passes, optimisation", "what the driver lowers")
    for i, line in enumerate((*steps, "code of each variant")):
        parts.append(f'<text class="faint" x="412" y="{108 + 30 * i}">{line}</text>')
    parts.append('<path class="arrow" d="M340 89 h56 m-5 -4 l5 4 l-5 4"/>')
    parts.append('<path class="arrow" d="M400 205 h-56 m5 -4 l-5 4 l5 4"/>')
    svg = f'<svg viewBox="0 0 640 300" width="640" height="300">{"".join(parts)}</svg>'
    words = " -> ".join(name for name, _, _ in _LAYERS)
    return Drawing(svg, f"{words}; shaders: GLSL -> NIR -> the driver's code", "the stack")
