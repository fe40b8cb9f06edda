"""One native GL for a test module, or a reason to skip (never in CI)."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from sampling_scene import Native

from compiler.errors import GalletteError


def native_or_skip() -> Iterator[Native]:
    """The native side; without one, a skip, or a failure where one is required."""
    try:
        side = Native()
    except (GalletteError, OSError) as error:
        if os.environ.get("GALLETTE_REQUIRE_REFERENCE") == "1":
            raise
        pytest.skip(f"no native GL: {error}")
    yield side
    side.gl.release()
