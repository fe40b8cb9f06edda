"""The current context of each thread, for OpenGL calls through C pointers.

C programs do not pass a context: each thread has a current one. Threads are distinguished by
identifier, not by `threading.local`, because a thread that was not started by Python loses its
locals at the end of every callback. `call_tables` holds one dictionary per thread with a context:
name of the C function -> function to call (see `abi.py`).
"""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gallette.state_tracker.entry_points.thread_ends import at_thread_end, expect_end
from gallette.state_tracker.stream import ring

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

CALL_TABLES: dict[int, dict[str, Callable[..., Any]]] = {}
_CONTEXTS: dict[int, Context] = {}


def current_context() -> Context | None:
    """The calling thread's current context."""
    if ring.words[ring.PENDING]:
        ring.flush()
    return _CONTEXTS.get(get_ident())


def set_current(context: Context | None) -> None:
    """Make a context (or none) the calling thread's current one."""
    ring.own(None)
    thread = get_ident()
    before = _CONTEXTS.get(thread)
    if before is not None and not before.released:
        before.immediate.draw_pending()
    if context is None:
        _CONTEXTS.pop(thread, None)
        CALL_TABLES.pop(thread, None)
    else:
        if thread not in _CONTEXTS:
            expect_end()
        _CONTEXTS[thread] = context
        CALL_TABLES[thread] = context.calls
        ring.own(context.stream)


@at_thread_end
def _leave() -> None:
    set_current(None)


def threads_of(context: Context) -> list[int]:
    """The threads in which a context is current."""
    return [thread for thread, its in list(_CONTEXTS.items()) if its is context]


def forget_context(context: Context) -> None:
    """Remove a destroyed context from all threads."""
    ring.drop(context.stream)
    for thread in threads_of(context):
        _CONTEXTS.pop(thread, None)
        CALL_TABLES.pop(thread, None)
