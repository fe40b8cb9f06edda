"""`gallette bench`: the same moderngl client on several drivers, timed in turn.

Every driver runs in a process of its own and all of them stay alive; one frame is asked of each
side after the other, so a busy moment of the machine slows all sides alike. The figure is the
median frame: draw plus read back.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gallette import default_driver
from gallette.compiler.errors import GalletteError, InputError
from gallette.piglit_subset.environment import child_environment
from gallette.terminal import console, progress_bar

__all__ = ["add_arguments", "measure", "run"]

# Short names for the native drivers everybody means.
_NATIVE = ("softpipe", "llvmpipe")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("benchmarks", nargs="*", metavar="NAME", help="default: all")
    parser.add_argument("--driver", default=None, help="our side (default: GALLETTE_DRIVER)")
    parser.add_argument("--against", default="softpipe,llvmpipe", metavar="D,...")
    parser.add_argument("--repeat", type=int, default=5, metavar="N", help="frames per side")
    parser.add_argument("--json", type=Path, default=None, metavar="FILE")
    parser.add_argument("--list", action="store_true", help="list the benchmarks")


@dataclass(slots=True)
class _Side:
    """One driver's process."""

    driver: str
    renderer: str = ""
    first: dict[str, float] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    log: Any = None
    process: subprocess.Popen[str] = field(init=False)

    def start(self) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self.process = subprocess.Popen(
            [sys.executable, "-m", "gallette.benchmarks.child", self.driver],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=child_environment(self.driver),
            text=True,
        )
        self.renderer = self._answer().get("renderer", "")

    def _answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.startswith("{"):
                answer: dict[str, Any] = json.loads(line)
                return answer
        code = self.process.wait()
        self.log.seek(0)
        text = self.log.read().decode(errors="replace").strip()
        if code == 2:
            raise GalletteError(text)
        last = text.splitlines()[-1] if text else ""
        return {"error": f"the process ended with status {code} {last}"}

    def frame(self, name: str) -> None:
        """One more frame of a benchmark; the first one also prepares it and is kept apart."""
        if name in self.errors:
            return
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(name + "\n")
            self.process.stdin.flush()
        except OSError:
            self.errors[name] = "the process is gone"
            return
        answer = self._answer()
        if "error" in answer:
            self.errors[name] = answer["error"]
        elif "first" in answer:
            self.first[name] = answer["first"]
        else:
            self.times.setdefault(name, []).append(answer["seconds"])

    def median(self, name: str) -> float | None:
        times = self.times.get(name)
        return statistics.median(times) if times else None

    def close(self) -> None:
        if self.process.stdin is not None:
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def measure(names: list[str], drivers: list[str], repeat: int) -> list[_Side]:
    """Time every benchmark on every driver, one frame per side in turn."""
    sides = [_Side(d) for d in drivers]
    started: list[_Side] = []
    try:
        for side in sides:
            side.start()
            started.append(side)
        with progress_bar(console()) as bar:
            task = bar.add_task("frames", total=len(names) * (repeat + 1) * len(sides), note="")
            for name in names:
                for _ in range(repeat + 1):
                    for side in sides:
                        bar.update(task, note=f"{name} on {side.driver}")
                        side.frame(name)
                        bar.advance(task)
    finally:
        for side in started:
            side.close()
    return sides


def run(options: argparse.Namespace) -> int:
    from gallette.benchmarks import BENCHMARKS

    if options.list:
        for b in BENCHMARKS.values():
            print(f"{b.name:<18}{b.doc}")
        return 0
    for name in options.benchmarks:
        if name not in BENCHMARKS:
            known = ", ".join(BENCHMARKS)
            raise GalletteError(f"gallette bench: unknown benchmark {name!r} (one of {known})")
    if options.repeat < 1:
        raise GalletteError("gallette bench: --repeat must be at least 1")
    names = options.benchmarks or list(BENCHMARKS)
    others = [d.strip() for d in options.against.split(",") if d.strip()]
    drivers = [options.driver or default_driver()]
    drivers += [f"native:{d}" if d in _NATIVE else d for d in others]
    sides = measure(names, drivers, options.repeat)
    _print_table(names, sides)
    if options.json is not None:
        _write_json(options.json, names, sides)
        console().print(f"figures: {options.json}")
    return 1 if any(side.errors for side in sides) else 0


def _print_table(names: list[str], sides: list[_Side]) -> None:
    from rich.table import Table

    out = console()
    ours, *others = sides
    table = Table(title="milliseconds per frame (draw plus read back, median)")
    table.add_column("benchmark")
    table.add_column(ours.driver, justify="right")
    for side in others:
        table.add_column(side.driver, justify="right")
    for side in others:
        table.add_column(f"{side.driver.split(':')[-1]} / ours", justify="right")
    for name in names:
        mine = ours.median(name)
        cells = [_milliseconds(side, name) for side in sides]
        for side in others:
            theirs = side.median(name)
            if mine is None or theirs is None:
                cells.append("")
                continue
            color = "green" if theirs > mine else "red"
            cells.append(f"[{color}]{theirs / mine:.2f}x[/]")
        table.add_row(name, *cells)
    out.print(table)
    out.print("above 1x: ours is faster")
    for side in sides:
        for name, error in side.errors.items():
            out.print(f"{side.driver}, {name}: {error}", markup=False)


def _milliseconds(side: _Side, name: str) -> str:
    if name in side.errors:
        return "[red]error[/]"
    median = side.median(name)
    return "" if median is None else f"{median * 1000:.1f}"


def _write_json(path: Path, names: list[str], sides: list[_Side]) -> None:
    document = {
        "unit": "seconds",
        "sides": [
            {
                "driver": side.driver,
                "renderer": side.renderer,
                "median": {n: side.median(n) for n in names},
                "first_frame": side.first,
                "frames": side.times,
                "errors": side.errors,
            }
            for side in sides
        ],
    }
    try:
        path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path}: cannot write: {error.strerror or error}") from None
