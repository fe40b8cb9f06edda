"""Where gallette keeps what it can make again: `$XDG_CACHE_HOME/gallette`, `~/.cache/gallette` if
unset.

`GALLETTE_CACHE` names another folder; `GALLETTE_CACHE=off` means none at all, `on` the usual one.
"""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["cache_home", "usual_cache_home"]


def cache_home() -> Path | None:
    """The folder (not made yet), or None where nothing may be kept."""
    named = os.environ.get("GALLETTE_CACHE", "")
    if named in ("off", "0"):
        return None
    if named not in ("", "on", "1"):
        return Path(named)
    return usual_cache_home()


def usual_cache_home() -> Path | None:
    """The folder unless GALLETTE_CACHE names another; None for users without a home."""
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if xdg.startswith("/"):  # the specification wants relative paths ignored
        return Path(xdg) / "gallette"
    try:
        return Path.home() / ".cache" / "gallette"
    except RuntimeError:
        return None
