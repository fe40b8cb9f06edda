"""Modules linked to programs: initial values, places, what is captured, what cannot be."""

from __future__ import annotations

import numpy as np
import pytest
from small_modules import module

from gallette.compiler.link.limits import DEFAULT_LIMITS, Limits
from gallette.compiler.link.program import LinkedProgram, LinkOptions
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.spirv.link import SpirvShader, link_spirv
from gallette.compiler.spirv.module import Module

MODELS = {
    Stage.VERTEX: "Vertex",
    Stage.TESS_CTRL: "TessellationControl",
    Stage.FRAGMENT: "Fragment",
}


def linked(
    *modules: tuple[Stage, Module], separable: bool = True, limits: Limits = DEFAULT_LIMITS
) -> LinkedProgram:
    shaders = [SpirvShader(stage, made) for stage, made in modules]
    return link_spirv(shaders, LinkOptions(optimize=False, separable=separable, limits=limits))


def released(program: LinkedProgram) -> None:
    for shader in program.shaders.values():
        shader.unref()


VALUES = """%mat = OpTypeMatrix %f32x3 2
%rows = OpTypeArray %f32x2 %n3
%s = OpTypeStruct %f32 %mat %u32x2
%f1 = OpConstant %f32 1
%f2 = OpConstant %f32 2
%f3 = OpConstant %f32 3
%f4 = OpConstant %f32 4
%d5 = OpConstant %f64 5.5
%a12 = OpConstantComposite %f32x2 %f1 %f2
%a34 = OpConstantComposite %f32x2 %f3 %f4
%rows_ = OpConstantComposite %rows %a12 %a34 %a12
%c0 = OpConstantComposite %f32x3 %f1 %f2 %f3
%c1 = OpConstantComposite %f32x3 %f4 %f3 %f2
%m_ = OpConstantComposite %mat %c0 %c1
%u_ = OpConstantComposite %u32x2 %n7 %n9
%s_ = OpConstantComposite %s %f4 %m_ %u_
%p_rows = OpTypePointer UniformConstant %rows
%p_s = OpTypePointer UniformConstant %s
%p_d = OpTypePointer UniformConstant %f64
%array = OpVariable %p_rows UniformConstant %rows_
%struct = OpVariable %p_s UniformConstant %s_
%double = OpVariable %p_d UniformConstant %d5"""
NAMES = """OpName %array "array"
OpName %struct "struct"
OpName %double "double"
OpMemberName %s 0 "one"
OpMemberName %s 1 "matrix"
OpMemberName %s 2 "pair"
OpDecorate %array Location 2
OpDecorate %struct Location 5
OpDecorate %double Location 9"""


def test_uniforms_begin_with_their_values() -> None:
    """Arrays, structures, matrices and doubles, each where it lies in the block."""
    code = """%a = OpLoad %rows %array
        %b = OpLoad %s %struct
        %c = OpLoad %f64 %double
        OpReturn"""
    program = linked((Stage.VERTEX, module(code, VALUES, decorations=NAMES)))
    assert program.ok, program.info_log
    data = program.default_block_initial
    found = {u.name: u for u in program.uniforms}
    assert {name: u.location for name, u in found.items()} == {
        "array[0]": 2, "struct.one": 5, "struct.matrix": 6, "struct.pair": 7, "double": 9,
    }  # fmt: skip

    def floats(offset: int, count: int, kind: str = "f4") -> list[float]:
        return np.frombuffer(data, kind, count, offset).tolist()  # type: ignore[no-any-return]

    array, matrix = found["array[0]"], found["struct.matrix"]
    rows = [floats(array.offset + k * array.array_stride, 2) for k in range(3)]
    assert rows == [[1, 2], [3, 4], [1, 2]]
    columns = [floats(matrix.offset + k * matrix.matrix_stride, 3) for k in range(2)]
    assert columns == [[1, 2, 3], [4, 3, 2]]
    assert floats(found["struct.one"].offset, 1) == [4]
    assert floats(found["struct.pair"].offset, 2, "u4") == [7, 9]
    assert floats(found["double"].offset, 1, "f8") == [5.5]
    released(program)


SAMPLED = """%tex = OpTypeImage %f32 2D 0 0 0 1 Unknown
%sampled = OpTypeSampledImage %tex
%p_sampled = OpTypePointer UniformConstant %sampled
%p_float = OpTypePointer UniformConstant %f32
%v = OpVariable %p_sampled UniformConstant
%w = OpVariable %p_sampled UniformConstant
%u = OpVariable %p_float UniformConstant"""


def test_handles_without_a_location_take_free_ones() -> None:
    code = "%a = OpLoad %sampled %v\n%b = OpLoad %sampled %w\n%c = OpLoad %f32 %u\nOpReturn"
    made = module(
        code,
        SAMPLED,
        decorations="""OpName %v "v"
        OpName %w "w"
        OpName %u "u"
        OpDecorate %u Location 6
        OpDecorate %v Binding 3
        OpDecorate %w Binding 2""",
    )
    program = linked((Stage.VERTEX, made))
    assert program.ok, program.info_log
    found = [(u.name, u.location, u.binding) for u in program.uniforms]
    assert found == [("u", 6, -1), ("w", 0, 2), ("v", 1, 3)]
    released(program)


COUNTERS = """%many = OpTypeArray %u32 %n3
%p_one = OpTypePointer AtomicCounter %u32
%p_many = OpTypePointer AtomicCounter %many
%one = OpVariable %p_one AtomicCounter
%some = OpVariable %p_many AtomicCounter"""


def test_counters_of_several_stages_are_one() -> None:
    """Each is told once, with the stages it is used in; its buffer is as long as all need."""
    facts = """OpName %one "one"
        OpName %some "some"
        OpDecorate %one Binding 2
        OpDecorate %one Offset 0
        OpDecorate %some Binding 2
        OpDecorate %some Offset 8"""
    first = module("%a = OpAtomicLoad %u32 %one %n1 %n0\nOpReturn", COUNTERS, decorations=facts)
    second = module(
        """%a = OpAtomicLoad %u32 %one %n1 %n0
        %p = OpAccessChain %p_one %some %n1
        %b = OpAtomicLoad %u32 %p %n1 %n0
        OpReturn""",
        COUNTERS,
        model="Fragment",
        modes="OpExecutionMode %main OriginUpperLeft",
        decorations=facts,
    )
    program = linked((Stage.VERTEX, first), (Stage.FRAGMENT, second))
    assert program.ok, program.info_log
    found = [(u.name, u.offset, u.array_size, u.atomic_buffer) for u in program.uniforms]
    assert found == [("one", 0, 0, 2), ("some[0]", 8, 3, 2)]
    (buffer,) = program.atomic_buffers
    assert (buffer.binding, buffer.size, buffer.members) == (2, 20, (0, 1))
    assert buffer.stages == {Stage.VERTEX, Stage.FRAGMENT}
    assert [u.stages for u in program.uniforms] == [buffer.stages, {Stage.FRAGMENT}]
    released(program)
    plain = module(model="Fragment", modes="OpExecutionMode %main OriginUpperLeft")
    program = linked((Stage.VERTEX, first), (Stage.FRAGMENT, plain))
    assert [b.stages for b in program.atomic_buffers] == [{Stage.VERTEX}]
    released(program)


def test_distances_are_captured_from_both_slots() -> None:
    """Six of them: four in the first slot, two in the next."""
    made = module(
        "%d = OpLoad %six %clip\nOpStore %clip %d\nOpReturn",
        """%six = OpTypeArray %f32 %n6
        %p_six = OpTypePointer Output %six
        %clip = OpVariable %p_six Output""",
        interface="%clip",
        modes="OpExecutionMode %main Xfb",
        decorations="""OpDecorate %clip BuiltIn ClipDistance
        OpDecorate %clip XfbBuffer 0
        OpDecorate %clip XfbStride 40
        OpDecorate %clip Offset 8""",
    )
    program = linked((Stage.VERTEX, made))
    assert program.ok, program.info_log
    assert program.xfb is not None
    places = [(o.slot, o.component, o.num_components, o.offset) for o in program.xfb.outputs]
    first = VaryingSlot.CLIP_DIST0
    assert places == [(first + k // 4, k % 4, 1, 8 + 4 * k) for k in range(6)]
    assert program.xfb.strides == (40,)
    released(program)


def test_outputs_that_no_stage_reads_may_share_a_location() -> None:
    """Invalid, but piglit's modules do so, and Mesa captures both outputs."""
    places = "".join(
        f"OpDecorate %{name} Location 1\nOpDecorate %{name} XfbBuffer 0\n"
        f"OpDecorate %{name} XfbStride 16\nOpDecorate %{name} Offset {offset}\n"
        for name, offset in (("a", 0), ("b", 8))
    )
    made = module(
        USES["captured"], OUTPUTS, interface="%a %b", modes=MODES["captured"], decorations=places
    )
    program = linked((Stage.VERTEX, made))
    assert program.ok, program.info_log
    assert program.xfb is not None
    assert [o.offset for o in program.xfb.outputs] == [0, 8]
    released(program)


def test_what_cannot_be_linked_says_why() -> None:
    """The program has the message, and no shader is left."""
    control = module(
        "OpReturn",
        model="TessellationControl",
        modes="OpExecutionMode %main OutputVertices 3",
    )
    nowhere = module(
        "%a = OpLoad %f32 %u\nOpReturn",
        "%p_float = OpTypePointer UniformConstant %f32\n%u = OpVariable %p_float UniformConstant",
        decorations='OpName %u "u"',
    )
    compute = module(model="GLCompute", modes="OpExecutionMode %main LocalSize 1 1 1")
    for modules, separable, message in (
        ([(Stage.VERTEX, module()), (Stage.TESS_CTRL, control)], False,
         "a tessellation control shader needs a tessellation evaluation shader"),
        ([(Stage.VERTEX, nowhere)], True, "uniform u has no location"),
        ([(Stage.VERTEX, module()), (Stage.VERTEX, module())], True, "two vertex shaders"),
        ([(Stage.VERTEX, module()), (Stage.COMPUTE, compute)], True,
         "a compute shader cannot be linked with other stages"),
        ([(Stage.COMPUTE, compute), (Stage.VERTEX, module())], False,
         "a compute shader cannot be linked with other stages"),
        ([(Stage.TESS_CTRL, control)], False,
         "a tessellation control shader needs a vertex shader"),
    ):  # fmt: skip
        program = linked(*modules, separable=separable)
        assert not program.ok
        assert program.info_log.startswith("error: ")
        assert message in program.info_log


UNIFORMS = """%many = OpTypeArray %f32 %n3
%p_many = OpTypePointer UniformConstant %many
%p_one = OpTypePointer UniformConstant %f32
%a = OpVariable %p_many UniformConstant
%b = OpVariable %p_one UniformConstant"""
OUTPUTS = """%p_two = OpTypePointer Output %f32x2
%a = OpVariable %p_two Output
%b = OpVariable %p_two Output"""
INPUTS = OUTPUTS.replace("Output", "Input")
NAMED = 'OpName %a "a"\nOpName %b "b"\n'
USES = {
    "uniforms": """%x = OpLoad %f32 %b
    %p = OpAccessChain %p_one %a %n1
    %y = OpLoad %f32 %p
    OpReturn""",
    "attributes": "%x = OpLoad %f32x2 %a\n%y = OpLoad %f32x2 %b\nOpReturn",
    "colours": "%x = OpLoad %f32x2 %a\nOpStore %a %x\nOpStore %b %x\nOpReturn",
    "varyings": "%x = OpLoad %f32x2 %a\nOpStore %a %x\nOpStore %b %x\nOpReturn",
    "read": "%x = OpLoad %f32x2 %a\n%y = OpLoad %f32x2 %b\nOpReturn",
    "captured": "%x = OpLoad %f32x2 %a\nOpStore %a %x\nOpStore %b %x\nOpReturn",
}
MODES = {
    "captured": "OpExecutionMode %main Xfb",
    "read": "OpExecutionMode %main OriginUpperLeft",
    "colours": "OpExecutionMode %main OriginUpperLeft",
}
LINK_RULES = [
    (
        *("uniforms", Limits(), UNIFORMS, "OpDecorate %a Location 2\nOpDecorate %b Location 4"),
        "uniforms 'a' and 'b' share location 4",
    ),
    (
        *("uniforms", Limits(max_vertex_uniform_components=3), UNIFORMS),
        "OpDecorate %a Location 2\nOpDecorate %b Location 5",
        "the vertex shader uses 4 uniform components of 3",
    ),
    (
        *("uniforms", Limits(max_uniform_locations=5), UNIFORMS),
        "OpDecorate %a Location 2\nOpDecorate %b Location 5",
        "location 5 of uniform 'b' exceeds the limit",
    ),
    (
        *("captured", Limits(), OUTPUTS, "OpDecorate %a Offset 0\nOpDecorate %b Offset 4"),
        "'a' and 'b' overlap in the feedback buffer",
    ),
    (
        *("captured", Limits(), OUTPUTS, "OpDecorate %a Offset 0\nOpDecorate %b Offset 12"),
        "captured outputs exceed the stride of buffer 0",
    ),
    (
        *("attributes", Limits(max_vertex_attribs=3), INPUTS),
        *("OpDecorate %a Location 2\nOpDecorate %b Location 3", "attribute 'b' at location 3"),
    ),
    (
        *("read", Limits(), INPUTS, "OpDecorate %a Location 1\nOpDecorate %b Location 1"),
        "'a' and 'b' share location 1",
    ),
    (
        *("varyings", Limits(max_varying_vectors=4), OUTPUTS),
        *("OpDecorate %a Location 1\nOpDecorate %b Location 4", "location 4 of 'b' exceeds"),
    ),
    (
        *("read", Limits(), INPUTS),
        "OpDecorate %a Location 1\nOpDecorate %b Location 1\nOpDecorate %b Component 2\n"
        "OpDecorate %a Flat",
        "'a' and 'b' share a location with different interpolation",
    ),
    (
        *("colours", Limits(), OUTPUTS, "OpDecorate %a Location 1\nOpDecorate %b Location 1"),
        "outputs 'a' and 'b' share location 1",
    ),
]
"""rules of linking that GLSL has as well: kind, limits, variables, decorations, the error"""


@pytest.mark.parametrize(("kind", "limits", "variables", "decorations", "error"), LINK_RULES)
def test_modules_obey_the_rules_of_linking(
    kind: str, limits: Limits, variables: str, decorations: str, error: str
) -> None:
    stage, extra = Stage.FRAGMENT if kind in ("colours", "read") else Stage.VERTEX, ""
    if kind == "captured":
        for place, name in enumerate("ab"):
            extra += f"OpDecorate %{name} Location {place}\nOpDecorate %{name} XfbBuffer 0\n"
            extra += f"OpDecorate %{name} XfbStride 16\n"
    made = module(
        USES[kind],
        variables,
        interface="" if kind == "uniforms" else "%a %b",
        model=stage.name.capitalize(),
        modes=MODES.get(kind, ""),
        decorations=NAMED + extra + decorations,
    )
    program = linked((stage, made), limits=limits)
    assert not program.ok
    assert f"error: {error}" in program.info_log


def test_a_block_is_referenced_if_the_shader_selects_it() -> None:
    """Of an array of two blocks the shader reads one (REFERENCED_BY_VERTEX_SHADER)."""
    made = module(
        "%p = OpAccessChain %p_f %v %n1 %n0\n%x = OpLoad %f32 %p\nOpReturn",
        """%b = OpTypeStruct %f32
        %two = OpTypeArray %b %n2
        %p_two = OpTypePointer Uniform %two
        %p_f = OpTypePointer Uniform %f32
        %v = OpVariable %p_two Uniform""",
        decorations="""OpName %b "B"
        OpDecorate %b Block
        OpMemberDecorate %b 0 Offset 0
        OpDecorate %v Binding 1
        OpDecorate %v DescriptorSet 0""",
    )
    program = linked((Stage.VERTEX, made))
    assert program.ok, program.info_log
    found = [(b.name, b.binding, b.stages) for b in program.uniform_blocks]
    assert found == [("B[0]", 1, set()), ("B[1]", 2, {Stage.VERTEX})]
    released(program)


def test_what_is_alone_or_separable_needs_no_vertex_shader() -> None:
    compute = module(model="GLCompute", modes="OpExecutionMode %main LocalSize 1 1 1")
    fragment = module(model="Fragment", modes="OpExecutionMode %main OriginUpperLeft")
    for modules, separable in (
        ([(Stage.COMPUTE, compute)], False),
        ([(Stage.FRAGMENT, fragment)], True),
        ([(Stage.FRAGMENT, fragment)], False),
        ([(Stage.VERTEX, module()), (Stage.FRAGMENT, fragment)], False),
    ):
        program = linked(*modules, separable=separable)
        assert program.ok, program.info_log
        assert set(program.shaders) == {stage for stage, _ in modules}
        released(program)


@pytest.mark.parametrize("stage", [Stage.VERTEX, Stage.FRAGMENT])
def test_a_module_of_another_stage_is_refused(stage: Stage) -> None:
    other = Stage.FRAGMENT if stage is Stage.VERTEX else Stage.VERTEX
    modes = "OpExecutionMode %main OriginUpperLeft" if other is Stage.FRAGMENT else ""
    program = linked((stage, module(model=MODELS[other], modes=modes)))
    assert not program.ok and f"there is no {stage.value} entry point" in program.info_log
