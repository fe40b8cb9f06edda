"""Keeps the garbage collector away from work that creates many small, long-lived objects."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

Work = TypeVar("Work", bound=Callable[..., Any])


def gc_paused(function: Work) -> Work:
    """Pause garbage collection while `function` runs.

    Trees and IR are many small objects that all stay alive, so the collector would traverse them
    again and again, more often for longer shaders (a third of the time at 10,000 lines).
    """

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        if not gc.isenabled():
            return function(*args, **options)
        gc.disable()
        try:
            return function(*args, **options)
        finally:
            gc.enable()

    return run  # type: ignore[return-value]


def loading(function: Work) -> Work:
    """Pause garbage collection while `function` runs, which loads many modules the first time; what
    they consist of then counts as old.

    The collector would otherwise traverse it three times, once per generation, until the end of the
    first frame: half of that frame's time. Freezing and unfreezing moves all objects to the oldest
    generation without a look at them.
    """
    paused = gc_paused(function)
    loaded = False

    @wraps(function)
    def run(*args: Any, **options: Any) -> Any:
        nonlocal loaded
        try:
            return paused(*args, **options)
        finally:
            if not loaded and not gc.get_freeze_count():  # the program may have frozen its own
                gc.freeze()
                gc.unfreeze()
            loaded = True

    return run  # type: ignore[return-value]
