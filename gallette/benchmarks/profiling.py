"""Profiles of benchmarks: the time by the part of the stack that spent it.

A timer of processor time interrupts every millisecond; the innermost frame that belongs to a known
folder names the part. A call into NumPy is charged to the Python line it was called from, because
the interruption is delivered when it returns.
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

from gallette.compiler.errors import GalletteError

PARTS = {
    "calls": "entry points, the state tracker, the client",
    "draws": "bound state to draws: keys, queue, batches",
    "vertices": "vertex fetch, assembly, clipping",
    "shading": "the shaders' generated code",
    "set-up": "triangles to planes and spans",
    "sampling": "texture lookups",
    "tests": "order, depth and stencil",
    "blending": "colours to memory",
    "memory": "clears, copies, read back",
}
"""What each part is."""

_INTERVAL = 0.001
# The longest prefix of a module's name below `gallette.` decides.
_MODULES = {
    "": "calls",
    "drivers": "draws",
    "drivers.common.vertex": "vertices",
    "drivers.common.raster": "set-up",
    "drivers.common.texture": "sampling",
    "drivers.common.output": "tests",
    "drivers.common.output.blend": "blending",
    "drivers.common.output.color": "blending",
    "drivers.common.output.unorm8": "blending",
    "drivers.common.output.multisample": "blending",
    "drivers.common.memory": "memory",
    "drivers.common.storage": "shading",
    "drivers.common.threads": "shading",  # waiting for threads that shade
    "drivers.numpipe.shader": "shading",
    "drivers.jit.shader": "shading",
}


def _part(frame: FrameType | None) -> str:
    """The part of the stack that the innermost frame of this package belongs to."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if frame.f_code.co_filename.startswith("<") and "spend" in frame.f_code.co_varnames:
            return "shading"  # generated from a shader
        if name.startswith("gallette.") and name != __name__:
            path = name.removeprefix("gallette.")
            while path and path not in _MODULES:
                path = path.rpartition(".")[0]
            return _MODULES[path]
        frame = frame.f_back
    return "calls"


def profile(frame: Callable[[], Any], seconds: float = 1.0) -> dict[str, float]:
    """Draw frames for about this many seconds; returns each part's share of the processor time."""
    if not hasattr(signal, "setitimer"):
        raise GalletteError(
            "bench --profile needs timers of processor time, which this system lacks"
        )
    counts = dict.fromkeys(PARTS, 0)

    def tick(number: int, at: FrameType | None) -> None:
        counts[_part(at)] += 1

    before = signal.signal(signal.SIGPROF, tick)
    signal.setitimer(signal.ITIMER_PROF, _INTERVAL, _INTERVAL)
    try:
        until = time.process_time() + seconds
        while time.process_time() < until:
            frame()
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    total = sum(counts.values()) or 1
    return {part: count / total for part, count in counts.items()}
