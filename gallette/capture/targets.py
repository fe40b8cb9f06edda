"""What can be watched: a scene, a bundled or other shader_test, a capture; all run in this process.

`run_target` shows each new GL context to a hook and runs the target to its end; `record_target`
keeps a capture of the run.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gallette.capture.container import is_capture
from gallette.capture.recorder import Recorder, recording
from gallette.compiler.errors import GalletteError

__all__ = ["check_target", "record_target", "run_target"]

Hook = Callable[[Any], None]


def check_target(target: str, command: str) -> None:
    """Fail now, in one message, if the target is nothing that can be run."""
    from gallette.piglit_subset.suite import file_at
    from gallette.scenes import SCENES

    if target in SCENES:
        return
    path = Path(target)
    if target.endswith(".shader_test") or path.suffix in (".gcap", ".py") or "/" in target:
        if not path.exists() and file_at(path) is None:
            raise GalletteError(f"{target}: no such file")
        if not target.endswith(".shader_test") and not is_capture(path):
            raise GalletteError(
                f"{command}: {target} is no capture; make one with `gallette trace {target}`"
            )
        return
    if is_capture(path):
        return
    from gallette.commands.diff import check_scenes

    check_scenes([target], command)


def run_target(target: str, driver: str, hook: Hook, recorder: Recorder | None = None) -> str:
    """Run it; what came of it, in words."""
    if target.endswith(".shader_test"):
        return _run_test(target, driver, hook)
    if is_capture(target):
        return _run_capture(target, driver, hook)
    return _run_scene(target, driver, hook, recorder)


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
    from gallette.scenes import SCENES

    window: Any = gallette.moderngl_context(driver)
    try:
        hook(window)
        ctx = moderngl.create_context(standalone=True, context=window)
        ctx.extra = window  # for scenes that call OpenGL itself
        names = []
        for done in SCENES[name].render(ctx, SCENES[name].size):
            names.append(done.name)
            if recorder is not None:
                recorder.marker(done.name)
    finally:
        window.release()
    return f"passes: {', '.join(names)}"


def record_target(target: str, path: Path, driver: str) -> str:
    """Capture a scene or shader_test; what came of it."""
    with recording(path, program=target, driver=driver) as recorder:
        return run_target(target, driver, lambda gl: None, recorder)
