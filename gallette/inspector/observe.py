"""Replays a run once and records the inputs and results of each of its draws."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.capture.container import is_capture
from gallette.capture.replay import Replayer
from gallette.capture.story import Call, Capture, open_capture
from gallette.capture.targets import record_target
from gallette.inspector.frames import Draw, Frame
from gallette.inspector.merged import executed_draws
from gallette.inspector.mesh import DrawWitness, mesh_of
from gallette.inspector.state import bound_state, textures_of, uniforms_of
from gallette.inspector.surfaces import attachments_of
from gallette.pipe.keys import describe_key
from gallette.pipe.taps import PipeCall, tap
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.shading.programs import STAGES

# State the page can switch for one draw: its name there, and the GL capability.
SWITCHES = {
    "depth test": 0x0B71,
    "face culling": 0x0B44,
    "blending": 0x0BE2,
    "scissor test": 0x0C11,
    "stencil test": 0x0B90,
}


@contextmanager
def captured(target: str, driver: str) -> Iterator[Path]:
    """The target as a capture: the target itself, or a recording of a scene or test."""
    if is_capture(target):
        yield Path(target)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.gcap"
        record_target(target, path, driver)
        yield path


class _Observer:
    """Observes the calls of one replay."""

    def __init__(self, frame: Frame, capture: Capture):
        self.frame, self.capture = frame, capture
        self.witness = DrawWitness()
        self.start = 0
        self.seen_variants = 0
        self.last_state: dict[str, str] = {}
        self.infos: list[Any] = []
        self.labels: list[str] = []  # of variants, in order of appearance
        self.painted: dict[str, npt.NDArray[np.uint8]] = {}  # by target: the last at each pixel

    def created(self, gl: Any) -> None:
        watch = getattr(gl.pipe, "watch", None)
        if watch is not None:
            watch(self.witness)
        tap(gl.pipe, ["draw_vbo"], self._draws)

    def _draws(self, call: PipeCall) -> None:
        self.infos.append(call.arguments["info"])
        call.run()

    def before(self, call: Call, gl: Any) -> None:
        if not call.draws:
            return
        size = (call.target.width, call.target.height) if call.target else (0, 0)
        self.witness.begin(size)
        self.infos.clear()
        self.start = time.perf_counter_ns()

    def after(self, call: Call, gl: Any) -> None:
        if not call.draws:
            return
        gl.pipe.execute_deferred()
        spent = (time.perf_counter_ns() - self.start) // 1000
        frame, pipe, witness = self.frame, gl.pipe, self.witness
        state = gl.pipe_framebuffer
        target = call.target
        draw = Draw(
            call.number,
            call.name,
            call.words(),
            list(self.capture.groups.get(call.number, ())),
            call.frame,
            int(spent),
            "" if target is None else ", ".join(f for f in (*target.colors, target.depth) if f),
            (0, 0) if target is None else (target.width, target.height),
        )
        for name, picture in attachments_of(pipe, state).items():
            draw.attachments[name] = frame.keep(picture)
        place = draw.target + str(draw.size)
        if not self.infos and witness.counts is None:
            self.painted.pop(place, None)  # cleared, or copied over
            frame.draws.append(draw)
            return
        self._counts(draw)
        self._variant(draw, place, gl)
        draw.state = bound_state(pipe.bound)
        before = self.last_state
        draw.changed = [k for k, v in draw.state.items() if before.get(k) != v]
        self.last_state = draw.state
        draw.uniforms = uniforms_of(gl)
        draw.textures = textures_of(frame, pipe)
        new = pipe.variant_log.since(self.seen_variants)
        self.seen_variants = pipe.variant_log.total
        draw.variants = [f"{e.stage}: {e.key} ({e.reason})" for e in new]
        draw.program = self._program(gl)
        mesh = mesh_of(gl, self.infos[-1] if self.infos else None, witness)
        if mesh is not None:
            frame.meshes[call.number] = mesh
            draw.has_mesh = True
        frame.draws.append(draw)

    def _counts(self, draw: Draw) -> None:
        """Overdraw, and the overlays that follow from it."""
        counts = self.witness.overdraw
        draw.primitives = self.witness.primitives
        if counts is None or not counts.size:
            return
        draw.fragments = int(counts.sum())
        covered = int((counts > 0).sum())
        draw.overdraw = round(draw.fragments / covered, 2) if covered else 0.0
        heat = np.minimum(counts, 255).astype(np.uint8)[..., None]
        draw.overlays["overdraw"] = self.frame.keep(heat)
        quads = counts > 0
        height, width = quads.shape
        tall = np.pad(quads, ((0, height % 2), (0, width % 2)))
        whole = tall.reshape(tall.shape[0] // 2, 2, tall.shape[1] // 2, 2).sum((1, 3))
        filled = np.repeat(np.repeat(whole, 2, 0), 2, 1)[:height, :width].astype(np.uint8)
        draw.overlays["quads"] = self.frame.keep(filled[..., None])

    def _variant(self, draw: Draw, place: str, gl: Any) -> None:
        """Record which variant of which fragment shader ran last at each pixel."""
        counts, executable = self.witness.overdraw, gl.programs.executable
        if counts is None or not counts.size or executable is None:
            return
        for (stage, _), handle in executable.handles.items():
            made = getattr(handle, "variants", None)
            if stage.value == "fragment" and made:
                key = describe_key(next(reversed(made)))  # the one the draw has just used
                label = f"program {getattr(gl.programs.current, 'name', 0)}: {key}"
                if label not in self.labels:
                    self.labels.append(label)
                before = self.painted.get(place)
                if before is None or before.shape != counts.shape:
                    before = np.zeros(counts.shape, np.uint8)
                number = min(1 + self.labels.index(label), 255)
                now = np.where(counts > 0, np.uint8(number), before)
                self.painted[place] = now
                draw.overlays["variant"] = self.frame.keep(now[..., None])
                draw.legend = self.labels[: int(now.max())]

    def _program(self, gl: Any) -> str:
        program = gl.programs.current
        if program is None:
            return ""
        sources: dict[str, str] = {}
        for origin in program.linked_from:
            stage = STAGES[origin.type].value
            sources[stage] = sources.get(stage, "") + origin.source
        key = f"program {program.name}"
        tries = 1
        while self.frame.programs.get(key, sources) != sources:
            tries += 1
            key = f"program {program.name}, link {tries}"
        self.frame.programs[key] = sources
        self.frame.profiles[key] = gl.profile
        return key


def observe(path: str | Path, driver: str = "", title: str = "") -> Frame:
    """Replay a capture and record everything about its draws."""
    capture = open_capture(path)
    frame = Frame(title or str(path), driver or capture.driver)
    observer = _Observer(frame, capture)
    player = Replayer(capture, frame.driver, after_create=observer.created)
    with np.errstate(all="ignore"):
        done = player.run(None, observer.after, observer.before)
    frame.frames, frame.calls = capture.frames, len(capture.calls)
    frame.notes = done.errors[:5]
    _leave_defaults(frame)
    _add_changes(frame)
    frame.executed = executed_draws(capture, frame.driver)
    return frame


def _leave_defaults(frame: Frame) -> None:
    """Mark as changed, at the first draw, the state that differs from a new context's."""
    first = next((d for d in frame.draws if d.state), None)
    if first is None:
        return
    gl: Any = Context(frame.driver, profile="compat", size=first.size)
    gl.make_current()
    gl.draw_arrays(GL.POINTS, 0, 1)  # what is bound is known once something is drawn
    defaults = bound_state(gl.pipe.bound)
    gl.release()
    first.changed = [k for k in first.changed if first.state[k] != defaults.get(k)]


def _add_changes(frame: Frame) -> None:
    """Add an overlay to each draw: covered pixels that it changed (1) and did not change (2), for
    example because a test failed.
    """
    before: dict[tuple[str, str], str] = {}
    for draw in frame.draws:
        coverage = draw.overlays.get("overdraw")
        for name, now in draw.attachments.items():
            place = draw.target + str(draw.size), name
            last = before.get(place)
            before[place] = now
            if coverage is None or last is None or name in draw.overlays:
                continue
            a, b = frame.pictures[last], frame.pictures[now]
            if a.shape != b.shape:
                continue
            covered = frame.pictures[coverage][..., 0] > 0
            if covered.shape != a.shape[:2]:
                continue
            changed = (a != b).any(axis=-1)
            marks = np.where(changed, 1, np.where(covered, 2, 0)).astype(np.uint8)
            draw.overlays[f"changes {name}"] = frame.keep(marks[..., None])


def replay_edited(
    frame: Frame, path: Path, number: int, edits: dict[int, str], switches: dict[str, bool]
) -> tuple[dict[str, str], list[str]]:
    """Replay up to a call with edited shaders and switched state; returns pictures and messages."""
    capture = open_capture(path)
    player = Replayer(capture, frame.driver)
    player.edits = edits
    found: dict[str, str] = {}
    log: list[str] = []

    def before(call: Call, gl: Any) -> None:
        if call.number != number:
            return
        for name, on in switches.items():
            (gl.enable if on else gl.disable)(SWITCHES[name])

    def after(call: Call, gl: Any) -> None:
        if call.name == "CompileShader" and _is_edited(capture, edits, call):
            shader = player.name("program", call.args[0])
            text = gl.get_shader_info_log(shader)
            if text:
                log.append(text)
        elif call.name == "LinkProgram" and edits:
            program = player.name("program", call.args[0])
            if not gl.get_programiv(program, 0x8B82)[0]:
                log.append(gl.get_program_info_log(program))
        if call.number == number:
            gl.pipe.execute_deferred()
            for name, picture in attachments_of(gl.pipe, gl.pipe_framebuffer).items():
                found[name] = frame.keep(picture)

    with np.errstate(all="ignore"):
        done = player.run(number, after, before)
    log += [error for error in done.errors if error not in frame.notes][:5]
    return found, log


def _is_edited(capture: Capture, edits: dict[int, str], call: Call) -> bool:
    """Whether an edited text replaces the source of the shader that is compiled."""
    shader = call.args[0]
    return any(capture.call(n).args[0] == shader for n in edits)


def source_calls(capture: Capture, text: str, before: int) -> list[int]:
    """The glShaderSource calls, up to a call, that gave a shader this text."""
    found = []
    for call in capture.calls[:before]:
        if call.name.startswith("ShaderSource") and "".join(call.args[2] or ()) == text:
            found.append(call.number)
    return found
