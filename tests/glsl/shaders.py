"""Helpers of the front-end tests: compile, link and run small shaders."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from gallette.compiler.glsl import (
    CompiledShader,
    CompileOptions,
    LinkedProgram,
    LinkOptions,
    compile_shader,
    link_program,
)
from gallette.compiler.glsl.check import hir
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import FragResult

VERTEX = """#version 330
in vec4 position;
void main() { gl_Position = position; }
"""


def compiled(stage: Stage, source: str, api: str = "compat", **options: Any) -> CompiledShader:
    return compile_shader(stage, source, CompileOptions(api=api, **options))


def fragment(source: str, api: str = "compat") -> CompiledShader:
    return compiled(Stage.FRAGMENT, source, api)


def errors(source: str, stage: Stage = Stage.FRAGMENT, api: str = "compat") -> list[str]:
    """Messages of the errors a shader gets."""
    result = compiled(stage, source, api)
    return [d.message for d in result.diagnostics if d.severity == "error"]


def fingerprint(shaders: Iterable[CompiledShader]) -> list[str]:
    """Everything in some checked trees, spelt out: objects by the order they are met in."""
    numbers: dict[int, int] = {}
    out: list[str] = []
    stack: list[Any] = [s.tree for s in shaders]
    while stack:
        x = stack.pop()
        if isinstance(x, (list, tuple, set, frozenset, dict)) or type(x).__module__ == hir.__name__:
            known = id(x) in numbers
            number = numbers.setdefault(id(x), len(numbers))
            out.append(f"{type(x).__name__} {number}")
            if known:
                continue
            if isinstance(x, dict):
                stack += [*x.keys(), *x.values()]
            elif isinstance(x, (set, frozenset)):
                # No order to go by, and what is in sets of objects is met elsewhere as well.
                out.append(str(sorted(str(v) for v in x if isinstance(v, (str, int)))))
                out.append(str(len(x)))
            elif isinstance(x, (list, tuple)):
                stack += x
            else:
                stack += [getattr(x, field.name) for field in dataclasses.fields(x)]
        else:
            out.append(repr(x) if isinstance(x, (str, int, float, bool)) else str(x))
    return out


def link(*parts: tuple[Stage, str], **options: Any) -> LinkedProgram:
    """Compile and link; the NIR is given back at once, the tables stay."""
    shaders = [compiled(stage, source) for stage, source in parts]
    for shader in shaders:
        assert shader.ok, shader.info_log
    before = fingerprint(shaders)
    program = link_program(shaders, LinkOptions(api="compat", **options))
    assert fingerprint(shaders) == before, "linking changed a compiled shader"
    for nir in program.shaders.values():
        nir.unref()
    return program


def run(source: str, uniforms: bytes = b"", optimize: bool = True) -> list[float]:
    """The colour a fragment shader writes, by the reference interpreter."""
    shader = fragment(source)
    assert shader.ok, shader.info_log
    program = link_program([shader], LinkOptions(api="compat", optimize=optimize))
    assert program.ok, program.info_log
    nir = program.shaders[Stage.FRAGMENT]
    data = uniforms or program.default_block_initial or bytes(16)
    result = interpret(nir, Environment(lanes=1, ubos={0: data}))
    slot = FragResult.COLOR if "gl_FragColor" in source else FragResult.DATA0
    values = [float(np.asarray(result.floats(slot, c))[0]) for c in range(4)]
    nir.unref()
    return values


def evaluate(expression: str, declarations: str = "", version: int = 450) -> list[float]:
    """Four components of a vec4 expression, computed at run time from a uniform that is 1."""
    source = f"""#version {version}
    uniform float one = 1.0;
    uniform int ione = 1;
    out vec4 color;
    {declarations}
    void main() {{ color = {expression}; }}
    """
    return run(source)
