"""Compiling GLSL for lessons: shaders in the form a driver receives, straight from the linker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from gallette.compiler.errors import CompileError
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader

__all__ = ["corpus", "link"]


def link(sources: dict[str, str]) -> dict[str, Shader]:
    """Compile and link stage -> source; the caller owns one reference to every shader."""
    compiled = [
        compile_shader(Stage(stage), text, CompileOptions()) for stage, text in sources.items()
    ]
    for shader in compiled:
        if not shader.ok:
            raise CompileError(shader.info_log)
    program = link_program(compiled, LinkOptions())
    if not program.ok:
        raise CompileError(program.info_log)
    return {stage.value: shader for stage, shader in program.shaders.items()}


def corpus() -> Iterator[tuple[str, dict[str, str]]]:
    """(name, sources) of every vertex and fragment pair bundled with gallette, core GLSL only."""
    from gallette.piglit_subset.requirements import context_needs
    from gallette.piglit_subset.shader_test import parse_file
    from gallette.piglit_subset.suite import find_tests

    stages = {"VERTEX_SHADER": "vertex", "FRAGMENT_SHADER": "fragment"}
    for name, path in find_tests([]):
        test = parse_file(Path(path))
        needs = context_needs(test)
        shaders = [s for s in test.shaders if s.form == "glsl" and s.stage in stages]
        glsl = {stages[s.stage]: s.text for s in shaders}
        error_wanted = any(c.text.startswith("link error") for c in test.commands)
        if needs.profile == "core" and len(test.shaders) == len(glsl) == 2 and not error_wanted:
            yield name.replace("@", "/"), glsl
    yield from _scene_shaders()


def _scene_shaders() -> Iterator[tuple[str, dict[str, str]]]:
    from gallette.scenes import (
        blur,
        deferred,
        depth_prepass,
        gradient,
        instances,
        lit_mesh,
        mandelbrot,
        shadow_map,
        textured_quads,
        transparency,
    )

    for module in (
        depth_prepass, gradient, instances, lit_mesh, mandelbrot, shadow_map, textured_quads,
        transparency,
    ):  # fmt: skip
        yield (
            module.__name__.rpartition(".")[2],
            {
                "vertex": module.VERTEX,
                "fragment": module.FRAGMENT,
            },
        )
    yield "blur", {"vertex": blur.VERTEX, "fragment": blur.BLUR}
    geometry = {"vertex": deferred.GEOMETRY_VERTEX, "fragment": deferred.GEOMETRY_FRAGMENT}
    yield "deferred geometry", geometry
    yield "deferred light", {"vertex": deferred.LIGHT_VERTEX, "fragment": deferred.LIGHT_FRAGMENT}
