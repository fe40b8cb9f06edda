"""Bundled tests of every stage and kind of memory pass, with no word of the validation layers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gallette.cli import main

from .device import needs_device, said, validated


@needs_device
@pytest.mark.parametrize(
    ("group", "least"),
    [
        ("tessellation|geometry|primitives/", 20),
        ("transform-feedback|xfb|streams", 4),
        ("compute|shader_storage|ssbo|atomic|image", 20),
        ("textures/|texture-formats|texture-uploads|compressed", 100),
        ("multisample|sample|blend|stencil|depth|queries|conditional", 20),
        ("vertex-formats|arrays|instanc|restart|quads|polygon|line|point", 40),
    ],
)
def test_a_group_passes(
    group: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = validated(tmp_path, monkeypatch)
    out = tmp_path / "run"
    main(["piglit", "run", "--driver", "vulkan", "-j", "1", "--filter", group, "-o", str(out)])
    results = json.loads((out / "results.json").read_text())["tests"]
    found = {name: result["result"] for name, result in results.items()}
    assert len(found) >= least
    assert {name: result for name, result in found.items() if result not in ("pass", "skip")} == {}
    assert said(messages) == ""
