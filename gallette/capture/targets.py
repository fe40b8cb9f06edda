"""Targets that can be observed: a scene, a bundled or other shader_test, a capture; all run in this
process.

`run_target` shows each new GL context to a hook and runs the target to its end; `record_target`
keeps a capture of the run. While a target runs, its contexts have the attributes `call_number`, the
OpenGL call that is being made as captures number it, and `draw_number`, which drawing call it is:
0 before the first of them.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gallette.capture.container import is_capture
from gallette.capture.recorder import Recorder, recording
from gallette.capture.story import draws
from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.functions import Function
from gallette.state_tracker.entry_points.watchers import WATCHERS

Hook = Callable[[Any], None]


class _Numbers:
    """A watcher that numbers the calls of a run."""

    def __init__(self) -> None:
        self.hidden = 0
        self._calls = self._draws = 0
        self._inside = self._listing = False

    def born(self, gl: Any, share: Any) -> None:
        gl.call_number = gl.draw_number = 0

    def window(self, gl: Any, draw: Any, read: Any) -> None:
        """Do nothing, because windows are not calls."""

    def frame(self) -> None:
        """Do nothing, because the end of a frame is not a call."""

    def died(self, gl: Any) -> None:
        """Do nothing, because the end of a context is not a call."""

    def wrap(self, gl: Any, function: Function, method: Callable[..., Any]) -> Callable[..., Any]:
        name = function.name
        paints = draws(name)

        def call(*args: Any) -> Any:
            if self._inside or self.hidden:
                return method(*args)
            self._inside = True
            self._calls += 1
            if name == "NewList":
                self._listing = args[1] == GL.COMPILE
            elif name == "EndList":
                self._listing = False
            self._draws += paints and not self._listing
            gl.call_number, gl.draw_number = self._calls, self._draws
            try:
                return method(*args)
            finally:
                self._inside = False

        return call


def check_target(target: str, command: str) -> None:
    """Raise one error now if the target cannot be run."""
    from gallette.piglit_subset.suite import file_at
    from gallette.scenes import find_scene

    if find_scene(target):
        return
    path = Path(target)
    if target.endswith(".shader_test") or path.suffix in (".gcap", ".py") or "/" in target:
        if not path.exists() and file_at(path) is None:
            raise GalletteError(f"{target}: no such file")
        if not target.endswith(".shader_test") and not is_capture(path):
            raise GalletteError(
                f"{command}: {target} is not a capture; make one with `gallette trace {target}`"
            )
        return
    if is_capture(path):
        return
    from gallette.commands.diff import check_scenes

    check_scenes([target], command)


def run_target(target: str, driver: str, hook: Hook, recorder: Recorder | None = None) -> str:
    """Run a target; returns the result in words."""
    if is_capture(target) and not target.endswith(".shader_test"):
        return _run_capture(target, driver, hook)
    numbers = _Numbers()
    if recorder is None:
        WATCHERS.append(numbers)
    try:
        if target.endswith(".shader_test"):
            return _run_test(target, driver, hook)
        return _run_scene(target, driver, hook, recorder)
    finally:
        if recorder is None:
            WATCHERS.remove(numbers)


def _run_test(target: str, driver: str, hook: Hook) -> str:
    from gallette.piglit_subset.execute import run_test
    from gallette.piglit_subset.shader_test import parse_file

    outcome = run_test(parse_file(Path(target)), driver, after_create=hook)
    return f"{outcome.result}: {outcome.reason}" if outcome.reason else outcome.result


def _run_capture(target: str, driver: str, hook: Hook) -> str:
    from gallette.capture.replay import Replayer
    from gallette.capture.story import open_capture

    capture = open_capture(target)
    done = Replayer(capture, driver, after_create=hook).run()
    return f"{done.calls} calls replayed"


def _run_scene(name: str, driver: str, hook: Hook, recorder: Recorder | None) -> str:
    try:
        import moderngl
    except ImportError:
        raise GalletteError("scenes need moderngl: pip install moderngl") from None
    import gallette
    from gallette.scenes import find_scene

    window: Any = gallette.moderngl_context(driver)
    try:
        hook(window)
        ctx = moderngl.create_context(standalone=True, context=window)
        ctx.extra = window  # for scenes that call OpenGL itself
        names = []
        scene = find_scene(name)
        assert scene is not None
        for done in scene.render(ctx, scene.size):
            names.append(done.name)
            if recorder is not None:
                recorder.marker(done.name)
    finally:
        window.release()
    return f"passes: {', '.join(names)}"


def record_target(target: str, path: Path, driver: str) -> str:
    """Capture a scene or shader_test; returns the result in words."""
    with recording(path, program=target, driver=driver) as recorder:
        return run_target(target, driver, lambda gl: None, recorder)
