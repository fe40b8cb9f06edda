"""Everything that can be timed: scenes, captures, and scenes in users' own files."""

from __future__ import annotations

import traceback
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from gallette.benchmarks.captures import SUFFIX
from gallette.compiler.errors import GalletteError, InputError
from gallette.scenes.common import BENCHMARKS, SCENES, Scene

# What no framebuffer is larger than.
_LARGEST = 16384


def lacks(scene: Scene, version: int, samples: int) -> str:
    """The feature that a scene needs and a context of this OpenGL with this many samples lacks, or
    "".
    """
    if version < scene.version:
        return f"no GL {scene.version / 100:.1f}"
    return f"no {scene.samples} samples" if samples < scene.samples else ""


def _of_a_capture(ctx: Any, size: tuple[int, int]) -> Any:
    raise AssertionError("captures make contexts of their own")


def find(name: str) -> Scene:
    """Find a benchmark by name, `overdraw`, by name and size, `overdraw@1024`, or by the path of a
    capture. A benchmark takes precedence over a scene of the same name.
    """
    if name.endswith(SUFFIX):
        if not Path(name).is_file():
            raise InputError(f"{name}: no such file")
        doc = "the last frame of a capture"
        return Scene(name, doc, _of_a_capture, size=(0, 0), version=0)
    plain, *sizes = name.split("@", 1)
    found = BENCHMARKS.get(plain) or SCENES.get(plain)
    if found is None:
        close = get_close_matches(plain, {**BENCHMARKS, **SCENES}, 1)
        hint = f"did you mean {close[0]!r}?" if close else f"benchmarks: {', '.join(BENCHMARKS)}"
        raise GalletteError(f"gallette bench: unknown benchmark {plain!r}; {hint}")
    for size in sizes:
        side = int(size) if size.isascii() and size.isdigit() else 0
        if not 0 < side <= _LARGEST:
            raise GalletteError(f"gallette bench: {name}: a size is a number from 1 to {_LARGEST}")
        found = replace(found, name=name, size=(side, side))
    return found


def read_scenes(path: Path) -> list[str]:
    """Run a Python file that registers benchmarks; returns their names."""
    before = dict(BENCHMARKS)
    try:
        code = compile(path.read_bytes(), str(path), "exec")
    except OSError as error:
        raise InputError(f"{path}: cannot read: {error.strerror or error}") from None
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        raise InputError(f"{path}:{line}: {error.args[0]}") from None
    try:
        exec(code, {"__name__": path.stem, "__file__": str(path)})
    except Exception as error:
        lines = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)
        ]
        where = f"{path}:{lines[-1]}" if lines else str(path)
        raise InputError(f"{where}: {type(error).__name__}: {error}") from error
    names = [name for name in BENCHMARKS if BENCHMARKS[name] is not before.get(name)]
    if not names:
        raise InputError(f'{path}: registers no benchmark (with @benchmark("name"))')
    return names
