"""One native GL for a test module, or a reason to skip (never in CI)."""

from __future__ import annotations

from collections.abc import Iterator

from sampling_scene import Native

from gallette.compiler.errors import GalletteError
from tests.reference import missing


def native_or_skip() -> Iterator[Native]:
    """The native side; without one, a skip, or a failure where one is required."""
    try:
        side = Native()
    except (GalletteError, OSError) as error:
        missing(error)
    yield side
    side.gl.release()
