"""vulkan draws what numpipe draws: every scene, with no word of the validation layers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gallette.render import render_scenes
from gallette.scenes import SCENES
from tests.scenes_once import numpipe_scenes

from .device import needs_device, said, validated

ROUNDED = {"mandelbrot": 0.0005}
"""Where rounding decides single pixels: the share of them that may be otherwise."""


@needs_device
def test_every_scene_is_numpipes_and_valid(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = validated(tmp_path, monkeypatch)
    ours = render_scenes("vulkan", list(SCENES))
    theirs = numpipe_scenes(tmp_path_factory)
    assert not ours.errors
    for name in SCENES:
        for one, other in zip(ours.passes[name], theirs[name], strict=True):
            assert np.array_equal(one.coverage, other.coverage), (name, one.name)
            scale = 1 if one.color.dtype == np.uint8 else 255
            apart = np.abs(one.color.astype(np.float64) - other.color.astype(np.float64)) * scale
            share = np.mean(np.nan_to_num(apart).max(axis=-1) > 1)
            assert share <= ROUNDED.get(name, 0), (name, one.name)
    assert said(messages) == ""
