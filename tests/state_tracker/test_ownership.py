"""Three ownership models: who clones differs, pictures and the tracker's shaders do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.ownership import COUNTERS
from gallette.compiler.nir.text.printer import print_shader
from gallette.pipe.loader import create_screen
from gallette.state_tracker import GL, create_context
from tests.numpipe.draw.draw_scene import position_vertex

from .helpers import pixels, program, quad


def drawn(monkeypatch: pytest.MonkeyPatch, folder: Path, ownership: str) -> tuple[Any, int]:
    settings = folder / f"{ownership}.toml"
    settings.write_text(f'[[application]]\nownership = "{ownership}"\n')
    monkeypatch.setenv("GALLETTE_CONFIG", str(settings))
    gl = create_context("numpipe", size=(64, 64))
    name = program(gl)
    gl.uniform4f(gl.get_uniform_location(name, "color"), 0.25, 0.5, 0.75, 1.0)
    quad(gl, name)
    linked = gl.programs.executable.linked.shaders  # type: ignore[attr-defined]
    before = {stage: print_shader(shader) for stage, shader in linked.items()}
    clones = COUNTERS.cloned
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    image = pixels(gl).tobytes()
    assert {stage: print_shader(shader) for stage, shader in linked.items()} == before
    made = COUNTERS.cloned - clones
    gl.release()
    return image, made


def test_the_models_draw_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    models = ("counted", "driver_owns", "always_clone")
    found = {model: drawn(monkeypatch, tmp_path, model) for model in models}
    assert len({image for image, _ in found.values()}) == 1
    # A tracker that keeps its shaders clones each once, or the driver does it for it.
    assert found["driver_owns"][1] == found["counted"][1] == 2
    assert found["always_clone"][1] > 2


def test_a_driver_that_owns_its_shaders_needs_the_only_reference() -> None:
    screen = create_screen("numpipe", ownership="driver_owns")
    assert screen.caps.driver_owns_shaders
    context = screen.context_create()
    shader = position_vertex()
    shader.ref()
    with pytest.raises(GalletteError, match="still referenced elsewhere"):
        context.create_shader_state(shader.stage, shader)
    handle = context.create_shader_state(shader.stage, shader)
    context.delete_shader_state(handle)
    context.destroy()
