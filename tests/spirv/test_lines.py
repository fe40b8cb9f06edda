"""Line information and names, through SPIR-V and back."""

from __future__ import annotations

from pathlib import Path

from gallette.compiler.glsl.alone import nir_of
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir
from tests.spirv.conversions import run_tool

SOURCE = """#version 450
layout(location = 0) in vec2 place;
layout(location = 0) out vec4 color;
void main() {
    float a = sin(place.x);
    if (a > 0.5) {
        a = a * a
          + place.y;
    }
    color = vec4(a,
                 cos(place.y), 0, 1);
}
"""


def lines(shader: Shader) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for instr in instrs_of(shader.entry):
        if isinstance(instr, Alu):
            found.setdefault(instr.op.name, set()).add(instr.loc)
    return found


def test_lines_survive(tmp_path: Path) -> None:
    shader = nir_of(Stage.FRAGMENT, SOURCE, "lines.frag")
    module = nir_to_spirv(shader, "lines.frag")
    data = module.to_bytes()
    (tmp_path / "m.spv").write_bytes(data)
    run_tool("spirv-val", "--target-env", "vulkan1.2", tmp_path / "m.spv")
    back = spirv_to_nir(read_module(data))
    before, after = lines(shader), lines(back)
    assert before["fsin"] == {5}
    assert before["flt"] == {6}
    for name in ("fsin", "fcos", "fmul", "fadd", "flt"):
        assert after[name] == before[name] != {0}, name
    assert {v.name for v in back.variables} >= {"place", "color"}
    assert back.entry_function.name == "main"


def test_without_lines_none_are_made_up() -> None:
    shader = nir_of(Stage.FRAGMENT, SOURCE, "lines.frag")
    for instr in instrs_of(shader.entry):
        instr.loc = 0
    names = {i.name for i in nir_to_spirv(shader).instructions}
    assert not names & {"OpLine", "OpString", "OpNoLine"}


def test_of_several_files_that_of_the_source_counts() -> None:
    text = """OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
%own = OpString "own.comp"
%other = OpString "other.glsl"
OpSource GLSL 450 %own
%void = OpTypeVoid
%type = OpTypeFunction %void
%float = OpTypeFloat 32
%pointer = OpTypePointer Private %float
%given = OpVariable %pointer Private
%main = OpFunction %void None %type
%start = OpLabel
%x = OpLoad %float %given
OpLine %own 3 1
%a = OpFAdd %float %x %x
OpLine %other 7 1
%b = OpFMul %float %a %a
OpNoLine
%c = OpFNegate %float %b
OpReturn
OpFunctionEnd
"""
    found = lines(spirv_to_nir(assemble(text)))
    assert found == {"fadd": {3}, "fmul": {0}, "fneg": {0}}
