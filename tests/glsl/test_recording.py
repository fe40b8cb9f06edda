"""A shader becomes the same NIR whether its passes are recorded or not."""

from __future__ import annotations

import re
from contextlib import nullcontext
from pathlib import Path

import pytest

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.run.pass_runner import recording
from gallette.compiler.nir.text.printer import print_shader
from gallette.piglit_subset.suite import find_tests

STAGES = {
    "vertex shader": Stage.VERTEX,
    "tessellation control shader": Stage.TESS_CTRL,
    "tessellation evaluation shader": Stage.TESS_EVAL,
    "geometry shader": Stage.GEOMETRY,
    "fragment shader": Stage.FRAGMENT,
    "compute shader": Stage.COMPUTE,
}


def texts(path: Path, recorded: bool) -> list[str]:
    """The linked stages of a shader_test; none if they do not compile."""
    parts = re.split(r"^\[(.*?)\]\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    options = CompileOptions(api="core" if "CORE" in parts[2] else "compat")
    with recording(texts=False) if recorded else nullcontext():
        shaders = [
            compile_shader(STAGES[name], body.lstrip("\n"), options)
            for name, body in zip(parts[1::2], parts[2::2], strict=True)
            if name in STAGES
        ]
        if not shaders or not all(shader.ok for shader in shaders):
            return []
        linked = link_program(shaders).shaders.values()
    found = [print_shader(shader) for shader in linked]
    for shader in linked:
        shader.unref()
    return found


@pytest.mark.parametrize("part", range(8))
def test_recording_changes_nothing(part: int) -> None:
    compared = 0
    for _, path in find_tests([])[part::8]:
        plain = texts(path, recorded=False)
        assert texts(path, recorded=True) == plain, path
        compared += len(plain)
    assert compared > 100
