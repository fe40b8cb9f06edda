"""Scenes draw what they drew when their pictures were recorded.

Both sides of a comparison run the same script, so that a scene that draws something else compares
well. `gallette diff --record` records one that was meant to change.
"""

from __future__ import annotations

import pytest

from gallette.compare import compare
from gallette.references import load
from gallette.render import Rendering
from gallette.scenes import SCENES
from tests.scenes_once import numpipe_scenes


def test_scenes_draw_what_was_recorded(tmp_path_factory: pytest.TempPathFactory) -> None:
    ours = Rendering("numpipe", "numpipe", numpipe_scenes(tmp_path_factory))
    found = compare(ours, load(list(SCENES)), list(SCENES), 1.0)
    assert len(found) == len(SCENES) > 40
    assert {scene.name: scene.error or scene.passes for scene in found if not scene.ok} == {}
