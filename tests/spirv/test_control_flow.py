"""Control flow that is awkward to structure: ours and glslang's SPIR-V compute what GLSL says."""

from __future__ import annotations

from pathlib import Path

from conversions import glslang, run_tool

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import FRONT_END, to_driver_form
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir
from tests.cases import Case, each

FILE = Path(__file__).with_name("control_flow.txt")


def ours(text: str) -> Shader:
    compiled = compile_shader(Stage.FRAGMENT, [text], CompileOptions())
    assert compiled.ok, compiled.info_log
    linked = link_program([compiled], LinkOptions(separable=True, optimize=False))
    assert linked.ok, linked.info_log
    return linked.shaders[Stage.FRAGMENT]


def assert_alike(expected: Shader, got: Shader) -> None:
    to_driver_form(expected)
    to_driver_form(got)
    for seed in range(4):
        environment = Environment(seed=seed, lanes=32)
        difference = interpret(expected, environment).same_as(interpret(got, environment))
        assert difference == ""


@each(FILE)
def test_round_trip(case: Case) -> None:
    shader = ours(case.source)
    original = clone_shader(shader)
    run_passes(shader, FRONT_END, None)
    optimize(shader)
    module = nir_to_spirv(shader)
    data = module.to_bytes()
    assert_alike(original, spirv_to_nir(read_module(data)))
    run_tool("spirv-val", "--target-env", "vulkan1.2", "-", data=data)


@each(FILE)
def test_from_glslang(case: Case) -> None:
    module = glslang("-V", "frag", case.source)
    assert_alike(ours(case.source), spirv_to_nir(read_module(module)))
