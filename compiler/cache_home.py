"""The folder for files that gallette can recreate: `$XDG_CACHE_HOME/gallette`, or
`~/.cache/gallette` if that is unset.

`GALLETTE_CACHE` names another folder; `GALLETTE_CACHE=off` disables the cache, `on` selects the
usual folder.
"""

from __future__ import annotations

import os
from pathlib import Path

HOME_VARIABLES = ("GALLETTE_CACHE", "XDG_CACHE_HOME", "HOME", "USERPROFILE")
"""The environment variables on which the folder depends."""


def cache_home() -> Path | None:
    """The folder (which may not exist yet), or None if caching is disabled."""
    named = os.environ.get("GALLETTE_CACHE", "")
    if named in ("off", "0"):
        return None
    if named not in ("", "on", "1"):
        return Path(named)
    return usual_cache_home()


def usual_cache_home() -> Path | None:
    """The folder, ignoring GALLETTE_CACHE; None for users without a home."""
    xdg = os.environ.get("XDG_CACHE_HOME", "")
    if xdg.startswith("/"):  # the specification tells us to ignore relative paths
        return Path(xdg) / "gallette"
    try:
        return Path.home() / ".cache" / "gallette"
    except RuntimeError:
        return None
