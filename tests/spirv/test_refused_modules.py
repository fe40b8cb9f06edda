"""Modules that cannot be: each rule is broken once; errors say what, and in which instruction."""

from __future__ import annotations

import sys

import pytest
from small_modules import module, read

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot, VertAttrib
from gallette.compiler.spirv.module import Instruction, Module, SpirvError, words_of
from gallette.compiler.spirv.read.translate import spirv_to_nir

TYPES = """%mat = OpTypeMatrix %f32x2 3
%pair = OpTypeStruct %f32 %u32
%array = OpTypeArray %f32 %n2
%local = OpTypePointer Function %f32
%local_pair = OpTypePointer Function %pair
%local_array = OpTypePointer Function %array
%tex = OpTypeImage %f32 2D 0 0 0 1 Unknown
%tex_ms = OpTypeImage %f32 2D 0 0 1 1 Unknown
%img = OpTypeImage %u32 2D 0 0 0 2 R32ui
%sampled = OpTypeSampledImage %tex
%smp = OpTypeSampler
%p_tex = OpTypePointer UniformConstant %tex
%p_img = OpTypePointer UniformConstant %img
%p_sampled = OpTypePointer UniformConstant %sampled
%p_smp = OpTypePointer UniformConstant %smp
%texel = OpTypePointer Image %u32
%private = OpTypePointer Private %f32
%private_pair = OpTypePointer Private %pair
%private_array = OpTypePointer Private %array
%f1 = OpConstant %f32 1
%f2 = OpConstant %f32 2
%true = OpConstantTrue %bool
%f1x2 = OpConstantComposite %f32x2 %f1 %f2
%f1x4 = OpConstantComposite %f32x4 %f1 %f2 %f2 %f2
%u1x4 = OpConstantComposite %u32x4 %n1 %n2 %n2 %n2
%i1 = OpConstant %i32 1
%c64 = OpConstant %u64 5
%c64x3 = OpConstantComposite %u64x3 %c64 %c64 %c64
%u32x3_ = OpConstantComposite %u32x3 %n1 %n1 %n1
%cs = OpConstantNull %pair
%ca = OpConstantNull %array
%cm = OpConstantNull %mat
%vt = OpVariable %p_tex UniformConstant
%vi = OpVariable %p_img UniformConstant
%vs = OpVariable %p_sampled UniformConstant
%vsmp = OpVariable %p_smp UniformConstant
%vp = OpVariable %private Private
%vpair = OpVariable %private_pair Private
%varray = OpVariable %private_array Private
%c20000 = OpConstant %u32 20000
%huge = OpTypeArray %f32 %c20000
%private_huge = OpTypePointer Private %huge
%vhuge = OpVariable %private_huge Private
%blk = OpTypeStruct %f32x4 %f32
%blks = OpTypeArray %blk %n2
%out_blk = OpTypePointer Output %blk
%out_blks = OpTypePointer Output %blks
%vblock = OpVariable %out_blk Output
%vblocks = OpVariable %out_blks Output
"""
LOADS = """%t = OpLoad %tex %vt
%im = OpLoad %img %vi
%st = OpLoad %sampled %vs
%sm = OpLoad %smp %vsmp
"""
INSTRUCTIONS = [
    # one instruction of a function, what is wrong
    ("%x = OpBitFieldUExtract %u64 %c64 %n1 %n2", "bit fields are supported in 32-bit integers"),
    ("%x = OpBitcast %u32 %true", "a bit cast from 1 to 32 bits"),
    ("%x = OpBitcast %u16x8 %c64x3", "a bit cast to 12 components"),
    ("%x = OpMatrixTimesVector %f32x2 %cm %f1x2", "a matrix and a vector that do not match"),
    ("%x = OpCompositeConstruct %f32x2", "expected scalars and vectors"),
    ("%x = OpCompositeConstruct %f32x2 %cs %f1", "expected scalars and vectors"),
    ("%x = OpCompositeConstruct %f32x3 %f1 %f1", "2 components for 3"),
    ("%x = OpCompositeConstruct %pair %f1", "1 parts for 2"),
    ("%x = OpCompositeConstruct %array %f1 %f1 %f1", "3 parts for 2"),
    ("%x = OpCompositeExtract %f32 %cs 2", "part 2 of 2"),
    ("%x = OpCompositeExtract %f32 %f1x2 2", "there is no component 2"),
    ("%x = OpCompositeInsert %pair %f1 %cs 2", "part 2 of 2"),
    ("%x = OpCompositeInsert %f32x2 %f1 %f1x2 2", "there is no component 2"),
    ("%x = OpCompositeInsert %f32x2 %f1 %f1x2 0 0", "there is no component 0"),
    ("%x = OpVectorShuffle %f32x3 %f1x2 %f1x2 0 1", "2 components for 3"),
    ("%x = OpVectorShuffle %f32x2 %f1x2 %f1x2 0 4", "there is no such component"),
    ("%x = OpTranspose %mat %f1", "%.* is no matrix"),
    ("%x = OpLoad %f32 %f1", "%.* is no pointer"),
    ("%x = OpVectorExtractDynamic %f32 %f1x2 %true", "index %.* is no integer"),
    ("%x = OpFAdd %f32 %f1 %cs", "%.* is no scalar or vector"),
    ("%x = OpUndef %tex", "an undefined image"),
    ("%x = OpUndef %void", "an undefined void"),
    ("%x = OpFAdd %f32x2 %f1 %f2", "the result is no vec2"),
    ("%x = OpFAdd %f64 %f1 %f2", "the result is no double"),
    ("%x = OpCopyObject %pair %f1", "the result is no"),
    ("%x = OpVariable %f32 Function", "the type of a variable is a pointer type"),
    ("%x = OpFunctionCall %void %f1", "%.* is no function"),
    ("%x = OpFunctionCall %void %main %f1", "1 arguments for 0 parameters"),
    ("%x = OpExtInst %f32 %glsl !200 %f1", "GLSL.std.450 has no instruction 200"),
    ("%x = OpExtInst %f32 %glsl !10 %f1 %f1", "takes 1 operands, not 2"),
    ("%x = OpExtInst %f32 %opencl !250 %f1", "OpenCL.std has no instruction 250"),
    ("%x = OpExtInst %f32 %opencl erf %f1", "OpenCL.std's erf is not supported"),
    ("%x = OpExtInst %f32 %other !1 %f1", r"the extended instructions Strange are not supported"),
    ("%x = OpExtInst %f32 %f1 !1 %f1", r"the extended instructions \(none\) are not supported"),
    ("%x = OpExtInst %f32 %glsl Distance %vp %vp", "expected numbers"),
    ("%x = OpExtInst %f32 %glsl InterpolateAtCentroid %texel_at", "expected a pointer to a var"),
    ("%x = OpExtInst %u64 %opencl s_mad_sat %c64 %c64 %c64", "mad_sat of 64 bits"),
    ("%x = OpExtInst %u32 %opencl printf %vp %n1", "only kernels print"),
    ("%x = OpAccessChain %private %vp %n1", "a float has no elements"),
    ("%x = OpAccessChain %private %vpair %n2", "member 2 of a struct"),
    ("%x = OpAccessChain %private %vpair %index", r"member \? of a struct"),
    ("%x = OpAccessChain %private %texel_at %n1", "this pointer leads to nothing that has memb"),
    ("%x = OpLoad %u32 %texel_at", "this pointer cannot be read through"),
    ("OpStore %texel_at %n1", "this pointer cannot be written through"),
    ("OpStore %vp %f1x2", "expected a value of type float"),
    ("OpStore %vp %cs", "expected a value of type float"),
    ("OpStore %vp %c64", "expected 32 bits, not 64"),
    ("OpStore %vpair %f1", "expected a value of type"),
    ("OpStore %varray %cm", "expected a value of type"),
    ("OpStore %vp %vp", "pointers cannot be stored in logical addressing"),
    ("%x = OpSelect %private %true %vp %vp", "pointers cannot be chosen in logical addressing"),
    ("%x = OpBitcast %private %vp", "pointers cannot be cast in logical addressing"),
    ("%x = OpSelect %pair %true %cs %pointers", "this cannot be chosen at run time"),
    ("OpReturnValue %f1", "the function returns nothing"),
    ("OpControlBarrier %n6 %n2 %n0", "scope ShaderCallKHR is not supported"),
    ("%x = OpImageRead %u32x4 %f1 %u1x4", "%.* is no image"),
    ("%x = OpImageRead %u32x4 %t %u1x4", "expected an image that can be read and written"),
    ("%x = OpImageFetch %f32x4 %sm %u1x4", "a sampler alone has no texels"),
    ("%x = OpImageFetch %f32x4 %t %n1", "1 coordinates, expected 2"),
    ("%x = OpImageFetch %f32x4 %t %u1x4 !1073741824", "0x40000000 is no set of image operands"),
    ("%x = OpImageFetch %f32x4 %t %u1x4 !2", "image operand Lod is cut off"),
    ("%x = OpImageSampleImplicitLod %f32x4 %t %f1x4", "this lookup needs a sampler"),
    ("%x = OpImageSampleProjImplicitLod %f32x4 %st %f1x2", "a projective lookup needs one more"),
    ("%x = OpImageSampleExplicitLod %f32x4 %st %f1x2 ConstOffset %u1x4", "needs Lod or Grad"),
    ("%x = OpImageTexelPointer %texel %vp %u1x4 %n0", "%.* points to no image"),
    ("%x = OpFunctionParameter %f32", "this instruction is not supported"),
    ("%x = OpOuterProduct %mat %f1x2 %cs", "no scalar or vector"),
    ("%x = OpBitcast %u64x2 %u32x3_", "operands that do not fit"),
    ("%x = OpFAdd %smp %f1 %f2", "%.* is not the type of the result"),
    ("%x = OpLoad %huge %vhuge", "is too large to be held at once"),
    ("OpStore %vblock %f1", "expected a whole block"),
    ("OpStore %vblocks %f1", "expected a whole array of blocks"),
    ("%x = OpAccessChain %private %vblocks %n2", "an array of 2 blocks has no element 2"),
    ("%x = OpGroupNonUniformIAdd %u32 %n1 Reduce %n1", "scope Device is not supported"),
    ("%x = OpGroupNonUniformIAdd %u32 %n3 PartitionedReduceNV %n1 %u1x4", "expected a reduction"),
    ("OpBranch %nowhere", "a branch to %.*, which is no block of the function"),
    ("OpBranchConditional %n1 %start %start", "the condition is no boolean"),
]


@pytest.mark.parametrize(("instruction", "message"), INSTRUCTIONS)
def test_instructions_whose_operands_do_not_fit(instruction: str, message: str) -> None:
    code = LOADS
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
    with pytest.raises(SpirvError, match=message) as caught:
        read(
            code,
            TYPES,
            first='%other = OpExtInstImport "Strange"',
            decorations="""OpDecorate %blk Block
            OpDecorate %vblocks Location 0
            OpDecorate %vblock Location 0""",
        )
    assert caught.value.instruction in (name, "")


DECLARED = [
    # instructions outside functions, what is wrong
    ("%x = OpTypeInt 12 0", "no integers of 12 bits with signedness 0"),
    ("%x = OpTypeInt 32 2", "no integers of 32 bits with signedness 2"),
    ("%x = OpTypeFloat 24", "no floats of 24 bits"),
    ("%x = OpTypeVector %f32 5", "expected a scalar type and 2, 3, 4, 8 or 16 components"),
    ("%x = OpTypeVector %pair 2", "expected a scalar type and 2, 3, 4, 8 or 16 components"),
    ("%x = OpTypeMatrix %u32x2 2", "expected a vector of floats and 2 to 4 columns"),
    ("%x = OpTypeMatrix %f32x2 8", "expected a vector of floats and 2 to 4 columns"),
    ("%x = OpTypeArray %f32 %n0", "an array of 0 elements"),
    ("%x = OpTypeArray %void %n2", "an array of void"),
    ("%x = OpTypeArray %f32 %f1x2", "%.* is no number"),
    ("%x = OpTypeArray %f32 %pair", "%.* is no constant"),
    ("%x = OpTypeStruct %n1", "%.* is no type"),
    ("%x = OpTypePointer Private %n1", "%.* is no type"),
    ("%x = OpTypeImage %f32 SubpassData 0 0 0 2 Unknown", "dimension SubpassData are not"),
    ("%x = OpTypeSampledImage %smp", "%.* is no image type"),
    ("%x = OpConstant %bool 1", "%.* is no type of numbers"),
    ("%x = OpConstant %u64 !1", "the literal is cut off"),
    ("%x = OpConstantComposite %f32x2 %f1", "1 parts for 2"),
    ("%x = OpConstantComposite %pair %f1 %n1 %n1", "3 parts for 2"),
    ("%x = OpConstantComposite %f32x2 %f1 %vp", "%.* is no constant"),
    ("%big = OpConstant %u32 70000\n%bigs = OpTypeArray %f32 %big\n%x = OpConstantNull %bigs",
     "the constant is too large"),
    ("%many = OpConstant %u32 300\n%row = OpTypeArray %f32 %many\n"
     "%rows = OpTypeArray %row %many\n%x = OpConstantNull %rows", "the constant is too large"),
    ("%c = OpConstant %u32 65534\n%row = OpTypeArray %f32 %c\n"
     "%s = OpTypeStruct %row %f32 %f32\n%x = OpConstantNull %s", "the constant is too large"),
    ("%x = OpSpecConstantOp %u32 Label", "OpLabel is no operation on constants"),
    ("%x = OpSpecConstantOp %private AccessChain %vp", "the operation makes no constant|is used"),
    ("OpStore %vp %f1", "this does not belong outside a function"),
    ("%x = OpVariable %f32 Private", "the type of a variable is a pointer type"),
    ("%p = OpTypePointer Generic %f32\n%x = OpVariable %p Generic", "storage class Generic"),
    ("%p = OpTypePointer PushConstant %pair\n%x = OpVariable %p PushConstant",
     "push constants are not supported: OpenGL has none"),
    ("%p = OpTypePointer Uniform %pair\n%x = OpVariable %p Uniform",
     "the struct of buffer %.* has no layout, or is no block"),
    ("%p = OpTypePointer Input %f32\n%x = OpVariable %p Input",
     "an input or output has neither a location nor a built-in"),
    ("%p = OpTypePointer Input %f32\n%at32 = OpVariable %p Input", "location 32 is beyond the"),
    ("%p = OpTypePointer Output %u32\n%of_rays = OpVariable %p Output",
     "built-in LaunchIdNV is not supported here"),
    ("%p = OpTypePointer Input %u32\n%of_rays = OpVariable %p Input",
     "built-in LaunchIdNV is not supported here"),
    ("%count = OpConstant %u32 65\n%blocks = OpTypeArray %block %count\n"
     "%p = OpTypePointer Output %blocks\n%x = OpVariable %p Output",
     "an array of 65 interface blocks"),
    ("%p = OpTypePointer AtomicCounter %u32\n%x = OpVariable %p AtomicCounter %n0",
     "a variable of this kind has no initial value"),
    ("%x = OpFunction %void None %f32", "%.* is no function type"),
    ("%x = OpFunction %void None %fn", "the function has no end"),
    ("%x = OpFunction %void None %fn\n%a = OpLabel\nOpFunctionEnd", "in front of this has no end"),
    ("%x = OpFunction %void None %fn\n%a = OpLabel\n%b = OpLabel", "in front of this has no end"),
    ("%x = OpFunction %void None %fn\n%a = OpLabel\nOpReturn\n%a = OpLabel",
     "label %.* stands for two blocks"),
    ("%x = OpFunction %void None %fn\nOpReturn", "expected a label in front of this"),
]  # fmt: skip


@pytest.mark.parametrize(("declared", "message"), DECLARED)
def test_declarations_that_cannot_be(declared: str, message: str) -> None:
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
    with pytest.raises(SpirvError, match=message) as caught:
        read(
            used,
            TYPES + block + ("" if unfinished else declared),
            decorations=decorations,
            behind=unfinished,
        )
    assert caught.value.instruction in (name, "OpLoad", "OpFunction", "")


MODULES: list[tuple[str, dict[str, str]]] = [
    # what is wrong, the parts of the module
    ("addressing model PhysicalStorageBuffer64 is not supported",
     {"memory": "PhysicalStorageBuffer64 GLSL450"}),
    ("a geometry shader names its input and output primitives",
     {"model": "Geometry", "modes": "OpExecutionMode %main InputPoints"}),
    ("execution model IntersectionNV is not supported", {"model": "IntersectionKHR"}),
    ("function named has no code",
     {"code": "%x = OpFunctionCall %void %named\nOpReturn", "decorations": 'OpName %named "named"',
      "behind": "%named = OpFunction %void None %fn\nOpFunctionEnd"}),
    ("operands come in pairs",
     {"code": "OpBranch %next\n%next = OpLabel\n%x = OpPhi %f32 !1\nOpReturn"}),
    ("a phi of type image",
     {"code": "%t = OpLoad %tex %vt\nOpBranch %next\n%next = OpLabel\n"
      "%x = OpPhi %tex %t %start\nOpReturn"}),
    ("a branch without a merge instruction in front of it",
     {"code": "OpBranchConditional %true %a %b\n%a = OpLabel\nOpBranch %c\n"
      "%b = OpLabel\nOpBranch %c\n%c = OpLabel\nOpReturn"}),
    ("literals and labels come in pairs",
     {"code": "OpSelectionMerge %b None\nOpSwitch %n1 %a !2\n%a = OpLabel\nOpBranch %b\n"
      "%b = OpLabel\nOpReturn"}),
    ("control flow that is not structured leads to %",
     {"code": "OpSelectionMerge %e None\nOpBranchConditional %true %a %e\n%a = OpLabel\n"
      "OpSelectionMerge %d None\nOpBranchConditional %true %c %d\n%c = OpLabel\nOpBranch %e\n"
      "%d = OpLabel\nOpBranch %e\n%e = OpLabel\nOpReturn"}),
    ("a branch to %.*, which is no block of the function",
     {"code": "OpSelectionMerge %b None\nOpSwitch %n1 %b 2 %nowhere\n%b = OpLabel\nOpReturn"}),
    ("a branch to %.*, which is no block of the function",
     {"code": "OpSelectionMerge %b None\nOpSwitch %n1 %b 2 %a\n%a = OpLabel\nOpBranch %nowhere\n"
      "%b = OpLabel\nOpReturn"}),
    ("the module contradicts itself",
     {"code": "OpSelectionMerge %b None\nOpBranchConditional %true %a %b\n%a = OpLabel\n"
      "%x = OpLoad %f32 %vp\nOpBranch %b\n%b = OpLabel\nOpStore %vp %x\nOpReturn"}),
    ("a local size is of constants",
     {"model": "GLCompute", "modes": "OpExecutionModeId %main LocalSizeId %n1 %void %n1"}),
    ("control flow is nested too deeply", {"code": "\n".join(
        [*(f"OpSelectionMerge %m{k} None\nOpBranchConditional %true %a{k} %m{k}\n%a{k} = OpLabel"
           for k in range(121)), "OpReturn",
         *(f"%m{k} = OpLabel\nOpReturn" for k in reversed(range(121)))])}),
    ("this instruction is not supported", {"code": "OpRayQueryTerminateKHR %n0\nOpReturn"}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "parts"), MODULES)
def test_modules_that_cannot_be(message: str, parts: dict[str, str]) -> None:
    with pytest.raises(SpirvError, match=message):
        read(parts.pop("code", "OpReturn"), TYPES + parts.pop("globals", ""), **parts)


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
