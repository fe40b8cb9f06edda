"""The reference GLSL compiler's SPIR-V of the bundled tests renders the same images as our GLSL.

`glslangValidator` compiles each stage, as Vulkan's dialect and as OpenGL's where these allow it.
The program is linked from GLSL as ever; then the code of each stage is replaced by what came
through SPIR-V, whose variables are given the places that the linker gave to those of the same name.
"""

from __future__ import annotations

import functools
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pytest
from conversions import FOLDERS, TESTS, expected, render, through, tool

from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

SUFFIXES = {
    "vertex": (Stage.VERTEX, "vert"),
    "fragment": (Stage.FRAGMENT, "frag"),
    "geometry": (Stage.GEOMETRY, "geom"),
    "tessellation control": (Stage.TESS_CTRL, "tesc"),
    "tessellation evaluation": (Stage.TESS_EVAL, "tese"),
    "compute": (Stage.COMPUTE, "comp"),
}


def sources(path: Path) -> dict[Stage, tuple[str, str]]:
    """GLSL of the stages that come from one section each."""
    parts = re.split(r"^\[(.+?)\]\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    found: dict[Stage, list[tuple[str, str]]] = {}
    for heading, body in zip(parts[1::2], parts[2::2], strict=True):
        kind = heading.strip().removesuffix(" shader")
        if kind in SUFFIXES:
            stage, suffix = SUFFIXES[kind]
            found.setdefault(stage, []).append((suffix, body.lstrip("\n")))
    return {stage: texts[0] for stage, texts in found.items() if len(texts) == 1}


LEAST_VERSION = {"-V": 140, "-G": 330}
"""Of shaders for Vulkan and for OpenGL: glslang refuses all older ones."""


@functools.cache
def compile_with_glslang(flag: str, suffix: str, text: str) -> bytes | None:
    """A module, or None where the dialect has no words for the shader. Starting the compiler takes
    longer than compiling, and tests have shaders in common.
    """
    version = re.search(r"^\s*#version (\d+)", text, re.M)
    if int(version[1] if version else 110) < LEAST_VERSION[flag]:
        return None
    with tempfile.TemporaryDirectory() as folder:
        module = Path(folder) / "shader.spv"
        words = [flag, "--amb", "--aml", "--stdin", "-S", suffix, "-o", str(module)]
        command = [tool("glslangValidator"), *words]
        done = subprocess.run(command, input=text.encode(), capture_output=True)
        return module.read_bytes() if done.returncode == 0 and module.exists() else None


def adopt(theirs: Shader, ours: Shader) -> None:
    """Give `theirs` (from SPIR-V) the places of the variables of `ours` (from our linker)."""
    for var in theirs.variables:
        if var.mode in (Mode.SHADER_TEMP, Mode.SHARED):
            continue
        if var.mode in (Mode.SHADER_IN, Mode.SHADER_OUT) and not var.explicit_location:
            continue  # a built-in: its slot says it all
        same = find(var, ours)
        if same is None:
            # What the linker found to be unused has no place.
            assert var.mode != Mode.SHADER_OUT or theirs.stage is not Stage.FRAGMENT, var
            if var.mode == Mode.SHADER_OUT:
                var.mode = Mode.SHADER_TEMP
                move(theirs, var)
            continue
        for name in ("location", "component", "index", "offset", "binding", "driver_location"):
            setattr(var, name, getattr(same, name))
        if var.mode == Mode.UNIFORM and not var.type.contains_opaque():
            var.type = same.type
            retype(theirs, var)


def retype(shader: Shader, var: Variable) -> None:
    """Derefs point to what the variable's new type says."""
    from gallette.compiler.nir.ir.queries import derefs_of

    for deref in derefs_of(shader):
        if deref.root_var is not var:
            continue
        parent = deref.parent
        if parent is None:
            deref.type = var.type
        elif deref.form == "struct":
            deref.type = parent.type.fields[deref.field].type
        else:
            deref.type = parent.type.indexed()


def move(shader: Shader, var: Variable) -> None:
    from gallette.compiler.nir.ir.queries import derefs_of

    for deref in derefs_of(shader):
        if deref.root_var is var:
            deref.modes = var.mode


def find(var: Variable, ours: Shader) -> Variable | None:
    kind = [v for v in ours.variables if v.mode == var.mode]
    if var.mode in (Mode.UBO, Mode.SSBO):
        name = var.type.without_array.name
        return next((v for v in kind if v.type.without_array.name == name), None)
    exact = [v for v in kind if v.name == var.name]
    if exact:
        return exact[0]
    member = var.name.rpartition(".")[2]
    return next((v for v in kind if v.name.rpartition(".")[2] == member), None)


@pytest.mark.parametrize("folder", FOLDERS)
def test_same_image(folder: str) -> None:
    """Each test in one of the dialects of Vulkan and of OpenGL, in turn; in the other one if that
    has no words for its shaders."""
    for number, path in enumerate(TESTS[folder]):
        modules: dict[Stage, bytes] = {}
        for flag in ("-V", "-G") if number % 2 else ("-G", "-V"):
            for stage, (suffix, text) in sources(path).items():
                data = compile_with_glslang(flag, suffix, text)
                if data is not None:
                    modules[stage] = data
            if modules:
                break
        else:
            continue

        def convert(shader: Shader, modules: dict[Stage, bytes] = modules) -> Shader:
            data = modules.get(shader.stage)
            if data is None:
                return clone_shader(shader)
            read = spirv_to_nir(read_module(data), shader.stage)
            adopt(read, shader)
            return read

        verdict, reason, pictures = expected(path)
        with through(convert, optimized=False):
            got = render(path)
        assert got[:2] == (verdict, reason), (path.name, flag)
        for ours, theirs in zip(got[2], pictures, strict=True):
            assert np.array_equal(ours, theirs), (path.name, flag)
