"""Compiling and linking pause the garbage collector, and leave it as it was."""

from __future__ import annotations

import gc

import pytest

from gallette.compiler.glsl import compile_shader, link_program
from gallette.compiler.nir.ir import Stage


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_as_it_was(enabled: bool) -> None:
    before = gc.isenabled()
    try:
        (gc.enable if enabled else gc.disable)()
        shader = compile_shader(Stage.FRAGMENT, "this is not GLSL")
        assert not shader.ok
        assert not link_program([shader]).ok
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()
