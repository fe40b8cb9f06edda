"""Bundled tests of every stage and kind of memory pass, with no word of the validation layers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gallette.cli import main

from .device import needs_device, said, validated

FEW = "tessellation|geometry|primitives/|transform-feedback|xfb|streams"
MANY = (
    "compute|shader_storage|ssbo|atomic|image|textures/|texture-formats|texture-uploads|compressed|"
    "multisample|sample|blend|stencil|depth|queries|conditional|vertex-formats|arrays|instanc|"
    "restart|quads|polygon|line|point"
)


@needs_device
@pytest.mark.parametrize("which, shard, least", [(FEW, "1/1", 24), (MANY, "1/3", 130)])
def test_groups_pass(
    which: str, shard: str, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = validated(tmp_path, monkeypatch)
    out = tmp_path / "run"
    chosen = ["--filter", which, "--shard", shard]
    main(["piglit", "run", "--driver", "vulkan", "-j", "1", *chosen, "-o", str(out)])
    results = json.loads((out / "results.json").read_text())["tests"]
    found = {name: result["result"] for name, result in results.items()}
    assert len(found) >= least
    assert {name: result for name, result in found.items() if result not in ("pass", "skip")} == {}
    assert said(messages) == ""
