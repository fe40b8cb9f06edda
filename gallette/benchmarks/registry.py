"""The table of benchmarks, and those that users bring in files of their own."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gallette.benchmarks.captures import SUFFIX
from gallette.compiler.errors import GalletteError, InputError

__all__ = ["BENCHMARKS", "Benchmark", "benchmark", "find", "read_scenes"]

# What no framebuffer is larger than.
_LARGEST = 16384

Prepare = Callable[[Any, tuple[int, int]], Callable[[], None]]


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark: `prepare(ctx, size)` answers the function that draws one frame.

    `version` is the OpenGL it needs, as GLSL writes it, `samples` how many of them per pixel.
    """

    name: str
    doc: str
    prepare: Prepare
    size: tuple[int, int]  # `name@size` is the same scene in another one
    version: int = 330
    samples: int = 0
    capture: Path | None = None  # it makes the calls of this file instead

    def lacks(self, version: int, samples: int) -> str:
        """What a context would need and does not have, or nothing."""
        if version < self.version:
            return f"no GL {self.version / 100:.1f}"
        return f"no {self.samples} samples" if samples < self.samples else ""


BENCHMARKS: dict[str, Benchmark] = {}


def benchmark(
    name: str, size: tuple[int, int] = (512, 512), version: int = 330, samples: int = 0
) -> Callable[[Prepare], Prepare]:
    def register(prepare: Prepare) -> Prepare:
        doc = (prepare.__doc__ or "").strip().splitlines()[0]
        BENCHMARKS[name] = Benchmark(name, doc, prepare, size, version, samples)
        return prepare

    return register


def _prepare_nothing(ctx: Any, size: tuple[int, int]) -> Callable[[], None]:
    raise AssertionError("captures make contexts of their own")


def find(name: str) -> Benchmark:
    """A benchmark by its name, `overdraw`, by name and size, `overdraw@1024`, or the path of a
    capture.
    """
    if name.endswith(SUFFIX):
        if not Path(name).is_file():
            raise InputError(f"{name}: no such file")
        return Benchmark(
            name, "the last frame of a capture", _prepare_nothing, (0, 0), 0, 0, Path(name)
        )
    plain, *sizes = name.split("@", 1)
    found = BENCHMARKS.get(plain)
    if found is None:
        known = ", ".join(BENCHMARKS)
        raise GalletteError(f"gallette bench: unknown benchmark {plain!r} (one of {known})")
    for size in sizes:
        side = int(size) if size.isascii() and size.isdigit() else 0
        if not 0 < side <= _LARGEST:
            raise GalletteError(f"gallette bench: {name}: a size is a number from 1 to {_LARGEST}")
        found = replace(found, name=name, size=(side, side))
    return found


def read_scenes(path: Path) -> list[str]:
    """Run a Python file that registers benchmarks; their names."""
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
