"""Pauses garbage collection during work that creates many small, long-lived objects."""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

__all__ = ["gc_paused"]

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
