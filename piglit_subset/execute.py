"""Runs one shader_test on one context and reports the result.

The results are piglit's: *pass*, *warn*, *fail*, *skip* (the test does not apply here, and `reason`
says why) and, from the process that watches this one, *crash* and *timeout*.
"""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.piglit_subset import commands, vertices
from gallette.piglit_subset.commands.uniforms import prepare_blocks
from gallette.piglit_subset.programs import build
from gallette.piglit_subset.requirements import ContextNeeds, Skip, check, context_needs
from gallette.piglit_subset.session import Failure, Session
from gallette.piglit_subset.shader_test import ShaderTest, parse_file
from gallette.piglit_subset.text import Words
from gallette.state_tracker.entry_points.enums import GL

Step = tuple[commands.Handler, Words]
"""A command's handler, and its line split into words."""


class Unavailable(Exception):
    """The driver cannot create the context that the test requires."""


@dataclass(slots=True)
class Outcome:
    """The result of one test."""

    result: str
    reason: str = ""
    messages: list[str] = field(default_factory=list)
    images: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    start: float = 0.0
    end: float = 0.0


def run_file(path: Path, driver: str) -> Outcome:
    """Parse and run a file on a fresh context of `driver`."""
    start = time.time()
    try:
        outcome = run_test(parse_file(path), driver)
    except GalletteError as error:
        outcome = Outcome("fail", str(error), [str(error)])
    outcome.start, outcome.end = start, time.time()
    return outcome


def run_test(
    test: ShaderTest,
    driver: str,
    before_release: Callable[[Any], None] | None = None,
    after_create: Callable[[Any], None] | None = None,
) -> Outcome:
    """Run a parsed test; hooks may inspect the context when it is new and before it is
    destroyed.
    """
    try:
        needs = context_needs(test)
        steps = _check_lines(test)
    except GalletteError as error:
        return Outcome("fail", str(error), [str(error)])
    try:
        gl = make_context(driver, needs)
    except Unavailable as error:
        return Outcome("skip", str(error))
    if after_create is not None:
        after_create(gl)
    session = Session(gl, test, needs)
    leak = ""
    try:
        with np.errstate(all="ignore"):
            result, reason = _run(session, steps)
        if before_release is not None:
            before_release(gl)
    finally:
        try:
            gl.release()
        except GalletteError as error:
            leak = str(error)
    if leak and result in ("pass", "warn"):
        result, reason = "fail", f"leak: {leak}"
    return Outcome(result, reason, session.messages, session.images)


def make_context(driver: str, needs: ContextNeeds) -> Any:
    """A current context that meets the test's requirements; raises `Unavailable` if there is
    none.
    """
    from gallette.state_tracker import create_context

    try:
        gl = create_context(driver=driver, profile=needs.profile, version=needs.version)
    except GalletteError as error:
        name = {"es": "OpenGL ES", "core": "OpenGL core", "compat": "OpenGL"}[needs.profile]
        version = f"{needs.version[0]}.{needs.version[1]}"
        raise Unavailable(f"requires {name} {version}: {error}") from None
    gl.make_current()
    return gl


def _check_lines(test: ShaderTest) -> list[Step]:
    """Reject malformed tests before anything is drawn: unknown commands, a bad vertex table."""
    if test.vertex_data:
        test.vertices = vertices.parse_vertex_data(test.vertex_data)
    return [commands.lookup(line) for line in test.commands]


def _run(session: Session, steps: list[Step]) -> tuple[str, str]:
    try:
        check(session.gl, session.test, session.needs)
        _prepare(session)
        build(session)
        if session.link_ok and session.program:
            _after_link(session)
        _commands(session, steps)
    except Skip as skip:
        return "skip", str(skip)
    except (Failure, GalletteError) as error:
        session.messages.append(str(error))
        return "fail", str(error)
    except Exception as error:
        # A bug of the implementation under test (or of gallette): fail this test, keep the
        # traceback.
        session.messages.append(traceback.format_exc())
        return "fail", f"{type(error).__name__}: {error}"
    lost = str(getattr(session.gl, "lost", ""))
    if lost:
        session.messages.append(lost)
        return "fail", f"the context was lost: {lost}"
    if session.result == "pass":
        return "pass", ""
    return session.result, next((m for m in session.messages if not m.startswith("note")), "")


def _prepare(session: Session) -> None:
    gl = session.gl
    session.open_window()
    if session.is_core or (session.is_es and session.needs.version >= (3, 0)):
        session.vertex_array = gl.gen_vertex_arrays(1)[0]
        gl.bind_vertex_array(session.vertex_array)
    while gl.get_error():
        pass


def _after_link(session: Session) -> None:
    if session.needs.version >= (3, 0) or not session.is_es:
        prepare_blocks(session, session.program)
        while session.gl.get_error():
            pass


def _commands(session: Session, steps: list[Step]) -> None:
    if session.link_ok is False and not any(
        line.text.split()[:1] == ["link"] for line in session.test.commands
    ):
        raise Failure(f"linking failed:\n{session.link_log.strip()}")
    for handler, words in steps:
        session.begin(words)
        try:
            handler(session, words)
        except GalletteError as error:
            if "is not available in this context" in str(error):
                line = words.line
                raise Skip(f"line {line.number}: {line.text.strip()}: {error}") from None
            raise
    code = session.gl.get_error()
    if code and session.result == "pass":
        session.result = "fail"
        session.messages.append(f"unexpected GL error {GL.name_of(code, group='error')}")
