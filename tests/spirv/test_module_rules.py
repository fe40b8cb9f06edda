"""Single rules of modules: initial values, code without merge instructions, decorations, scans."""

from __future__ import annotations

import numpy as np
import pytest
from conversions import run_tool, undeclared

from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.cf import If, Loop, walk
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import LOWER_IO
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import SpirvError, read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

HEAD = """OpCapability Shader
OpCapability Geometry
OpMemoryModel Logical GLSL450
OpEntryPoint {model} %main "main" {interface}
{modes}
{decorations}
%void = OpTypeVoid
%fn = OpTypeFunction %void
%float = OpTypeFloat 32
%uint = OpTypeInt 32 0
%bool = OpTypeBool
%vec4 = OpTypeVector %float 4
%float_1 = OpConstant %float 1
%float_2 = OpConstant %float 2
%uint_0 = OpConstant %uint 0
%uint_3 = OpConstant %uint 3
%true = OpConstantTrue %bool
%ones = OpConstantComposite %vec4 %float_1 %float_1 %float_1 %float_1
%mixed = OpConstantComposite %vec4 %float_2 %float_1 %float_1 %float_2
"""
BODY = """
%main = OpFunction %void None %fn
%start = OpLabel
{code}
OpFunctionEnd
"""


def module(
    globals: str,
    code: str = "OpReturn",
    *,
    model: str = "Vertex",
    interface: str = "",
    modes: str = "",
    decorations: str = "",
) -> Shader:
    text = HEAD.format(model=model, interface=interface, modes=modes, decorations=decorations)
    made = assemble(text + globals + BODY.format(code=code))
    return spirv_to_nir(read_module(made.to_bytes()))


def initial(shader: Shader) -> dict[str, object]:
    return {v.name: v.constant_initializer for v in shader.variables}


ONE, TWO = (0x3F800000,), (0x40000000,)


def test_a_block_of_outputs_has_initial_values() -> None:
    shader = module(
        """%Block = OpTypeStruct %vec4 %float
        %data = OpConstantComposite %Block %mixed %float_2
        %ptr = OpTypePointer Output %Block
        %o = OpVariable %ptr Output %data""",
        "%p = OpLoad %Block %o\nOpStore %o %p\nOpReturn",
        interface="%o",
        decorations="""OpDecorate %Block Block
        OpMemberDecorate %Block 0 BuiltIn Position
        OpMemberDecorate %Block 1 Location 1
        OpName %o "o"
        OpMemberName %Block 0 "p"
        OpMemberName %Block 1 "f" """,
    )
    found = initial(shader)
    assert found == {"o.p": (TWO + ONE + ONE + TWO), "o.f": TWO}
    shader.unref()


def test_an_array_of_blocks_has_initial_values() -> None:
    shader = module(
        """%Block = OpTypeStruct %float
        %Blocks = OpTypeArray %Block %uint_3
        %one = OpConstantComposite %Block %float_1
        %two = OpConstantComposite %Block %float_2
        %data = OpConstantComposite %Blocks %one %two %one
        %ptr = OpTypePointer Output %Blocks
        %o = OpVariable %ptr Output %data""",
        "%p = OpLoad %Blocks %o\nOpStore %o %p\nOpReturn",
        interface="%o",
        decorations="OpDecorate %Block Block\nOpDecorate %o Location 0",
    )
    assert [v.constant_initializer for v in shader.variables] == [ONE, TWO, ONE]
    shader.unref()


@pytest.mark.parametrize(
    ("storage", "value", "message"),
    [
        ("Workgroup", "%float_1", "workgroup memory can only begin as zeros"),
        ("Input", "%float_1", "this storage class has no initial value"),
        ("Private", "%uint_3", "the initial value is of another type"),
        ("Private", "%void", "%.* is no constant"),
    ],
)
def test_initial_values_that_cannot_be(storage: str, value: str, message: str) -> None:
    with pytest.raises(SpirvError, match=message):
        module(
            f"%ptr = OpTypePointer {storage} %float\n%v = OpVariable %ptr {storage} {value}",
            "%x = OpLoad %float %v\nOpReturn",
            decorations="OpDecorate %v Location 0",
        )


def test_workgroup_memory_begins_as_zeros() -> None:
    shader = module(
        """%null = OpConstantNull %float
        %ptr = OpTypePointer Workgroup %float
        %v = OpVariable %ptr Workgroup %null""",
        "%x = OpLoad %float %v\nOpReturn",
        model="GLCompute",
        modes="OpExecutionMode %main LocalSize 1 1 1",
    )
    assert [v.mode for v in shader.variables] == [Mode.SHARED]
    shader.unref()


def test_code_without_merge_instructions_is_emitted_once() -> None:
    """Both arms of a branch, then what follows them; a loop that nothing declares."""
    shader = module(
        "",
        "\n".join(
            f"OpBranchConditional %true %a{i} %b{i}\n%a{i} = OpLabel\nOpBranch %c{i}\n"
            f"%b{i} = OpLabel\nOpBranch %c{i}\n%c{i} = OpLabel"
            for i in range(60)
        )
        + "\nOpBranch %d\n%d = OpLabel\nOpBranch %e\n%e = OpLabel\nOpBranch %d",
    )
    nodes = [type(node) for node in walk(shader.entry.body)]
    assert (nodes.count(If), nodes.count(Loop)) == (60, 1)
    shader.unref()


def test_decorations_come_first() -> None:
    text = HEAD.format(model="Vertex", interface="", modes="", decorations="")
    late = "OpDecorate %main NoContraction\n"
    with pytest.raises(SpirvError, match="OpDecorate: this belongs in front of all functions"):
        spirv_to_nir(assemble(text + BODY.format(code="OpReturn") + late))


@pytest.mark.parametrize(
    ("op", "scan", "wanted"),
    [
        ("IAdd", "Reduce", 7),
        ("IAdd", "InclusiveScan", 7),
        ("IAdd", "ExclusiveScan", 0),
        ("IMul", "ExclusiveScan", 1),
        ("SMin", "ExclusiveScan", 0x7FFFFFFF),
        ("UMax", "ExclusiveScan", 0),
        ("BitwiseAnd", "ExclusiveScan", 0xFFFFFFFF),
        ("BitwiseXor", "ClusteredReduce %uint_1", 7),
    ],
)
def test_scans_of_a_subgroup(op: str, scan: str, wanted: int) -> None:
    kind, _, cluster = scan.partition(" ")
    shader = module(
        """%ptr = OpTypePointer Output %uint
        %uint_1 = OpConstant %uint 1
        %uint_7 = OpConstant %uint 7
        %o = OpVariable %ptr Output""",
        f"""%x = OpGroupNonUniform{op} %uint %uint_3 {kind} %uint_7 {cluster}
        OpStore %o %x
        OpReturn""",
        interface="%o",
        decorations="OpDecorate %o Location 0\nOpDecorate %o Flat",
    )
    run_passes(shader, ["lower_vars_to_ssa"])
    again = spirv_to_nir(read_module(nir_to_spirv(shader).to_bytes()))
    shader.unref()
    assert [i["scan"] for i in intrinsics_of(again.entry, "reduce")] == [
        {"InclusiveScan": "inclusive", "ExclusiveScan": "exclusive"}.get(kind, "reduce")
    ]
    run_passes(again, ["lower_subgroups", "lower_io"])
    outputs = interpret(again, Environment(1)).outputs
    assert np.asarray(next(iter(outputs.values()))).view(np.uint32).ravel()[0] == wanted
    again.unref()


_SUBGROUP = {
    "Elect": "%bool",
    "All": "%bool %true",
    "Any": "%bool %true",
    "AllEqual": "%bool %uint_7",
    "Ballot": "%uvec4 %true",
    "BroadcastFirst": "%uint %uint_7",
    "Shuffle": "%uint %uint_7 %uint_0",
    "IAdd": "%uint Reduce %uint_7",
    "UMax": "%uint ClusteredReduce %uint_7 %uint_3",
}


@pytest.mark.parametrize("op", _SUBGROUP)
def test_operations_of_a_subgroup_declare_what_they_need(op: str) -> None:
    type, *operands = _SUBGROUP[op].split()
    part = {
        "%bool": "OpSelect %uint %x %uint_7 %uint_3",
        "%uvec4": "OpCompositeExtract %uint %x 0",
    }.get(type, "OpCopyObject %uint %x")
    shader = module(
        """%ptr = OpTypePointer Output %uint
        %uvec4 = OpTypeVector %uint 4
        %uint_7 = OpConstant %uint 7
        %o = OpVariable %ptr Output""",
        f"""%x = OpGroupNonUniform{op} {type} %uint_3 {" ".join(operands)}
        %y = {part}
        OpStore %o %y
        OpReturn""",
        interface="%o",
        decorations="OpDecorate %o Location 0\nOpDecorate %o Flat",
    )
    run_passes(shader, ["lower_vars_to_ssa"])
    made = nir_to_spirv(shader)
    shader.unref()
    assert f"OpGroupNonUniform{op}" in {instr.name for instr in made.instructions}
    assert undeclared(made) == set()


def test_fragments_that_alternate() -> None:
    shader = module(
        """%ptr = OpTypePointer Output %float
        %o = OpVariable %ptr Output""",
        """OpBeginInvocationInterlockEXT
        OpStore %o %float_1
        OpEndInvocationInterlockEXT
        OpReturn""",
        model="Fragment",
        interface="%o",
        modes="""OpExecutionMode %main OriginUpperLeft
        OpExecutionMode %main SampleInterlockOrderedEXT""",
        decorations="OpDecorate %o Location 0",
    )
    assert shader.info.interlocks
    run_passes(shader, ["lower_vars_to_ssa"])
    written = nir_to_spirv(shader)
    shader.unref()
    run_tool("spirv-val", "--target-env", "vulkan1.2", "-", data=written.to_bytes())
    again = spirv_to_nir(written)
    assert again.info.interlocks
    again.unref()


@pytest.mark.parametrize("place", [0, 1, 2, 3])
@pytest.mark.parametrize("known", [True, False], ids=["constant", "variable"])
def test_channels_are_taken_and_replaced_by_number(place: int, known: bool) -> None:
    index = "%at" if known else "%from_memory"
    shader = module(
        f"""%ptr = OpTypePointer Output %vec4
        %own = OpTypePointer Function %uint
        %at = OpConstant %uint {place}
        %float_5 = OpConstant %float 5
        %float_6 = OpConstant %float 6
        %float_7 = OpConstant %float 7
        %different = OpConstantComposite %vec4 %float_1 %float_2 %float_5 %float_6
        %o = OpVariable %ptr Output
        %p = OpVariable %ptr Output
        %q = OpVariable %ptr Output""",
        f"""%memory = OpVariable %own Function
        OpStore %memory %at
        %from_memory = OpLoad %uint %memory
        %copy = OpCopyObject %vec4 %different
        %new = OpVectorInsertDynamic %vec4 %copy %float_7 {index}
        %one = OpVectorExtractDynamic %float %copy {index}
        %all = OpCompositeConstruct %vec4 %one %one %one %one
        OpStore %o %new
        OpStore %p %all
        OpStore %q %copy
        OpReturn""",
        interface="%o %p %q",
        decorations="\n".join(f"OpDecorate %{v} Location {k}" for k, v in enumerate("opq")),
    )
    run_passes(shader, ["lower_vars_to_ssa", *LOWER_IO])
    found = interpret(shader, Environment(1)).outputs
    values = [np.asarray(found[k]).view(np.float32).ravel().tolist() for k in sorted(found)]
    before = [1.0, 2.0, 5.0, 6.0]
    after = [7.0 if k == place else value for k, value in enumerate(before)]
    assert [x for part in values for x in part] == [*after, *[before[place]] * 4, *before]
    shader.unref()


# Slot (of a tessellation stage, or none), type of the elements, and what they are.
ARRAYS: dict[str, tuple[int, str, list[int]]] = {
    "TessLevelInner": (VaryingSlot.TESS_LEVEL_INNER, "float", [3, 5]),
    "TessLevelOuter": (VaryingSlot.TESS_LEVEL_OUTER, "float", [3, 5, 7, 2]),
    "SampleMask": (-1, "uint", [9]),
}


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("kind", ["int", "uint", "lane"])
def test_an_element_of_a_built_in_array(name: str, kind: str) -> None:
    """By a constant of either type, or by a number of each lane."""
    slot, element, numbers = ARRAYS[name]
    count, levels = len(numbers), slot >= 0
    for index in range(count):
        shader = module(
            f"""%int = OpTypeInt 32 1
            %count = OpConstant %uint {count}
            %array = OpTypeArray %{element} %count
            %arrays = OpTypePointer Input %array
            %part = OpTypePointer Input %{element}
            %number = OpTypePointer Input %uint
            %result = OpTypePointer Output %{element}
            %known = OpConstant %{"uint" if kind == "lane" else kind} {index}
            %values = OpVariable %arrays Input
            %lane = OpVariable %number Input
            %o = OpVariable %result Output""",
            f"""%mine = OpLoad %uint %lane
            %p = OpAccessChain %part %values {"%mine" if kind == "lane" else "%known"}
            %one = OpLoad %{element} %p
            OpStore %o %one
            OpReturn""",
            model="TessellationEvaluation" if levels else "Fragment",
            interface="%values %lane %o",
            modes=f"OpExecutionMode %main {'Quads' if levels else 'OriginUpperLeft'}",
            decorations=f"""OpDecorate %values BuiltIn {name}
            OpDecorate %values {"Patch" if levels else "Flat"}
            OpDecorate %lane BuiltIn PrimitiveId
            OpDecorate %lane Flat
            OpDecorate %o Location 0""",
        )
        run_passes(shader, ["lower_vars_to_ssa", *LOWER_IO])
        kept = np.array(numbers, np.float32 if levels else np.uint32).view(np.uint32)
        inputs = {(slot, k): kept[k : k + 1] for k in range(count)}
        inputs[VaryingSlot.PRIMITIVE_ID, 0] = np.array([index], np.uint32)
        system = {"sample_mask_in": numbers, "primitive_id": [index]}
        found = interpret(shader, Environment(1, inputs=inputs, system_values=system)).outputs
        shader.unref()
        (got,) = (int(np.asarray(row).view(np.uint32)[0]) for row in found.values())
        assert got == kept[index]


def test_a_pointer_is_used_after_a_branch_with_one_continuing_side() -> None:
    """Its indices: a member, a number the branch computes, one from before it, a constant."""
    shader = module(
        """%uint_1 = OpConstant %uint 1
        %uint_2 = OpConstant %uint 2
        %float_3 = OpConstant %float 3
        %row = OpTypeArray %float %uint_3
        %rows = OpTypeArray %row %uint_2
        %both = OpTypeStruct %float %rows
        %low = OpConstantComposite %row %float_1 %float_2 %float_3
        %high = OpConstantComposite %row %float_3 %float_1 %float_2
        %data = OpConstantComposite %rows %low %high
        %all = OpConstantComposite %both %float_1 %data
        %whole = OpTypePointer Private %both
        %part = OpTypePointer Private %float
        %number = OpTypePointer Input %uint
        %result = OpTypePointer Output %float
        %values = OpVariable %whole Private %all
        %lane = OpVariable %number Input
        %o = OpVariable %result Output""",
        """%mine = OpLoad %uint %lane
        %gone = OpIEqual %bool %mine %uint_3
        OpSelectionMerge %behind None
        OpBranchConditional %gone %discarded %other
        %discarded = OpLabel
        OpKill
        %other = OpLabel
        %odd = OpBitwiseAnd %uint %mine %uint_1
        %p = OpAccessChain %part %values %uint_1 %odd %mine
        %q = OpAccessChain %part %values %uint_1 %odd %uint_2
        OpBranch %behind
        %behind = OpLabel
        %one = OpLoad %float %p
        %two = OpLoad %float %q
        %sum = OpFAdd %float %one %two
        OpStore %o %sum
        OpReturn""",
        model="Fragment",
        interface="%lane %o",
        modes="OpExecutionMode %main OriginUpperLeft",
        decorations="""OpDecorate %lane Location 0
        OpDecorate %lane Flat
        OpDecorate %o Location 0""",
    )
    run_passes(shader, ["lower_vars_to_ssa", *LOWER_IO])
    lanes = np.array([0, 1, 2], np.uint32)
    environment = Environment(3, inputs={(VaryingSlot.VAR0, 0): lanes})
    (found,) = interpret(shader, environment).outputs.values()
    shader.unref()
    assert np.asarray(found).view(np.float32).tolist() == [1 + 3, 1 + 2, 3 + 3]
