"""The lesson: GLSL to NIR to SPIR-V, and back."""

from __future__ import annotations

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import FRONT_END
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import Module, read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir
from gallette.scenes.common import shaders

GLSL = shaders(__file__)
SOURCE = GLSL["fragment"]


def front_form(source: str, stage: Stage = Stage.FRAGMENT) -> Shader:
    """A shader in SSA form whose interface is still variables, as SPIR-V requires."""
    compiled = compile_shader(stage, [source], CompileOptions(), ["lesson.frag"])
    assert compiled.ok, compiled.info_log
    linked = link_program([compiled], LinkOptions(separable=True, optimize=False))
    assert linked.ok, linked.info_log
    shader = linked.shaders[stage]
    run_passes(shader, FRONT_END)
    optimize(shader)
    return shader


def round_trip(shader: Shader) -> tuple[Module, Shader]:
    """The module, and the shader read back from it, brought into the same form."""
    module = read_module(nir_to_spirv(shader, "lesson.frag").to_bytes())
    back = spirv_to_nir(module)
    run_passes(back, FRONT_END)
    optimize(back)
    return module, back


def census(module: Module) -> dict[str, int]:
    """The numbers of instructions by purpose."""
    groups = {"names": 0, "types": 0, "facts": 0, "lines": 0, "code": 0}
    inside = False
    for i in module.instructions:
        inside = inside or i.name == "OpFunction"
        if i.name in ("OpName", "OpMemberName"):
            groups["names"] += 1
        elif i.name in ("OpLine", "OpNoLine", "OpString"):
            groups["lines"] += 1
        elif inside:
            groups["code"] += 1
        elif i.name.startswith(("OpType", "OpConstant", "OpVariable")):
            groups["types"] += 1
        else:
            groups["facts"] += 1
    return groups
