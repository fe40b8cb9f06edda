"""Drawing the same on our GL and on the machine's, and comparing the pictures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.state_tracker.helpers import errors, pixels


def compare(
    drawing: Callable[[Any], None],
    *,
    tolerance: int = 1,
    stray: int = 0,
    size: tuple[int, int] = (64, 64),
    profile: str = "compat",
    version: tuple[int, int] = (2, 1),
) -> None:
    """Both pictures have the same pixels, within `tolerance` levels, except for `stray` of them."""
    pictures, found = [], []
    for native in (True, False):
        options: dict[str, Any] = {"profile": profile, "version": version, "size": size}
        gl = native_context(**options) if native else create_context("numpipe", **options)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
        drawing(gl)
        found.append(errors(gl))
        pictures.append(pixels(gl, *size).astype(int))
        gl.release()
    assert found[1] == found[0]
    reference, picture = pictures
    assert reference.any(), "the reference shows nothing"
    different = (abs(reference - picture) > tolerance).any(axis=2)
    assert np.count_nonzero(different) <= stray, f"at (y, x) {np.argwhere(different)[:8].tolist()}"
