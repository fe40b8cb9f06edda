"""The lesson: one triangle, followed through every layer by the records of its own run."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gallette.capture import open_capture
from gallette.capture.recorder import recording as recording_calls
from gallette.compiler.nir.run.pass_runner import PassRecord, recording
from gallette.debugger.invocation import debug_vertex, without_compile_cache
from gallette.history import pixel_history
from gallette.history.records import Fragment
from gallette.notebook import show
from gallette.pipe.loader import create_screen
from gallette.scenes.common import shaders
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL

SIZE = (160, 120)
GLSL = shaders(__file__)
VERTEX = GLSL["vertex"]
FRAGMENT = GLSL["fragment"]


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


@dataclass(eq=False)
class Run:
    """The records of all layers from a run of the program above."""

    capture: Path
    pipe_calls: list[dict[str, Any]]
    passes: list[PassRecord]
    stages: dict[str, dict[str, Any]]
    picture: Any


def run_once(driver: str) -> Run:
    """Run the program with every layer recording."""
    calls: list[dict[str, Any]] = []
    folder = tempfile.mkdtemp(prefix="gallette-triangle-")
    path = Path(folder) / "triangle.gcap"
    screen = create_screen(f"trace:{driver}", sink=calls.append)
    header = {"program": "triangle", "driver": driver}
    with without_compile_cache(), recording() as log, recording_calls(path, **header):
        gl: Any = Context(screen=screen, profile="core", version=(3, 3), size=SIZE)
        draw(gl)
        picture = show(gl).rgb()
        handles = gl.programs.executable.handles
        stages = {stage.value: gl.pipe.explain(h) for (stage, _), h in handles.items()}
        gl.release()
    run = Run(path, calls, log.made_progress(), stages, picture)
    weakref.finalize(run, shutil.rmtree, folder, ignore_errors=True)
    return run


def gl_calls(run: Run) -> list[str]:
    """The program's calls up to the draw, as captured."""
    calls = open_capture(run.capture).calls
    last = next(i for i, c in enumerate(calls) if c.name == "DrawArrays")
    return [str(c) for c in calls[: last + 1]]


def pipe_calls(run: Run) -> list[str]:
    """The calls of the driver up to the draw."""
    kept = [c for c in run.pipe_calls if "call" in c]
    last = next(i for i, c in enumerate(kept) if c["call"] == "draw_vbo")
    return [_call(c) for c in kept[: last + 1]]


def vertex_rows(run: Run, driver: str) -> list[tuple[str, ...]]:
    """The vertex shader's outputs for each vertex, and its position in the window."""
    rows: list[tuple[str, ...]] = []
    for vertex in range(3):
        outputs = debug_vertex(str(run.capture), vertex, driver).outputs
        position = next(v for k, v in outputs.items() if k.lower().startswith("pos"))
        others = [v for k, v in outputs.items() if not k.lower().startswith("pos")]
        x, y = ((position[i] / position[3] * 0.5 + 0.5) * size for i, size in enumerate(SIZE))
        shade = _vector(others[0][:3]) if others else ""
        rows.append((str(vertex), _vector(position), f"{x:.1f}, {y:.1f}", shade))
    return rows


def history_rows(run: Run, x: int, y: int, driver: str) -> tuple[list[tuple[str, ...]], str]:
    """The history of a pixel, and its bytes in memory at the end."""
    history = pixel_history(str(run.capture), x, y, driver)
    rows: list[tuple[str, ...]] = []
    for event in history.events:
        if not event.touched:
            continue
        rows.append((event.call, "before", str(event.before.get("colour 0", ""))))
        rows += [(f"  {k}", "", v) for f in event.fragments for k, v in _fragment(f)]
        rows += [("  no fragment", "", f.verdict) for f in event.missing]
        rows.append((event.call, "after", str(event.after.get("colour 0", ""))))
    return rows, history.final["colour 0"].raw.hex(" ")


def with_mark(picture: Any, x: int, y: int) -> Any:
    """The picture, twice as large, with a frame around a pixel."""
    large = np.repeat(np.repeat(picture, 2, 0), 2, 1)
    row, column = 2 * (SIZE[1] - 1 - y), 2 * x
    inside = large[row, column].copy()
    large[max(row - 4, 0) : row + 6, max(column - 4, 0) : column + 6] = (255, 255, 255)
    large[row - 2 : row + 4, column - 2 : column + 4] = inside
    return large


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


def _vector(values: Any) -> str:
    return ", ".join(f"{v:.3g}" for v in values)


def _fragment(f: Fragment) -> Iterator[tuple[str, str]]:
    """A fragment's history, in rows."""
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
