"""The bundled GLSL tests as a corpus: what the front end makes survives everything done to it.

Each stage is run in the reference interpreter before and after it is brought into the form drivers
take, is printed and read back in both forms, and is optimised twice.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gallette.compiler.link.finish as finish
from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, ExecutionBudgetError, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

ROOT = Path(__file__).parents[2] / "piglit_subset" / "spec"
STAGES = {
    "vertex shader": Stage.VERTEX,
    "fragment shader": Stage.FRAGMENT,
    "geometry shader": Stage.GEOMETRY,
    "compute shader": Stage.COMPUTE,
    "tessellation control shader": Stage.TESS_CTRL,
    "tessellation evaluation shader": Stage.TESS_EVAL,
}
# Generated tests, which lie elsewhere, are many small shaders of one kind: they run as tests, that
# is enough. Some tests are calls alone.
SECTION = re.compile(rf"^\[({'|'.join(STAGES)})\]", re.MULTILINE)
TEXTS = {p: p.read_text(encoding="utf-8") for p in ROOT.rglob("*.shader_test")}
WRITTEN = [p for p, text in TEXTS.items() if SECTION.search(text)]
FOLDERS = sorted({path.parent for path in WRITTEN})
# Constant folding and the interpreter round alike; re-association and fusing do not.
TOLERANCE = 1e-3
CHOICES = (
    OptimizeOptions(),
    OptimizeOptions(fuse_ffma=True, inexact_used_once="always"),
    OptimizeOptions(scalar=True, position_invariant=True),
)


def link(path: Path) -> bool:
    """Compile and link the GLSL of a shader_test file; False if it is not meant to."""
    parts = re.split(r"^\[(.*?)\]\s*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    core = bool(re.search(r"CORE", parts[2] if len(parts) > 2 else ""))
    options = CompileOptions(api="core" if core else "compat")
    shaders = []
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        if name in STAGES:
            shader = compile_shader(STAGES[name], [body.lstrip("\n")], options)
            if not shader.ok:
                return False
            shaders.append(shader)
    return bool(link_program(shaders, LinkOptions()).ok)


def read_back(shader: Shader) -> None:
    text = print_shader(shader)
    assert print_shader(parse(text)) == text


def environment(seed: int) -> Environment:
    """Made-up inputs; but shaders index arrays by their invocation, which must stay in range."""
    ids = np.stack([np.arange(16) % 3, np.zeros(16, int), np.zeros(16, int)])
    return Environment(seed=seed, system_values={"global_invocation_id": ids})


def same_results(before: Shader, after: Shader) -> str:
    for seed in (1, 2):
        try:
            ran = interpret(before, environment(seed), budget=20_000)
            again = interpret(after, environment(seed), budget=20_000)
        except ExecutionBudgetError:
            return ""  # made-up inputs may ask for very many iterations
        difference = ran.same_as(again, tolerance=TOLERANCE)
        if difference:
            return difference
    return ""


NOT_ALONE = {
    "arb_shading_language_include/calls": "includes strings that calls give",
    "arb_tessellation_shader/built-in-variables": "reads what the stage before writes",
    "ext_shader_texture_lod/texture-functions": "their vertex shader is the runner's",
    "glsl-4.00/geometry": "reads what the stage before writes",
    "glsl-4.30/built-in-variables": "reads what the stage before writes",
}
"""Folders whose shaders do not link without what the test adds (a vertex shader that passes on)."""


@pytest.mark.parametrize("folder", FOLDERS, ids=[f.name for f in FOLDERS])
def test_bundled_glsl(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[Shader, Shader]] = []
    lower = finish.to_driver_form

    def recording(shader: Shader, *arguments: Any, **options: Any) -> None:
        original = clone_shader(shader)
        lower(shader, *arguments, **options)
        seen.append((original, clone_shader(shader)))

    monkeypatch.setattr(finish, "to_driver_form", recording)
    linked = 0
    for path in sorted(folder.glob("*.shader_test")):
        seen.clear()
        linked += link(path)
        for original, lowered in seen:
            where = f"{path.name}, {original.stage.value}"
            read_back(original)
            read_back(lowered)
            assert same_results(original, lowered) == "", where
            for choice in CHOICES:
                optimize(lowered, choice)
                validate(lowered, where)
                once = print_shader(lowered)
                optimize(lowered, choice)
                assert print_shader(lowered) == once, where
    assert linked or str(folder.relative_to(ROOT)) in NOT_ALONE
