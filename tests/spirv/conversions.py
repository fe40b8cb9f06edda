"""Shaders of the bundled tests on their way through SPIR-V, for tests that render with them.

`through` replaces the step in which the GLSL linker brings a stage into drivers' form: the stage
goes to SPIR-V and back first.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette.compiler.link.finish as finish
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import FRONT_END
from gallette.compiler.spirv.grammar import grammar
from gallette.compiler.spirv.module import Module
from gallette.compiler.spirv.operands import Context, operands_of
from gallette.piglit_subset.execute import run_test
from gallette.piglit_subset.shader_test import parse_file
from gallette.state_tracker.entry_points.enums import GL

BUNDLED = Path(__file__).parents[2] / "piglit_subset" / "spec"
# The bundled tests that a person wrote, by topic; generated ones, which lie elsewhere, vary
# numbers, not shaders.
TESTS: dict[str, list[Path]] = {}
for _path in sorted(BUNDLED.rglob("*.shader_test")):
    TESTS.setdefault(_path.parent.name, []).append(_path)
FOLDERS = sorted(TESTS)
assert sum(map(len, TESTS.values())) > 100
Convert = Callable[[Shader], Shader]


def tool(name: str) -> str:
    """A program of spirv-tools or glslang-tools; where it is missing, the test says so."""
    path = shutil.which(name)
    if path is None:
        if os.environ.get("GALLETTE_REQUIRE_REFERENCE", "") not in ("", "0"):
            pytest.fail(f"{name} is required (Debian: spirv-tools, glslang-tools)")
        pytest.skip(f"{name} is not installed")
    return path


def run_tool(name: str, *arguments: str | Path, data: bytes = b"") -> str:
    """What a tool prints; its complaint fails the test."""
    done = subprocess.run([tool(name), *map(str, arguments)], input=data, capture_output=True)
    output = done.stdout.decode(errors="replace")
    assert done.returncode == 0, output + done.stderr.decode(errors="replace")
    return output


@functools.cache
def glslang(flag: str, suffix: str, text: str) -> bytes:
    """The module of a shader, for Vulkan (`-V`) or OpenGL (`-G`); each text is compiled once."""
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "shader.spv"
        options = ("--stdin", "-S", suffix, "-o", module)
        run_tool("glslangValidator", flag, *options, data=text.encode())
        return module.read_bytes()


@contextmanager
def through(convert: Convert, optimized: bool = True) -> Iterator[None]:
    """Every stage linked inside becomes what `convert` makes of it (a new shader)."""
    lower = finish.to_driver_form

    def replaced(shader: Shader, *arguments: Any, **options: Any) -> None:
        if optimized:
            run_passes(shader, FRONT_END, None)
            optimize(shader)
        other = convert(shader)
        shader.variables, shader.functions = other.variables, other.functions
        shader.info = other.info
        for impl in shader.impls():
            impl.shader = shader
        other.functions = []  # they are not its own any more
        other.unref()
        lower(shader, *arguments, **options)

    finish.to_driver_form = replaced
    try:
        yield
    finally:
        finish.to_driver_form = lower


def render(path: Path) -> tuple[str, str, Any]:
    """Run a shader_test: its verdict, why, and what is in the window at the end."""
    images: list[Any] = []

    def look(gl: Any) -> None:
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, 0)
        while gl.get_error():
            pass
        width, height = gl.get_integerv(GL.VIEWPORT)[2:4]
        if width > 0 and height > 0:
            data = gl.read_pixels(0, 0, min(width, 64), min(height, 64), GL.RGBA, GL.UNSIGNED_BYTE)
            images.append(np.frombuffer(data, np.uint8))

    outcome = run_test(parse_file(path), "numpipe", before_release=look)
    return outcome.result, outcome.reason, images


_WIDTHS = {
    "OpTypeInt": {8: "Int8", 16: "Int16", 64: "Int64"},
    "OpTypeFloat": {16: "Float16", 64: "Float64"},
}


def undeclared(module: Module) -> set[tuple[str, ...]]:
    """Capabilities of which instructions and operands need one, and the module says none."""
    kinds = grammar().enums
    known = kinds["Capability"].by_name
    declared: set[int] = set()
    wanted: list[tuple[str, ...]] = []
    context = Context()

    def declare(name: str) -> None:
        """It, and those it builds on."""
        declared.add(known[name].value)
        for other in known[name].capabilities:
            declare(other)

    for instr in module.instructions:
        operands = operands_of(instr, context)
        context.learn(instr)
        members = [m for o in operands if o.kind in kinds for m in kinds[o.kind].split(o.value)]
        if instr.name == "OpCapability":
            declare(members[0].name)
            continue
        wanted += [instr.info.capabilities, *(member.capabilities for member in members)]
        if instr.name in _WIDTHS and instr.words[1] in _WIDTHS[instr.name]:
            wanted.append((_WIDTHS[instr.name][instr.words[1]],))
    return {some for some in wanted if some and declared.isdisjoint(known[c].value for c in some)}


@functools.cache
def expected(path: Path) -> tuple[str, str, Any]:
    """What a shader_test gives straight from GLSL: it passes."""
    found = render(path)
    assert found[0] == "pass", (path.name, found[1])
    return found
