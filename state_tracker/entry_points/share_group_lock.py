"""Locking between contexts that share objects, in any threads.

A context that does not share needs no lock. When another one joins its group, every call becomes
`guarded`: it holds the group's lock and has the pipe. At that moment a thread may be inside an
unguarded call; the joining context waits until that call has returned (`wait_for_calls`).
"""

from __future__ import annotations

import functools
import os.path
import sys
import time
from _thread import get_ident
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.current import threads_of

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context
    from gallette.state_tracker.share import ShareGroup

_LOOKING_AGAIN = 0.0002  # seconds
_LONGEST = 10.0
"""Seconds: no draw takes as long (its work is limited), but an application's callback may not
return.
"""


def guarded(context: Context, method: Callable[..., Any]) -> Callable[..., Any]:
    """The method, executed under the group's lock."""
    group = context.group

    def call_with_pipe(*args: Any) -> Any:
        with group.lock:
            group.take(context)
            return method(*args)

    return functools.update_wrapper(call_with_pipe, method, updated=())


_HERE = guarded.__code__.co_filename
_CALLS = tuple(os.path.join(os.path.dirname(_HERE), name) for name in ("abi.py", "dispatch.py"))
"""the files with the functions one of which is in every call"""


def wait_for_calls(group: ShareGroup) -> None:
    """Wait while another thread is in an unguarded call on one of the group's contexts."""
    until = time.monotonic() + _LONGEST
    while _under_way(group) and time.monotonic() < until:
        time.sleep(_LOOKING_AGAIN)


def _under_way(group: ShareGroup) -> bool:
    here, frames = get_ident(), sys._current_frames()
    return any(
        thread != here and _has_no_pipe(frames.get(thread))
        for context in group.contexts
        for thread in threads_of(context)
    )


def _has_no_pipe(frame: FrameType | None) -> bool:
    """Whether the frames of a thread contain a call, and none that is guarded."""
    inside = False
    while frame is not None:
        file = frame.f_code.co_filename
        if file == _HERE:
            return False
        inside = inside or file in _CALLS
        frame = frame.f_back
    return inside
