"""Ownership of shaders: counters that make reference counting visible and testable.

Passing a shader to a driver's `create_*_state` gives away one reference; `cloning.mutable` clones
only if there are other references. Every step is counted here, so a test, a lesson or a leak report
can say how many clones a frame cost and which shaders are still alive.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING
from weakref import ref

from gallette.compiler.lazy_dataclass import lazy_dataclass

if TYPE_CHECKING:
    from gallette.compiler.nir.ir import Shader


@lazy_dataclass()
class OwnershipCounters:
    """Totals since the last `reset`; `live` shaders are those with a positive reference count."""

    created: int = 0
    cloned: int = 0
    cloned_instrs: int = 0
    refs: int = 0
    unrefs: int = 0
    destroyed: int = 0

    def reset(self) -> None:
        self.created = self.cloned = self.cloned_instrs = 0
        self.refs = self.unrefs = self.destroyed = 0

    def snapshot(self) -> dict[str, int]:
        return asdict(self)


COUNTERS = OwnershipCounters()
_LIVE: dict[ref[Shader], None] = {}
"""in order of creation (a `WeakSet` is unordered, and a `WeakValueDictionary` is several times
slower)
"""


def _is_gone(one: ref[Shader]) -> None:
    _LIVE.pop(one, None)


def track(shader: Shader) -> None:
    _LIVE[ref(shader, _is_gone)] = None


def forget(shader: Shader) -> None:
    _LIVE.pop(ref(shader), None)


def disown(shader: Shader) -> Shader:
    """Exclude a shader without owner, which is only read, from the counts."""
    COUNTERS.created -= 1
    forget(shader)
    shader.refcount = 0
    return shader


def live_shaders() -> list[Shader]:
    """Every shader object whose reference count has not reached zero and that still exists."""
    found = [one() for one in list(_LIVE)]
    return [s for s in found if s is not None and s.refcount > 0]
