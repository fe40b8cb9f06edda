"""Kernels of a few instructions each: pointers, built-ins, images, texts, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.interp.intrinsics import INTRINSIC_ACTIONS
from gallette.compiler.nir.ir.types import UINT
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import Module, SpirvError
from gallette.compiler.spirv.read.declarations import Declarations
from gallette.compiler.spirv.read.printing import Printf, formats, text_of
from gallette.compiler.spirv.read.translate import spirv_to_nir
from gallette.compute import Image, Program, Sampler
from gallette.compute.kernels import FRONT
from tests.cases import Case, each

FILE = Path(__file__).with_name("single.txt")
Words = npt.NDArray[np.uint32]
HEAD = """OpCapability Addresses
OpCapability Kernel
OpCapability Int64
%opencl = OpExtInstImport "OpenCL.std"
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "kernel" {interface}
{decorations}
%void = OpTypeVoid
%bool = OpTypeBool
%char = OpTypeInt 8 0
%half = OpTypeFloat 16
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%uint4 = OpTypeVector %uint 4
%float2 = OpTypeVector %float 2
%float4 = OpTypeVector %float 4
%ulong3 = OpTypeVector %ulong 3
%true = OpConstantTrue %bool
%ptr = OpTypePointer CrossWorkgroup %uint
%local = OpTypePointer Function %uint
%floats = OpTypePointer CrossWorkgroup %float
%halves = OpTypePointer CrossWorkgroup %half
%generic = OpTypePointer Generic %uint
{types}
%fn = OpTypeFunction %void {parameters}
"""


def module(
    code: str,
    types: str = "",
    parameters: str = "%o:%ptr",
    interface: str = "",
    decorations: str = "",
) -> Module:
    """A kernel with parameters `%name:%type`; constants `%nK` and `%wideK` are there up to 16."""
    pairs = [pair.split(":") for pair in parameters.split()]
    numbers = [f"%n{k} = OpConstant %uint {k}\n%wide{k} = OpConstant %ulong {k}" for k in range(17)]
    head = HEAD.format(
        interface=interface,
        decorations=decorations,
        types="\n".join([*numbers, types]),
        parameters=" ".join(type for _, type in pairs),
    )
    given = "\n".join(f"{name} = OpFunctionParameter {type}" for name, type in pairs)
    return assemble(
        f"{head}%kernel = OpFunction %void None %fn\n{given}\n%entry = OpLabel\n{code}\n"
        "OpReturn\nOpFunctionEnd\n"
    )


def read(case: Case) -> tuple[Module, Words]:
    """The module of a case, and what its argument holds at first."""
    before, _, code = f"\n{case.text}".partition("\ncode")
    parts: dict[str, str] = {}
    types, o = "", np.zeros(0, np.uint32)
    for line in before.splitlines():
        word, colon, text = line.partition(": ")
        if line.startswith("o = "):
            o = np.array(line[4:].split(), np.uint32)
        elif colon:
            parts[word] = f"{parts.get(word, '')}{text}\n".lstrip()
        else:
            types += f"{line}\n"
    return module(code, types, **{word: text.strip() for word, text in parts.items()}), o


@each(FILE, "results")
def test_results(case: Case) -> None:
    made, o = read(case)
    ran(made, o)
    assert o.tolist() == case.numbers


def ran(made: Module, *arguments: Any, grid: Any = 1, block: Any = 1) -> None:
    with Program(made) as program:
        program.kernel("kernel")(*arguments, grid=grid, block=block)


def at(name: str, index: int) -> str:
    return f"{name} = OpInBoundsPtrAccessChain %ptr %o %wide{index}\n"


BUILTINS = {
    # name: components, number of each invocation in a grid of (3, 2, 2) groups of (2, 1, 3)
    "GlobalLinearId": (1, lambda x, y, z: x + 6 * (y + 2 * z)),
    "GlobalOffset": (3, lambda x, y, z: 0),
    "GlobalSize": (3, lambda x, y, z: 6),
    "WorkDim": (1, lambda x, y, z: 3),
    "WorkgroupSize": (3, lambda x, y, z: 2),
    "EnqueuedWorkgroupSize": (3, lambda x, y, z: 2),
    "NumEnqueuedSubgroups": (1, None),
    "NumSubgroups": (1, None),
}


@pytest.mark.parametrize("name", BUILTINS)
@pytest.mark.parametrize("wide", [False, True])
def test_built_ins_of_kernels(name: str, wide: bool) -> None:
    count, formula = BUILTINS[name]
    scalar = "ulong" if wide else "uint"
    type = scalar if count == 1 else f"{scalar}3"
    code = f"""%id = OpLoad %ulong3 %where
        %x = OpCompositeExtract %ulong %id 0
        %y = OpCompositeExtract %ulong %id 1
        %z = OpCompositeExtract %ulong %id 2
        %zz = OpIMul %ulong %z %wide2
        %zy = OpIAdd %ulong %zz %y
        %row = OpIMul %ulong %zy %wide6
        %n = OpIAdd %ulong %row %x
        %p = OpInBoundsPtrAccessChain %ptr %o %n
        %value = OpLoad %{type} %builtin
        {"%first = OpCompositeExtract %" + scalar + " %value 0" if count == 3 else ""}
        %r = OpUConvert %uint {"%first" if count == 3 else "%value"}
        OpStore %p %r"""
    types = f"""%in = OpTypePointer Input %ulong3
        %where = OpVariable %in Input
        %in_builtin = OpTypePointer Input %{type}
        %builtin = OpVariable %in_builtin Input"""
    decorations = f"""OpDecorate %where BuiltIn GlobalInvocationId
        OpDecorate %builtin BuiltIn {name}"""
    o = np.full(72, 99, np.uint32)
    made = module(code, types, interface="%where %builtin", decorations=decorations)
    ran(made, o, grid=(3, 2, 2), block=(2, 1, 3))
    shape = [(x, y, z) for z in range(6) for y in range(2) for x in range(6)]
    if formula is None:  # a group of six is one subgroup, or several of a power of two
        assert set(o.tolist()) <= {1, 2, 3, 6}
        assert len(set(o.tolist())) == 1
    else:
        assert o.tolist() == [formula(*p) for p in shape]


def test_parts_of_a_number_that_is_split() -> None:
    """`modf` gives the part behind the point and stores the whole."""
    x = np.array([2.75, -3.5, 0.25, 8.0], np.float32)
    code = "\n".join(
        f"""%p{k} = OpInBoundsPtrAccessChain %floats %x %wide{k}
        %q{k} = OpInBoundsPtrAccessChain %floats %x %wide{k + 4}
        %x{k} = OpLoad %float %p{k}
        %f{k} = OpExtInst %float %opencl modf %x{k} %q{k}
        OpStore %p{k} %f{k}"""
        for k in range(4)
    )
    both = np.concatenate([x, np.zeros(4, np.float32)])
    ran(module(code, parameters="%x:%floats"), both)
    assert both.tolist() == [*np.modf(x)[0], *np.modf(x)[1]]


# -- images ---------------------------------------------------------------------------------------

IMAGES = """%img = OpTypeImage %void 2D 0 {layered} 0 0 Unknown ReadOnly
%sampler = OpTypeSampler
%both = OpTypeSampledImage %img
%f0 = OpConstant %float 0
%quarter = OpConstant %float 0.25
%f1 = OpConstant %float 1.5
%f9 = OpConstant %float 9
%at = OpConstantComposite %float4 %f1 %quarter %{layer} %f0
%flat_at = OpConstantComposite %float2 %f1 %quarter
%integers = OpConstantComposite %uint4 %n1 %n0 %n1 %n0
"""
PARAMETERS = "%i:%img %s:%sampler %o:%ptr"


def looked(data: Any, instruction: str) -> list[int]:
    """Four components of a lookup in an image of integers."""
    stores = [
        f"%c{k} = OpCompositeExtract %uint %texel {k}\n{at(f'%p{k}', k)}OpStore %p{k} %c{k}"
        for k in range(4)
    ]
    code = f"%si = OpSampledImage %both %i %s\n%texel = {instruction}\n" + "\n".join(stores)
    o = np.zeros(4, np.uint32)
    made = module(code, IMAGES.format(layer="f0", layered=0), PARAMETERS)
    ran(made, Image(data, integer=True), Sampler("clamp_to_edge"), o)
    return [int(value) for value in o]


def test_an_image_of_integers_is_looked_up_by_floats() -> None:
    data = np.arange(24, dtype=np.uint32).reshape(2, 3, 4)
    found = looked(data, "OpImageSampleExplicitLod %uint4 %si %flat_at Lod %f0")
    assert found == data[0, 1].tolist()
    found = looked(data, "OpImageSampleExplicitLod %uint4 %si %integers Lod %f0")
    assert found == data[0, 1].tolist()


@pytest.mark.parametrize(("layer", "wanted"), [("f0", 0), ("f1", 2), ("f9", 2)])
def test_the_layer_of_an_image_is_rounded_and_clamped(layer: str, wanted: int) -> None:
    """Halves go to the even layer, what is too far to the last."""
    made = module(
        """%si = OpSampledImage %both %i %s
        %texel = OpImageSampleExplicitLod %uint4 %si %at Lod %f0
        %c = OpCompositeExtract %uint %texel 0
        OpStore %o %c""",
        IMAGES.format(layer=layer, layered=1),
        PARAMETERS,
    )
    shader = spirv_to_nir(made)
    run_passes(shader, FRONT)
    run_passes(shader, ["lower_explicit_io"])
    seen: list[tuple[int, ...]] = []

    class Looking(Environment):
        def texel(self, where: tuple[int, ...]) -> list[int]:
            seen.append(where)
            return super().texel(where)

    size = {(0, 0): [3, 4, 3]}
    environment = Looking(1, ubos={0: bytes(32)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(
            INTRINSIC_ACTIONS,
            "image_deref_size",
            lambda run, instr: np.array([[n] for n in size[0, 0]], np.uint32),
        )
        interpret(shader, environment)
    shader.unref()
    assert [where[1:4] for where in seen] == [(1, 0, wanted)]


@each(FILE, "refused")
def test_kernels_that_cannot_be(case: Case) -> None:
    with pytest.raises(SpirvError, match=case.answer):
        spirv_to_nir(read(case)[0]).unref()


# -- printing -------------------------------------------------------------------------------------

TEXT = """%letters{n} = OpTypeArray %char %n{count}
%text_at{n} = OpTypePointer UniformConstant %letters{n}
{bytes}
%text{n} = OpConstantComposite %letters{n} {names}
%format{n} = OpVariable %text_at{n} UniformConstant %text{n}
"""
CHARS = "%text_ = OpTypePointer UniformConstant %char\n"


def text(n: int, value: str) -> str:
    """A constant text as the n-th variable of a module."""
    codes = [*value.encode(), 0]
    constants = "\n".join(f"%c{n}_{k} = OpConstant %char {c}" for k, c in enumerate(codes))
    names = " ".join(f"%c{n}_{k}" for k in range(len(codes)))
    return TEXT.format(n=n, count=len(codes), bytes=constants, names=names)


PRINTED = [
    # format, arguments, what is printed
    ("%d|%d", "%true", "1|%d"),
    ("%x %x", "%n10 %f", "a 1"),
    ("%p", "%wide16", "0x10"),
    ("%d %s", "%name %name", "%d abc"),
    ("%i%%", "%minus", "-1%"),
    ("%hhd %hu", "%minus %minus", "-1 65535"),
    ("%c%5.1f", "%n12 %f", "\x0c  1.5"),
    ("%a", "%f", float.hex(1.5)),
]


@pytest.mark.parametrize(("format", "arguments", "wanted"), PRINTED)
def test_what_is_printed(format: str, arguments: str, wanted: str) -> None:
    types = f"""{CHARS}{text(0, format)}{text(1, "abc")}
        %f = OpConstant %float 1.5
        %minus = OpConstant %uint 4294967295"""
    code = f"""%start = OpBitcast %text_ %format0
        %name = OpInBoundsAccessChain %text_ %format1 %n0
        %r = OpExtInst %uint %opencl printf %start {arguments}"""
    out: list[str] = []
    with Program(module(code, types), output=out.append) as program:
        program.kernel("kernel")(np.zeros(1, np.uint32), grid=1)
    assert out == [wanted]


def test_what_is_printed_beyond_the_buffer_is_lost() -> None:
    calls = {7: Printf("<%d>", (UINT,)), 9: Printf("end", ())}
    words = np.array([7, 5, 9, 7, 6, 7], np.uint32)
    assert list(text_of(calls, words)) == ["<5>", "end", "<6>"]
    assert list(text_of(calls, np.array([9, 8, 9], np.uint32))) == ["end"]


@pytest.mark.parametrize(
    ("format", "arguments", "message"),
    [
        ("%o", "", "printf wants constant texts"),
        ("%nowhere", "", "printf wants constant texts"),
        ("%empty", "", "printf wants constant texts"),
        ("%format0", "%uint", "argument %.* has no type"),
        ("%format0", "%nowhere", "argument %.* has no type"),
    ],
)
def test_texts_that_are_not_known(format: str, arguments: str, message: str) -> None:
    types = CHARS + text(0, "a") + "%empty = OpVariable %text_at0 UniformConstant\n"
    made = module(f"%r = OpExtInst %uint %opencl printf {format} {arguments}", types)
    with pytest.raises(SpirvError, match=message):
        formats(Declarations(made))
