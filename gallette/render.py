"""Rendering scenes in a process of their own: `python -m gallette.render` is the child.

A native driver can crash, and Mesa loads one driver per process, so each side of a comparison has
its own process. The child writes the pictures to an .npz file and reports progress on stdout, one
JSON object per line.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.piglit_subset.environment import child_command, child_environment
from gallette.scenes.common import Pass


@lazy_dataclass()
class Rendering:
    """The results of one driver: passes per scene, errors per scene, its name."""

    driver: str
    renderer: str = ""
    passes: dict[str, list[Pass]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)


def scene_environment(driver: str, options: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a rendering process; driver options travel as debug flags."""
    env = child_environment(driver)
    if driver.startswith("trace"):  # the trace itself is not needed
        env.setdefault("GALLETTE_TRACE", os.devnull)
    if options:
        flags = [f"driver:{name}={value}" for name, value in options.items()]
        env["GALLETTE_DEBUG"] = ",".join(filter(None, [env.get("GALLETTE_DEBUG", ""), *flags]))
    return env


def render_scenes(
    driver: str,
    scenes: Sequence[str],
    on_pass: Callable[[str], None] | None = None,
    options: Mapping[str, str] | None = None,
    timeout: float | None = None,
) -> Rendering:
    """Render scenes on a driver in a child process.

    After `timeout` seconds it is asked to end; what it has drawn by then is kept.
    """
    result = Rendering(driver)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "passes.npz"
        with tempfile.TemporaryFile() as log:
            child = subprocess.Popen(
                child_command("gallette.render", driver, str(out), *scenes),
                stdout=subprocess.PIPE,
                stderr=log,
                env=scene_environment(driver, options),
                text=True,
            )
            assert child.stdout is not None
            limit = None if timeout is None else threading.Timer(timeout, _end, (child,))
            if limit is not None:
                limit.start()
            try:
                for line in child.stdout:
                    if line.startswith("{"):
                        _progress(result, json.loads(line), on_pass)
                child.wait()
            finally:
                if limit is not None:
                    limit.cancel()
                if child.poll() is None:
                    child.kill()
                    child.wait()
            log.seek(0)
            errors = log.read().decode(errors="replace").strip()
        if os.environ.get("GALLETTE_DEBUG") and errors:
            print(errors, file=sys.stderr)  # what the flags asked for
        if child.returncode == 2:
            raise GalletteError(errors or f"driver {driver} does not start")
        if out.exists():
            result.passes = load_passes(out)
    for name in scenes:
        if name not in result.passes and name not in result.errors:
            tail = "\n".join(errors.splitlines()[-6:])
            result.errors[name] = f"the process ended with status {child.returncode}\n{tail}"
    return result


_GRACE = 5.0
"""Seconds that a child has to write its pictures down after it was asked to end."""


def _end(child: subprocess.Popen[str]) -> None:
    """Raise `_TimeOver`, because the child's time is over."""
    child.terminate()
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()


def _stop(*_: Any) -> None:
    raise _TimeOver("it was ended at its time limit (--timeout)")


class _TimeOver(BaseException):
    """Raised in the child at its current position when it is asked to end."""


def render_on_cluster(
    address: str,
    driver: str,
    scenes: Sequence[str],
    on_pass: Callable[[str], None] | None = None,
    options: Mapping[str, str] | None = None,
) -> Rendering:
    """Render scenes as `render_scenes` does, on the workers of a cluster."""
    from gallette.piglit_subset.cluster import Cluster

    whole = Rendering(driver)
    with Cluster(address) as cluster:
        render = partial(_render_scene, driver, dict(options or {}))
        for name, found in cluster.run(render, scenes, lambda name: 1.0):
            if isinstance(found, BaseException):
                whole.errors[name] = str(found)
                continue
            whole.renderer = whole.renderer or found.renderer
            whole.passes.update(found.passes)
            whole.errors.update(found.errors)
            whole.seconds.update(found.seconds)
            for taken in found.passes.get(name, ()):
                if on_pass is not None:
                    on_pass(taken.name)
    return whole


def _render_scene(driver: str, options: dict[str, str], name: str) -> Rendering:
    return render_scenes(driver, [name], options=options)


def _progress(
    result: Rendering, message: dict[str, Any], on_pass: Callable[[str], None] | None
) -> None:
    if "renderer" in message:
        result.renderer = message["renderer"]
    elif "error" in message:
        result.errors[message["scene"]] = message["error"]
    elif "seconds" in message:
        result.seconds[message["scene"]] = message["seconds"]
    elif on_pass is not None:
        on_pass(message["pass"])


_LARGEST_IN_STEPS = 32.0
"""Values up to here are kept within 1/2000, which no comparison sees."""


def save_passes(path: Path, passes: Mapping[str, Sequence[Pass]], *, small: bool = False) -> None:
    """Write passes to an .npz file; `small`: small floats in 16 bits, grey in one channel."""
    arrays: dict[str, Any] = {}
    index: list[dict[str, Any]] = []
    for scene, list_of_passes in passes.items():
        for p in list_of_passes:
            key, color = f"p{len(index)}", p.color
            grey = color.dtype == np.float32 and bool(
                (color[..., :1] == color[..., 1:3]).all() and (color[..., 3] == 1).all()
            )
            index.append({"scene": scene, "name": p.name, "note": p.note, "grey": grey})
            if grey:
                color = color[..., 0]
            scale = float(max(1.0, np.abs(color).max())) if small else 0.0
            if small and color.dtype == np.float32 and scale < _LARGEST_IN_STEPS:
                # 16 bits as steps of 1/32767: uniform precision, unlike half floats.
                index[-1]["scale"] = scale
                color = np.round(color / scale * 32767).astype(np.int16)
            arrays[key], arrays[f"{key}c"] = color, np.packbits(p.coverage)
            index[-1]["shape"] = list(p.coverage.shape)
    arrays["index"] = np.frombuffer(json.dumps(index).encode(), np.uint8)
    if not small:
        np.savez(path, **arrays)
        return
    # As np.savez_compressed does, with half the bytes; np.load reads either.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, np.ascontiguousarray(array))


def load_passes(path: Path) -> dict[str, list[Pass]]:
    """Read a file written by `save_passes`."""
    passes: dict[str, list[Pass]] = {}
    with np.load(path) as arrays:
        for i, entry in enumerate(json.loads(bytes(arrays["index"]))):
            color = arrays[f"p{i}"]
            if "scale" in entry:
                color = (color.astype(np.float32) * (entry["scale"] / 32767)).astype(np.float32)
            if entry["grey"]:
                color = np.repeat(color[..., None], 4, axis=-1)
                color[..., 3] = 1
            height, width = entry["shape"]
            bits = np.unpackbits(arrays[f"p{i}c"], count=height * width)
            coverage = bits.reshape(height, width).astype(bool)
            kept = Pass(entry["name"], color, coverage, entry["note"])
            passes.setdefault(entry["scene"], []).append(kept)
    return passes


def _child(driver: str, out: Path, names: Sequence[str]) -> int:
    answers = sys.stdout  # a script's own words go elsewhere

    def say(**message: Any) -> None:
        print(json.dumps(message), file=answers, flush=True)

    try:
        import moderngl
    except ImportError:
        print("rendering scenes needs moderngl: pip install moderngl", file=sys.stderr)
        return 2
    import gallette
    from gallette.scenes import find_scene
    from gallette.scripts import run_script

    done: dict[str, list[Pass]] = {}
    stopped = ""
    for name in names:
        if stopped:
            say(scene=name, error=stopped)
            continue
        start = time.perf_counter()
        try:
            window: Any = gallette.moderngl_context(driver)
        except GalletteError as error:
            print(error, file=sys.stderr)
            return 2
        passes: list[Pass] = []

        def keep(taken: Pass, passes: list[Pass] = passes, name: str = name) -> None:
            passes.append(taken)
            say(**{"scene": name, "pass": taken.name})

        try:
            ctx = moderngl.create_context(standalone=True, context=window)
            ctx.extra = window  # for scenes that call OpenGL itself
            say(renderer=str(ctx.info["GL_RENDERER"]))
            if scene := find_scene(name):
                for p in scene.render(ctx, scene.size):
                    keep(p)
            else:
                run_script(Path(name), lambda: gallette.moderngl_context(driver), keep)
            done[name] = passes
            say(scene=name, seconds=time.perf_counter() - start)
        except _TimeOver as over:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            stopped = str(over)
            done[name] = passes
            say(scene=name, error=stopped)
        except Exception as error:
            # One scene that fails is a result, not the end of the run.
            say(scene=name, error=f"{type(error).__name__}: {error}")
        finally:
            _release(window)
    save_passes(out, done)
    return 0


def _release(window: Any) -> None:
    try:
        window.release()
    except GalletteError as error:
        print(error, file=sys.stderr)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _stop)
    raise SystemExit(_child(sys.argv[1], Path(sys.argv[2]), sys.argv[3:]))
