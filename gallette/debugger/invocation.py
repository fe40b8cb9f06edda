"""Finding an invocation of a real run, and tracing it: a fragment, a vertex or a compute lane.

The target runs on a driver in this process. A fragment is found by the pixel's witness, at the
moment it is shaded; vertices and compute invocations when their draw or launch is about to happen.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from gallette.capture.targets import run_target
from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir import Stage
from gallette.debugger.environment import DrawEnvironment
from gallette.debugger.output import trace_output
from gallette.debugger.records import Session
from gallette.debugger.tracer import trace_shader
from gallette.drivers.common.draw.compute import GroupLanes
from gallette.drivers.common.output.color import ColorTarget
from gallette.drivers.common.vertex.fetch import FetchedVertices
from gallette.drivers.common.vertex.stream import resolved, vertex_stream
from gallette.history.recorder import watch_pixel
from gallette.history.records import Fragment, History
from gallette.pipe.state import ComputeInfo, DrawInfo
from gallette.pipe.taps import PipeCall, tap
from gallette.state_tracker.shading.programs import STAGES
from gallette.terminal import counted

_QUAD = ("x, y", "x+1, y", "x, y+1", "x+1, y+1")


@contextmanager
def without_compile_cache() -> Iterator[None]:
    """A block in which no program is taken from the cache, because cached programs have no source
    locations.
    """
    before = os.environ.get("GALLETTE_CACHE")
    os.environ["GALLETTE_CACHE"] = "off"
    try:
        yield
    finally:
        if before is None:
            del os.environ["GALLETTE_CACHE"]
        else:
            os.environ["GALLETTE_CACHE"] = before


def source_of(gl: Any, stage: str) -> tuple[list[str], list[str]]:
    """The GLSL of a stage of the program in use, and the variables its programs declare."""
    program = getattr(gl.programs, "current", None)
    if program is None:
        return [], []
    texts = [o.source for o in program.linked_from if STAGES[o.type].value == stage]
    source = texts[0].splitlines() if texts else []
    return source, _declared(source)


def _declared(source: list[str]) -> list[str]:
    """The names of variables that the text declares, in order: those that can be shown by name."""
    pattern = re.compile(
        r"\b(?:[biud]?vec[234]|d?mat[234](?:x[234])?|float|double|int|uint|bool)\s+"
        r"([A-Za-z_]\w*)\s*(?=[;=,)\[])"
    )
    names = [m[1] for line in source for m in pattern.finditer(line.split("//")[0])]
    return list(dict.fromkeys(names))


# -- fragments -----------------------------------------------------------------------------------


@lazy_dataclass()
class _Examiner:
    """Traces fragments of a pixel as they are shaded, and keeps the latest requested one."""

    gl: Any = None
    draw: int = 0  # only of this drawing call, 0: any
    call: int = 0  # only of this OpenGL call, 0: any
    session: Session | None = None
    fragment: Fragment | None = None
    colors: Sequence[ColorTarget | None] = ()
    all: list[tuple[Fragment, Session]] = field(default_factory=list)
    keep: bool = False

    def __call__(self, fragment: Fragment, draw: Any, run: Any, lanes: Any, lane: int) -> None:
        if self.draw not in (0, self.gl.draw_number) or self.call not in (0, self.gl.call_number):
            return
        session = fragment_session(self.gl, fragment, draw, run, lanes, lane)
        if session is None:
            return
        self.session, self.fragment = session, fragment
        self.colors = run.engine.state.colors
        if self.keep:
            self.all.append((fragment, session))


def fragment_session(
    gl: Any, fragment: Fragment, draw: Any, run: Any, lanes: Any, lane: int
) -> Session | None:
    """A fragment that is about to be shaded, traced with its quad; None without a shader."""
    shader, key = draw.fixed.selection.origin[-1]
    if shader.stage is not Stage.FRAGMENT:
        return None
    variant = shader.variant_for(key)
    resources = _resources(run.shader.program)
    quad = bool(lanes.quads)
    first = lane - lane % 4 if quad else lane
    pick = list(range(first, first + 4)) if quad else [lane]
    env = DrawEnvironment(
        "fragment", lanes, resources, pick,
        quads=quad, flat_colors=bool(getattr(key, "flat_colors", False)),
    )  # fmt: skip
    source, names = source_of(gl, "fragment")
    session = Session(
        f"fragment of primitive {fragment.primitive}, call {gl.call_number}, draw {gl.draw_number}",
        "fragment",
        source,
        lane=lane - first,
        lanes=list(_QUAD) if quad else ["the fragment"],
        variables=names,
    )
    return trace_shader(variant.shader, env, session)


def _resources(program: Any) -> Any:
    found = getattr(program, "state", None) or getattr(program, "resources", None)
    if found is None:
        raise GalletteError("this driver does not show its programs; use numpipe")
    return found


def debug_fragment(
    target: str,
    x: int,
    y: int,
    driver: str = "numpipe",
    draw: int = 0,
    keep: bool = False,
    call: int = 0,
) -> tuple[Session, History, list[tuple[Fragment, Session]]]:
    """The last fragment of a pixel (of one drawing call, or of one OpenGL call), instruction by
    instruction.

    >>> session, history, _ = debug_fragment("gradient", 100, 90)
    >>> session.stage
    'fragment'
    """
    examiner = _Examiner(draw=draw, call=call, keep=keep)

    def created(gl: Any) -> None:
        examiner.gl = gl

    with without_compile_cache():
        history = watch_pixel(target, x, y, driver, examine=examiner, created=created)
    if examiner.session is None:
        raise GalletteError(
            f"no fragment of pixel {x},{y} was shaded"
            + (f" in draw {draw}" if draw else f" in call {call}" if call else "")
            + "; `gallette pixel` says why"
        )
    if examiner.fragment is not None:
        outputs = {k: list(v) for k, v in examiner.fragment.outputs.items()}
        examiner.session.driver_outputs = outputs
        trace_output(examiner.session, examiner.fragment, examiner.colors)
    return examiner.session, history, examiner.all


# -- vertices and compute --------------------------------------------------------------------------


def _traced(
    target: str, driver: str, draw: int, name: str, trace: Callable[[Any, Any], Session]
) -> Session | None:
    """What `trace(gl, info)` finds ahead of a pipe call of that name: of the first one, or of
    drawing call `draw`.
    """
    found: list[Session] = []
    errors: list[GalletteError] = []  # raised inside a GL call they would only become GL errors

    def created(gl: Any) -> None:
        def look(call: PipeCall) -> None:
            try:
                if draw in (0, gl.draw_number) and not found:
                    found.append(trace(gl, call.arguments["info"]))
            except GalletteError as error:
                errors.append(error)
            call.run()

        tap(gl.pipe, [name], look)

    with without_compile_cache(), np.errstate(all="ignore"):
        run_target(target, driver, created)
    if errors:
        raise errors[0]
    return found[0] if found else None


def _states(gl: Any) -> Any:
    states = getattr(gl.pipe, "_states", None)
    if states is None:
        raise GalletteError("this driver does not show its vertices; use numpipe")
    return states


def vertex_session(gl: Any, info: DrawInfo, vertex: int, instance: int, title: str) -> Session:
    """One vertex of the draw that is about to happen: `vertex` counts the draw's corners."""
    gl.pipe.execute_deferred()
    for single in resolved(info):
        state = _states(gl).of(single.mode)
        if state is None:
            continue
        stream, _, source = vertex_stream(single)
        if not 0 <= vertex < len(stream):
            raise GalletteError(f"the draw has vertices 0 to {len(stream) - 1}, not {vertex}")
        if not 0 <= instance < source.instances:
            raise GalletteError(f"the draw has {counted(source.instances, 'instance')}")
        lane = int(stream[vertex]) + instance * source.count
        lanes = FetchedVertices(source, state.elements, state.buffers, 0, source.lanes)
        shader, key = state.fixed.selection.origin[0]
        env = DrawEnvironment("vertex", lanes, _resources(state.programs[Stage.VERTEX]), [lane])
        source_text, names = source_of(gl, "vertex")
        session = Session(title, "vertex", source_text, lanes=["the vertex"], variables=names)
        return trace_shader(shader.variant_for(key).shader, env, session)
    raise GalletteError("the draw has no vertices")


def debug_vertex(
    target: str, vertex: int, driver: str = "numpipe", draw: int = 0, instance: int = 0
) -> Session:
    """A vertex of a draw (the first one, or drawing call `draw`).

    >>> debug_vertex("gradient", 0).stage
    'vertex'
    """

    def trace(gl: Any, info: DrawInfo) -> Session:
        title = f"vertex {vertex} of draw {gl.draw_number}"
        return vertex_session(gl, info, vertex, instance, title)

    found = _traced(target, driver, draw, "draw_vbo", trace)
    if found is None:
        what = f"draw {draw} of {target} has no vertices" if draw else f"{target} draws nothing"
        raise GalletteError(f"{what}; `gallette trace` lists the draws")
    return found


def debug_invocation(
    target: str, place: tuple[int, int, int], driver: str = "numpipe", draw: int = 0
) -> Session:
    """A compute invocation by its global number; its whole workgroup runs with it."""

    def trace(gl: Any, info: ComputeInfo) -> Session:
        title = f"invocation {place} of draw {gl.draw_number}"
        return _compute_session(gl, info, place, title)

    found = _traced(target, driver, draw, "launch_grid", trace)
    if found is None:
        what = f"draw {draw} of {target} is" if draw else f"{target} has"
        raise GalletteError(f"{what} no compute dispatch; `gallette trace` lists the draws")
    return found


def _compute_session(
    gl: Any, info: ComputeInfo, place: tuple[int, int, int], title: str
) -> Session:
    gl.pipe.execute_deferred()
    states = _states(gl)
    block, grid = info.block, info.grid
    for axis in range(3):
        if not 0 <= place[axis] < block[axis] * grid[axis]:
            raise GalletteError(f"the launch has no invocation {place}")
    group = [place[i] // block[i] for i in range(3)]
    local = [place[i] % block[i] for i in range(3)]
    first = group[0] + grid[0] * (group[1] + grid[1] * group[2])
    lane = local[0] + block[0] * (local[1] + block[1] * local[2])
    shader = states.bound.shaders[Stage.COMPUTE]
    lanes = GroupLanes(first, 1, grid, block, shader.shader.info.shared_bytes)
    resources = states.joiner.resources(Stage.COMPUTE)
    env = DrawEnvironment("compute", lanes, resources, range(lanes.count))
    env._buffers["shared", 0] = np.zeros(shader.shader.info.shared_bytes, np.uint8)
    source, names = source_of(gl, "compute")
    session = Session(
        title, "compute", source, lane=lane,
        lanes=[f"invocation {i}" for i in range(lanes.count)], variables=names,
    )  # fmt: skip
    return trace_shader(shader.null.shader, env, session)
