"""The back edge of a loop: which threads repeat it, and whether they continue in a separate
copy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .executable import first_waiting
from .threads import RUNNING, Threads

__all__ = ["loop_back_edge"]

_LEAST = 64
"""With fewer threads than this, copying the remaining ones costs more than it saves."""

_INSTRUCTION = 4096
"""The cost of an instruction besides its lanes, in the units of `work`: a Python call or two."""


def loop_back_edge(m: Threads, at: int, target: int) -> int:
    """Move the active channels from `at` back to `target`; returns the next instruction."""
    if not m.active:
        return first_waiting(m, at + 1)
    m.launch.resources.work.spend((at - target + 1) * _INSTRUCTION + m.active)
    if m.count >= _LEAST and m.waiting and not m.launch.executable.has_barriers:
        busy = m.threads()
        if busy is not None and int(np.count_nonzero(busy)) * 2 <= m.count:
            _separately(m, np.flatnonzero(busy), target)
            return first_waiting(m, at + 1)
    return target


def _separately(m: Threads, chosen: npt.NDArray[Any], target: int) -> None:
    """Run the few threads that are still in the loop without the many that have left it."""
    executable = m.launch.executable
    executable.deliver_results(m)
    part = m.take(chosen)
    executable.run(part, target, min(m.waiting))
    executable.deliver_results(part)
    assert not (part.pc == RUNNING).any()
    m.put(chosen, part)
