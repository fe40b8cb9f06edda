"""Modules that cannot be: each rule is broken once; errors say what, and in which instruction."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from small_modules import module, read

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot, VertAttrib
from gallette.compiler.spirv.module import Instruction, Module, SpirvError, words_of
from gallette.compiler.spirv.read.translate import spirv_to_nir
from tests.cases import Case, each, sections

LOADS = """%t = OpLoad %tex %vt
%im = OpLoad %img %vi
%st = OpLoad %sampled %vs
%sm = OpLoad %smp %vsmp
"""


FILE = Path(__file__).with_name("refused.txt")
TYPES = f"{sections(FILE)['declared_before'].template}\n"


@each(FILE, "instructions")
def test_instructions_whose_operands_do_not_fit(case: Case) -> None:
    instruction, code = case.text, LOADS
    if "%texel_at" in instruction:
        code += "%texel_at = OpImageTexelPointer %texel %vi %u1x4 %n0\n"
    if "%index" in instruction:
        code += "%float = OpLoad %f32 %vp\n%index = OpConvertFToU %u32 %float\n"
    if "%pointers" in instruction:
        code += "%pointers = OpCompositeConstruct %pair %vp %vp\n"
    ends = ("OpBranch", "OpReturnValue")
    code += instruction + ("" if instruction.startswith(ends) else "\nOpReturn")
    names = instruction.split()
    name = names[2] if names[1] == "=" else names[0]
    with pytest.raises(SpirvError, match=case.answer) as caught:
        read(
            code,
            TYPES,
            first='%other = OpExtInstImport "Strange"',
            decorations="""OpDecorate %blk Block
            OpDecorate %vblocks Location 0
            OpDecorate %vblock Location 0""",
        )
    assert caught.value.instruction in (name, "")


@each(FILE, "declarations")
def test_declarations_that_cannot_be(case: Case) -> None:
    declared = case.text
    unfinished = declared if "OpFunction" in declared else ""
    last = declared.splitlines()[-1].split()
    name = next(word for word in last if word.startswith("Op"))
    decorations = "OpDecorate %block Block"
    for word, decoration in (("%at32", "Location 32"), ("%of_rays", "BuiltIn LaunchIdKHR")):
        if word in declared:
            decorations += f"\nOpDecorate {word} {decoration}"
    block = "%block = OpTypeStruct %f32x4\n"
    used = "OpReturn"
    if "OpVariable" in declared:  # what no function uses is not looked at
        used = f"%used = OpLoad %f32 {last[0]}\nOpReturn"
    with pytest.raises(SpirvError, match=case.answer) as caught:
        read(
            used,
            TYPES + block + ("" if unfinished else declared),
            decorations=decorations,
            behind=unfinished,
        )
    assert caught.value.instruction in (name, "OpLoad", "OpFunction", "")


@each(FILE, "modules")
def test_modules_that_cannot_be(case: Case) -> None:
    parts: dict[str, str] = {}
    for line in case.text.splitlines():
        word, colon, text = line.partition(": ")
        name = word if colon else "code"
        parts[name] = f"{parts.get(name, '')}{text if colon else line}\n"
    parts = {name: text.strip() for name, text in parts.items()}
    with pytest.raises(SpirvError, match=case.answer):
        read(parts.pop("code", "OpReturn"), TYPES, **parts)


def test_control_flow_nested_too_deeply_is_refused() -> None:
    levels = range(121)
    opened = "OpSelectionMerge %m{0} None\nOpBranchConditional %true %a{0} %m{0}\n%a{0} = OpLabel\n"
    code = "".join(opened.format(k) for k in levels) + "OpReturn\n"
    code += "".join(f"%m{k} = OpLabel\nOpReturn\n" for k in reversed(levels))
    with pytest.raises(SpirvError, match="control flow is nested too deeply"):
        read(code, TYPES)


def changed(name: str, words: tuple[int, ...] | int) -> Module:
    """The first instruction of a name has other operands, or that many of its own."""
    made = module(
        f"{LOADS}%x = OpExtInst %f32 %glsl FAbs %f1\nOpReturn",
        TYPES,
        decorations='OpName %vp "vp"',
        modes="OpExecutionMode %main LocalSize 2 1 1",
        model="GLCompute",
    )
    at, old = next((k, i) for k, i in enumerate(made.instructions) if i.name == name)
    new = old.words[:words] if isinstance(words, int) else words
    made.instructions[at] = Instruction(old.opcode, new, old.offset)
    return made


CUT = [
    # instruction, words that are left of it, what is said
    ("OpTypeInt", 2, "2 words of operands, expected at least 3"),
    ("OpName", 0, "0 words of operands, expected at least 2"),
    ("OpFunction", 3, "expected 4 words of operands"),
    ("OpLoad", 2, "2 words of operands, expected 3"),
    ("OpExtInst", 3, "3 words of operands, expected 4"),
    ("OpExecutionMode", 4, "a local size has three numbers"),
    ("OpEntryPoint", (5, 1, 0x6E69616D), "the name has no end"),
]


@pytest.mark.parametrize(("name", "words", "message"), CUT)
def test_instructions_that_are_cut_off(
    name: str, words: tuple[int, ...] | int, message: str
) -> None:
    with pytest.raises(SpirvError, match=message) as caught:
        spirv_to_nir(changed(name, words))
    assert caught.value.instruction in (name, "")


def test_an_entry_point_is_a_function() -> None:
    with pytest.raises(SpirvError, match="the entry point 'main' is no function"):
        spirv_to_nir(changed("OpEntryPoint", (5, 2, *words_of("main"))))


def test_constants_are_specialised_by_their_numbers() -> None:
    made = module("OpReturn", "%s = OpSpecConstant %u32 7", decorations="OpDecorate %s SpecId 3")
    spirv_to_nir(made, specialize={3: 1}).unref()
    with pytest.raises(SpirvError, match="no specialisation constant has number 4"):
        spirv_to_nir(made, specialize={3: 1, 4: 1, 5: 1})
    with pytest.raises(SpirvError, match="there is no fragment entry point main"):
        spirv_to_nir(made, stage=Stage.FRAGMENT, entry="main")


def test_a_constant_may_have_so_many_parts() -> None:
    parts = """%c = OpConstant %u32 65533
        %row = OpTypeArray %f32 %c
        %s = OpTypeStruct %row %f32
        %x = OpConstantNull %s"""
    read("OpReturn", TYPES + parts).unref()


def test_a_local_size_may_be_of_constants() -> None:
    shader = read(model="GLCompute", modes="OpExecutionModeId %main LocalSizeId %n5 %n3 %n2")
    assert shader.info.workgroup_size == (5, 3, 2)
    shader.unref()


def test_decorations_of_groups_are_those_of_each_member() -> None:
    shader = read(
        "%x = OpLoad %f32 %a\nOpStore %b %x\n%q = OpLoad %s %c\nOpReturn",
        """%in = OpTypePointer Input %f32
        %out = OpTypePointer Output %f32
        %s = OpTypeStruct %f32 %f32 %f32
        %buffer = OpTypePointer Uniform %s
        %a = OpVariable %in Input
        %b = OpVariable %out Output
        %c = OpVariable %buffer Uniform""",
        interface="%a %b",
        decorations="""OpDecorate %group Location 5
        OpDecorate %eight Offset 8
        OpDecorate %s Block
        OpMemberDecorate %s 0 Offset 0
        OpMemberDecorate %s 2 Offset 12
        %group = OpDecorationGroup
        %eight = OpDecorationGroup
        OpGroupDecorate %group %a %b
        OpGroupMemberDecorate %eight %s 1""",
    )
    a, b, c = shader.variables
    assert a.location == VertAttrib.GENERIC0 + 5
    assert b.location == VaryingSlot.VAR0 + 5
    assert [field.offset for field in c.type.fields] == [0, 8, 12]
    shader.unref()


def test_uniforms_of_the_default_block_have_initial_values() -> None:
    shader = read(
        "%p = OpAccessChain %one %v %n0\n%x = OpLoad %f32 %p\nOpReturn",
        """%s = OpTypeStruct %f32 %u32x2
        %one = OpTypePointer Uniform %f32
        %f5 = OpConstant %f32 5
        %two = OpConstantComposite %u32x2 %n3 %n4
        %data = OpConstantComposite %s %f5 %two
        %uniform = OpTypePointer Uniform %s
        %v = OpVariable %uniform Uniform %data
        %unused = OpTypeOpaque "event" """,
        decorations="""OpDecorateString %v UserSemantic "gallette.default_block"
        OpMemberName %s 0 "one"
        OpMemberName %s 1 "two"
        OpMemberDecorate %s 0 Offset 0
        OpMemberDecorate %s 1 Offset 8""",
    )
    found = {v.name: (v.offset, v.constant_initializer) for v in shader.variables}
    assert found == {"one": (0, (0x40A00000,)), "two": (8, (3, 4))}
    shader.unref()


def test_structures_in_structures_are_refused_however_deep_they_are() -> None:
    """However deep this process may call."""
    depth = 2000
    nested = [f"%t{k} = OpTypeStruct %{'f32' if k == 0 else f't{k - 1}'}" for k in range(depth)]
    made = module("OpReturn", "\n".join(nested) + f"\n%x = OpConstantNull %t{depth - 1}")
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    try:
        with pytest.raises(SpirvError, match="more than 256 levels of arrays and structures"):
            spirv_to_nir(made)
    finally:
        sys.setrecursionlimit(before)
