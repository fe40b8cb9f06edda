"""Functions that several lessons share: link shaders, count over the bundled ones, draw scenes,
compare with numpipe.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import CompileError
from gallette.compiler.glsl import CompileOptions, LinkOptions, compile_shader, link_program
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.pictures import to_rgb8
from gallette.pipe.interface import Screen
from gallette.scenes.common import Pass


def link(sources: Mapping[str, str]) -> dict[str, Shader]:
    """Compile and link the sources of each stage; the caller owns one reference to every shader."""
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


def fragment_of(vertex: str, fragment: str) -> Shader:
    """The fragment shader of a linked pair; the caller owns it."""
    linked = link({"vertex": vertex, "fragment": fragment})
    linked["vertex"].unref()
    return linked["fragment"]


@functools.cache
def corpus() -> Sequence[tuple[str, dict[str, str]]]:
    """The vertex and fragment pairs bundled with gallette, core GLSL only: (name, sources)."""
    from gallette.piglit_subset.requirements import context_needs
    from gallette.piglit_subset.shader_test import parse_file
    from gallette.piglit_subset.suite import find_tests

    stages = {"VERTEX_SHADER": "vertex", "FRAGMENT_SHADER": "fragment"}
    pairs = []
    for name, path in find_tests([]):
        test = parse_file(Path(path))
        needs = context_needs(test)
        shaders = [s for s in test.shaders if s.form == "glsl" and s.stage in stages]
        glsl = {stages[s.stage]: s.text for s in shaders}
        error_wanted = any(c.text.startswith("link error") for c in test.commands)
        if needs.profile == "core" and len(test.shaders) == len(glsl) == 2 and not error_wanted:
            pairs.append((name.replace("@", "/"), glsl))
    return [*pairs, *_scene_shaders()]


def _scene_shaders() -> Iterator[tuple[str, dict[str, str]]]:
    from gallette.scenes import blur, deferred
    from gallette.scenes.common import COMMON

    for name in (
        "depth_prepass", "gradient", "instances", "lit_mesh", "mandelbrot", "shadow_map",
        "textured_quads", "transparency",
    ):  # fmt: skip
        glsl = import_module(f"gallette.scenes.{name}").GLSL
        yield name, {"vertex": glsl["vertex"], "fragment": glsl["fragment"]}
    yield "blur", {"vertex": COMMON["full_screen"], "fragment": blur.GLSL["blur"]}
    glsl = deferred.GLSL
    geometry = {"vertex": glsl["geometry_vertex"], "fragment": glsl["geometry_fragment"]}
    yield "deferred geometry", geometry
    light = {"vertex": COMMON["full_screen"], "fragment": glsl["light_fragment"]}
    yield "deferred light", light


def every_eighth() -> Iterator[Shader]:
    """The shaders of every eighth bundled pair; the caller owns them."""
    for _, sources in islice(corpus(), 0, None, 8):
        yield from link(sources).values()


def draw_scene(driver: str | Screen, scene: str, **options: Any) -> tuple[list[Pass], Any]:
    """A scene drawn in this process, on a driver with these options or on a screen: its passes, and
    the pipe context.
    """
    import moderngl

    from gallette.scenes import SCENES
    from gallette.state_tracker.context import Context

    on: dict[str, Any] = {"driver": driver} if isinstance(driver, str) else {"screen": driver}
    gl: Any = Context(**on, **options)
    try:
        ctx = moderngl.create_context(standalone=True, context=gl)
        ctx.extra = gl  # for scenes that call OpenGL itself
        return list(SCENES[scene].render(ctx, SCENES[scene].size)), gl.pipe
    finally:
        gl.release()


@functools.cache
def _on_numpipe(scene: str) -> list[Pass]:
    return draw_scene("numpipe", scene)[0]


def expected(scene: str, number: int = 0) -> npt.NDArray[Any]:
    """A pass of a scene drawn by numpipe."""
    return to_rgb8(_on_numpipe(scene)[number].color)


def compared(
    driver: str, scene: str, options: dict[str, Any], number: int = 0, tolerance: int = 0
) -> tuple[int, npt.NDArray[Any]]:
    """A pass of a scene on a driver: how many pixels differ from numpipe's, and the picture."""
    return _compared(driver, scene, tuple(sorted(options.items())), number, tolerance)


@functools.cache
def _compared(
    driver: str, scene: str, options: tuple[tuple[str, Any], ...], number: int, tolerance: int
) -> tuple[int, npt.NDArray[Any]]:
    found, right = (
        passes[number]
        for passes in (draw_scene(driver, scene, **dict(options))[0], _on_numpipe(scene))
    )
    apart = np.abs(found.color.astype(np.int64) - right.color.astype(np.int64))
    return int((apart > tolerance).any(axis=2).sum()), to_rgb8(found.color)


def marked(picture: npt.NDArray[Any], mask: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A picture in dim grey with some pixels in orange, a colour that no scene has."""
    grey = np.repeat(picture.mean(axis=2, keepdims=True) * 0.5, 3, axis=2).astype(np.uint8)
    grey[mask] = (255, 120, 0)
    return np.ascontiguousarray(grey)
