"""The sides of a comparison: one process per driver. The processes alternate, a few frames each.

So a busy moment of the machine slows all sides alike.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

from gallette.benchmarks.memory import FrameMemory
from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.piglit_subset.environment import child_command, child_environment


@lazy_dataclass()
class Side:
    """One driver's process, and its replies."""

    driver: str
    scenes: str = ""  # a file with benchmarks of the user's own
    renderer: str = ""
    first: dict[str, float] = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)
    processor: dict[str, list[float]] = field(default_factory=dict)
    profiles: dict[str, dict[str, float]] = field(default_factory=dict)
    memory: dict[str, FrameMemory] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    lacks: dict[str, str] = field(default_factory=dict)  # benchmarks it cannot draw, and why
    log: Any = None
    process: subprocess.Popen[str] = field(init=False)

    @property
    def name(self) -> str:
        """The driver's display name."""
        return self.driver.split(":")[-1]

    @property
    def native(self) -> bool:
        return self.driver.startswith("native")

    def start(self) -> None:
        self.log = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `close`
        self.process = subprocess.Popen(
            child_command("gallette.benchmarks.child", self.driver, self.scenes),
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

    def request(self, question: str) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(question + "\n")
            self.process.stdin.flush()
        except OSError:
            return {"error": "the process is gone"}
        return self._answer()

    def draw_frames(self, name: str) -> None:
        """Draw more frames of a benchmark; the first one also prepares it and is recorded
        separately.
        """
        if name in self.errors or name in self.lacks:
            return
        answer = self.request(name)
        if "error" in answer:
            self.errors[name] = answer["error"]
        elif "lacks" in answer:
            self.lacks[name] = answer["lacks"]
        elif "first" in answer:
            self.first[name] = answer["first"]
        else:
            self.times.setdefault(name, []).extend(answer["seconds"])
            self.processor.setdefault(name, []).extend(answer["processor"])

    def profile(self, name: str) -> None:
        """Request a profile of a benchmark, once it has drawn frames."""
        if not self.native and name in self.times:
            self.profiles[name] = self.request(f"profile {name}").get("profile", {})

    def measure_memory(self, name: str) -> None:
        """Request the memory of a frame."""
        if not self.native and name in self.times:
            answer = self.request(f"memory {name}")
            if "memory" in answer:
                self.memory[name] = FrameMemory(**answer["memory"])

    def median(self, name: str, processor: bool = False) -> float | None:
        times = (self.processor if processor else self.times).get(name)
        return statistics.median(times) if times else None

    def close(self) -> None:
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # it died with a question before it
                self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.log.close()


def measure(
    names: Sequence[str],
    drivers: Sequence[str],
    repeat: int,
    profiled: bool = False,
    memory: bool = False,
    step: Callable[[str], None] = lambda note: None,
    scenes: str = "",
) -> list[Side]:
    """Time every benchmark on every driver, `repeat` turns of each side."""
    sides = [Side(d, scenes) for d in drivers]
    started: list[Side] = []
    try:
        for side in sides:
            side.start()
            started.append(side)
        for name in names:
            for _ in range(repeat + 1):
                for side in sides:
                    step(f"{name} on {side.driver}")
                    side.draw_frames(name)
            for side in sides:
                if profiled:
                    side.profile(name)
                if memory:
                    side.measure_memory(name)
    finally:
        for side in started:
            side.close()
    return sides
