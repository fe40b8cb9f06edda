"""The live explorer: a program, compiled and drawn after each change.

One compilation provides everything shown of the driver that draws: the GL context compiles with
every pass recorded, and the driver's variants are requested afterwards. Forms of other drivers are
compiled when a pane shows them. A request may name a second state `against` which each form and the
picture are compared.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.run.pass_runner import recording
from gallette.debugger.invocation import without_compile_cache
from gallette.inspector import drawing
from gallette.inspector.drawing import UserSettings
from gallette.inspector.examples import EXAMPLES, STAGES
from gallette.inspector.forms import FORMS, form_of
from gallette.inspector.frames import Frame
from gallette.inspector.programs import Way, add_passes, variant_data
from gallette.inspector.service import Questions
from gallette.inspector.surfaces import attachments_of
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.enums import GL

# Switches that become fields of variant keys: the name, and the GL capability.
SWITCHES = {"clip plane 0": GL.CLIP_DISTANCE0, "alpha test": GL.ALPHA_TEST, "two sides": 0x8643}
USED_ONCE = ("not_position", "always", "never")
MOST_PICTURES = 64  # that are kept for the page to fetch
_ERROR = re.compile(r"^<([\w ]+) shader>:(\d+):(\d+): error: (.*)$", re.M)
_NUMBERS = re.compile(r"^ *\d+: |\s+; .*$", re.M)


def errors_of(log: str) -> list[list[Any]]:
    """[stage, line, column, message] of each error in a log."""
    return [[m[1].replace(" ", "_"), int(m[2]), int(m[3]), m[4]] for m in _ERROR.finditer(log)]


@lazy_dataclass(frozen=True)
class Setting:
    """The settings that affect how the shaders are compiled; there is a context for each."""

    driver: str
    used_once: str = USED_ONCE[0]
    fuse: bool = False

    @property
    def options(self) -> dict[str, Any]:
        """Options of the screen."""
        return {"inexact_used_once": self.used_once, "fuse_ffma": self.fuse}


class Explorer(Questions):
    """Compiles and draws programs, and answers requests of the page."""

    def __init__(self, sources: dict[str, str] | None = None, driver: str = "numpipe"):
        super().__init__(Frame("explorer", driver))
        self.sources = sources or EXAMPLES["waves"]
        self.driver = driver
        self._contexts: dict[Setting, Any] = {}
        self._against: tuple[str, dict[str, Any]] = ("", {})  # the last, and its answer
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
            "stages": list(STAGES),
            "forms": {name: form.title for name, form in FORMS.items()},
            "textures": list(drawing.PICTURES),
        }

    def close(self) -> None:
        """Release the contexts."""
        for gl in self._contexts.values():
            if not gl.released:
                gl.make_current()
                gl.release()
        self._contexts.clear()

    def _context(self, setting: Setting) -> Any:
        gl = self._contexts.get(setting)
        if gl is None or gl.released:
            size = drawing.SIZE, drawing.SIZE
            gl = Context(
                setting.driver, profile="compat", version=(4, 6), size=size, **setting.options
            )
            self._contexts[setting] = gl
        gl.make_current()
        return gl

    def _drop(self, gl: Any) -> None:
        """Drop a context that cannot draw any more or whose state is uncertain; the next request
        creates another.
        """
        self._contexts = {key: kept for key, kept in self._contexts.items() if kept is not gl}
        gl.release()

    def _explore(self, q: dict[str, Any]) -> Any:
        forms = [name for name in q.get("forms", ()) if name in FORMS]
        answer = self._answer(q, forms)
        if "against" in q:
            answer["against"] = self._compared(answer, dict(q["against"]), forms)
        while len(self.frame.pictures) > MOST_PICTURES:
            del self.frame.pictures[next(iter(self.frame.pictures))]
        return answer

    def _compared(
        self, answer: dict[str, Any], q: dict[str, Any], forms: list[str]
    ) -> dict[str, Any]:
        """The other state's picture, and lines of each form that differ."""
        from gallette.compiler.nir.text.difference import diff_lines

        name = json.dumps([q, forms], sort_keys=True)
        if self._against[0] != name or not self._against[1]["picture"]:
            self._against = name, self._answer(q, forms)
        other = self._against[1]
        pictures = [self.frame.pictures.get(a["picture"]) for a in (answer, other)]
        a, b = pictures
        if a is None or b is None:
            differing = None
        else:
            self.frame.keep(b)
            differing = int((a != b).any(axis=-1).sum())
        rows = {
            form: {
                stage: diff_lines(_bare(other["forms"][form].get(stage, "")), _bare(text))
                for stage, text in stages.items()
            }
            for form, stages in answer["forms"].items()
            if form in other["forms"] and FORMS[form].is_text
        }
        return {"picture": other["picture"], "differing": differing, "forms": rows,
                "log": other["log"]}  # fmt: skip

    def _answer(self, q: dict[str, Any], forms: list[str]) -> dict[str, Any]:
        used_once = str(q.get("used_once", USED_ONCE[0]))
        if used_once not in USED_ONCE:
            raise GalletteError(f"unknown setting: {used_once}")
        driver = str(q.get("driver", self.driver))
        if driver not in self._start({})["drivers"]:
            raise GalletteError(f"unknown driver: {driver}")
        texts = {stage: str(q[stage]) for stage in STAGES if stage in q}
        if not {"vertex", "fragment"} <= texts.keys():
            raise GalletteError("a program has a vertex and a fragment shader")
        switches = [name for name in SWITCHES if dict(q.get("switches", {})).get(name)]
        mouse = tuple(map(float, q.get("mouse", (0.0, 0.0))[:2]))
        given = UserSettings(float(q.get("time", 0.0)), mouse, dict(q.get("textures", {})))
        setting = Setting(driver, used_once, bool(q.get("fuse")))
        gl = self._context(setting)
        usable = False
        try:
            answer = self._drawn(gl, texts, switches, given, forms, setting)
            usable = not gl.lost
        finally:
            if not usable:
                self._drop(gl)
        return answer

    def _drawn(
        self,
        gl: Any,
        texts: dict[str, str],
        switches: Iterable[str],
        given: UserSettings,
        forms: list[str],
        setting: Setting,
    ) -> dict[str, Any]:
        """The results of compiling and drawing a program, as far as it gets."""
        start = time.perf_counter()
        answer: dict[str, Any] = {"errors": [], "stages": [], "picture": "", "forms": {}}
        with (
            without_compile_cache(),
            recording(lines=True) as passes,
            np.errstate(all="ignore"),
            drawing.linked_program(gl, texts) as (program, log),
        ):
            if not program:
                return {**answer, "log": log, "errors": errors_of(log)}
            for name in switches:
                gl.enable(SWITCHES[name])
            gl.alpha_func(GL.GREATER, 0.5)
            try:
                drawing.draw(gl, given)
            finally:
                for capability in SWITCHES.values():
                    gl.disable(capability)
            gl.pipe.execute_deferred()
            variants = _variants(gl)
            answer["stages"] = _ways(variants, texts, passes.records)
            answer["samplers"] = drawing.samplers_of(gl)
            failure = _failure(gl)
            if failure:
                return {**answer, "log": log + failure}
            picture = attachments_of(gl.pipe, gl.pipe_framebuffer)["colour 0"]
            answer["picture"] = self.frame.keep(picture)
            for name in forms:
                answer["forms"][name] = form_of(
                    name, texts, variants, setting.driver, setting.options
                )
        answer["log"] = log
        answer["milliseconds"] = round((time.perf_counter() - start) * 1000)
        return answer


def _bare(text: str) -> str:
    """Code without the text that changes whenever an instruction is inserted before it: numbers of
    instructions, and comments on timing.
    """
    from gallette.explaining import unmarked

    return _NUMBERS.sub("", unmarked(text))


def _failure(gl: Any) -> str:
    """The reason that there is no picture; "" if there is one."""
    if gl.lost:
        return f"error: the shaders were stopped, and the context is made anew: {gl.lost}\n"
    code = gl.get_error()
    return f"error: {GL.name_of(code, 'error')}: the shaders cannot be drawn with\n" if code else ""


def _variants(gl: Any) -> dict[str, list[tuple[Any, dict[str, Any]]]]:
    """The variants of each stage with the driver's description, the one just used first."""
    found = {}
    for (stage, _), handle in gl.programs.executable.handles.items():
        told = handle.explain()["variants"]
        found[stage.value] = list(zip(handle.variants.values(), told, strict=True))[::-1]
    return found


def _ways(
    variants: dict[str, list[tuple[Any, dict[str, Any]]]], texts: dict[str, str], records: list[Any]
) -> list[dict[str, Any]]:
    """Each stage's passes, and the variants that its draw used."""
    ways = []
    for stage, made in variants.items():
        way = Way(stage, texts.get(stage, ""))
        add_passes(way, [r for r in records if r.stage == stage])
        way.variants = [variant_data(v, told) for v, told in made]
        ways.append(asdict(way))
    return ways
