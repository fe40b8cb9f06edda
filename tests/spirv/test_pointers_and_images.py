"""Pointers, blocks and images of modules: what instructions read through them and write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from small_modules import Array, assert_same, computed, read

from gallette.compiler.nir.interp.interpreter import Environment
from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.text.printer import print_shader

X = np.array([1.5, -2.0, 3.0, 0.25], np.float32)
Y = np.array([2.0, 4.0, -0.5, 8.0], np.float32)
K = np.array([0, 3, 1, 2], np.uint32)
GIVEN = {"x": X, "y": Y}


# -- functions, locals, undefined values ----------------------------------------------------------


def test_matrices_and_numbers_are_passed_to_functions() -> None:
    """A function's matrix is its own copy; the type of a parameter decides what `FMin` is."""
    found = computed(
        """%xy = OpCompositeConstruct %f32x2 %x %y
        %m = OpCompositeConstruct %mat %xy %xy
        %r = OpFunctionCall %f32 %help %x %m""",
        "f32",
        GIVEN,
        "%mat = OpTypeMatrix %f32x2 2\n%help_fn = OpTypeFunction %f32 %f32 %mat",
        behind="""%help = OpFunction %f32 None %help_fn
        %a = OpFunctionParameter %f32
        %b = OpFunctionParameter %mat
        %in_help = OpLabel
        %c = OpCompositeExtract %f32 %b 1 1
        %d = OpExtInst %f32 %glsl FMin %a %c
        OpReturnValue %d
        OpFunctionEnd""",
    )
    assert_same(found, np.minimum(X, Y))


ARRAY = """%array = OpTypeArray %f32 %n4
%local = OpTypePointer Function %array
%part = OpTypePointer Function %f32
%one_float = OpTypePointer Function %f32
%f7 = OpConstant %f32 7
%f9 = OpConstant %f32 9
%data = OpConstantComposite %array %f7 %f9 %f7 %f9
%wide_3 = OpConstant %i64 3
%pair = OpTypeStruct %f32 %f32x2"""


def test_an_index_may_be_wide() -> None:
    code = """%v = OpVariable %local Function
        %xyxy = OpCompositeConstruct %array %x %y %y %x
        OpStore %v %xyxy
        %wide = OpUConvert %u64 %k
        %p = OpAccessChain %part %v %wide
        %q = OpAccessChain %part %v %wide_3
        %a = OpLoad %f32 %p
        %b = OpLoad %f32 %q
        %r = OpFAdd %f32 %a %b"""
    found = computed(code, "f32", {**GIVEN, "k": K}, ARRAY)
    assert_same(found, np.choose(K, [X, Y, Y, X]) + X)


def test_a_local_begins_with_its_value() -> None:
    code = """%v = OpVariable %local Function %data
        %w = OpVariable %one_float Function %f9
        %p = OpAccessChain %part %v %k
        %a = OpLoad %f32 %p
        %b = OpLoad %f32 %w
        %c = OpFMul %f32 %b %y
        %r = OpFAdd %f32 %a %c"""
    found = computed(code, "f32", {**GIVEN, "k": K}, ARRAY)
    assert_same(found, np.array([7, 9], np.float32)[K % 2] + 9 * Y)


def test_an_undefined_structure_is_filled_part_by_part() -> None:
    code = """%s = OpUndef %pair
        %t = OpCompositeInsert %pair %x %s 0
        %u = OpCompositeInsert %pair %y %t 1 1
        %a = OpCompositeExtract %f32 %u 0
        %b = OpCompositeExtract %f32 %u 1 1
        %c = OpCompositeExtract %f32 %u 1 0
        %d = OpFAdd %f32 %c %a
        %r = OpFSub %f32 %d %b"""
    assert_same(computed(code, "f32", GIVEN, ARRAY), X - Y)


@pytest.mark.parametrize("type", ["u64", "u32x2"])
def test_the_clock_is_two_words_or_one_number(type: str) -> None:
    shader = read(f"%t = OpReadClockKHR %{type} %n1\nOpReturn")
    text = print_shader(shader)
    shader.unref()
    assert "32x2 %" in text
    assert ("pack_64_2x32" in text) == (type == "u64")


# -- interface blocks -----------------------------------------------------------------------------

BLOCKS = """%block = OpTypeStruct %f32 %f32x2
%blocks = OpTypeArray %block %n2
%in_blocks = OpTypePointer Input %blocks
%out_blocks = OpTypePointer Output %blocks
%in_part = OpTypePointer Input %f32
%from = OpVariable %in_blocks Input"""


@pytest.mark.parametrize("element", [0, 1])
def test_arrays_of_blocks_are_read_whole_and_in_part(element: int) -> None:
    """Each element takes a location for each member, one after the other."""
    slot = int(VaryingSlot.VAR0) + 4
    inputs = {(slot + k, c): np.float32(10 * k + c) * X for k in range(4) for c in range(2)}
    whole = f"""%s = OpLoad %blocks %from
        %r = OpCompositeExtract %f32 %s {element} 1 1"""
    part = f"""%p = OpAccessChain %in_part %from %n{element} %n1 %n1
        %r = OpLoad %f32 %p"""
    wanted = inputs[slot + 2 * element + 1, 1]
    for code in (whole, part):
        found = computed(
            code,
            "f32",
            GIVEN,
            BLOCKS,
            inputs=inputs,
            interface="%from",
            decorations="OpDecorate %block Block\nOpDecorate %from Location 4",
        )
        assert_same(found, wanted)


def test_elements_of_an_array_of_blocks_are_captured_in_buffers_of_their_own() -> None:
    shader = read(
        "%s = OpLoad %blocks %o\nOpStore %o %s\nOpReturn",
        BLOCKS + "\n%o = OpVariable %out_blocks Output",
        interface="%o",
        modes="OpExecutionMode %main Xfb",
        decorations="""OpDecorate %block Block
        OpDecorate %o Location 0
        OpDecorate %o XfbBuffer 1
        OpDecorate %o XfbStride 32
        OpMemberDecorate %block 0 Offset 4
        OpMemberDecorate %block 1 Offset 8""",
    )
    outputs = shader.variables_of(Mode.SHADER_OUT)
    found = [(v.xfb_buffer, v.xfb_offset, v.xfb_stride) for v in outputs]
    assert found == [(1, 4, 32), (1, 8, 32), (2, 4, 32), (2, 8, 32)]
    assert shader.info.has_transform_feedback
    shader.unref()


PER_VERTEX = """%distances = OpTypeArray %f32 %n3
%vertex = OpTypeStruct %f32x4 %distances
%vertices = OpTypeArray %vertex %n2
%in_vertices = OpTypePointer Input %vertices
%in_float = OpTypePointer Input %f32
%gl_in = OpVariable %in_vertices Input"""


@pytest.mark.parametrize("way", ["chain", "whole"])
@pytest.mark.parametrize("vertex", [0, 1])
def test_clip_distances_of_vertices(way: str, vertex: int) -> None:
    """Several lie in a slot, so what is chosen by a number of the lane is chosen among all."""
    inputs: dict[Any, Array] = {}
    for v in range(2):
        for c in range(3):
            key = (int(VaryingSlot.CLIP_DIST0), c) + ((v,) if v else ())
            inputs[key] = np.float32(100 * v + 10 * c) + X
    code = {
        "chain": f"""%p = OpAccessChain %in_float %gl_in %n{vertex} %n1 %k
            %r = OpLoad %f32 %p""",
        "whole": f"""%s = OpLoad %vertices %gl_in
            %t = OpCompositeExtract %distances %s {vertex} 1
            %r = OpCompositeExtract %f32 %t 2""",
    }[way]
    k = np.minimum(K, 2)
    found = computed(
        code,
        "f32",
        {"k": k},
        PER_VERTEX,
        model="Geometry",
        modes="""OpExecutionMode %main InputLines
        OpExecutionMode %main OutputPoints
        OpExecutionMode %main OutputVertices 1""",
        inputs=inputs,
        interface="%gl_in",
        decorations="""OpDecorate %vertex Block
        OpMemberDecorate %vertex 0 BuiltIn Position
        OpMemberDecorate %vertex 1 BuiltIn ClipDistance""",
    )
    chosen = k if way == "chain" else np.full(4, 2)
    assert_same(found, (100 * vertex + 10 * chosen).astype(np.float32) + X)


CLIPPED = """%distances = OpTypeArray %f32 %n3
%in_distances = OpTypePointer Input %distances
%in_four = OpTypePointer Input %f32x4
%in_float = OpTypePointer Input %f32
%clip = OpVariable %in_distances Input
%four = OpVariable %in_four Input"""


@pytest.mark.parametrize("at", ["%n0", "%n2", "%k"])
@pytest.mark.parametrize("variable", ["clip", "four"])
def test_parts_of_inputs_are_interpolated_at_the_centroid(variable: str, at: str) -> None:
    """One component of a vector, one distance of several in a slot."""
    slot = int(VaryingSlot.CLIP_DIST0) if variable == "clip" else int(VaryingSlot.VAR0) + 7
    inputs = {(slot, c): np.float32(10 * c) + X for c in range(4)}
    code = f"""%p = OpAccessChain %in_float %{variable} {at}
        %r = OpExtInst %f32 %glsl InterpolateAtCentroid %p"""

    found = computed(
        code,
        "f32",
        {"k": K},
        CLIPPED,
        inputs=inputs,
        interface=f"%{variable}",
        decorations="OpDecorate %clip BuiltIn ClipDistance\nOpDecorate %four Location 7",
    )
    index = K if at == "%k" else np.full(4, int(at[2:]))
    if variable == "clip":
        index = np.minimum(index, 2)
    assert_same(found, (10 * index).astype(np.float32) + X)


# -- images ---------------------------------------------------------------------------------------

IMAGES = """%tex = OpTypeImage %f32 2D {depth} 0 0 1 Unknown
%sampled = OpTypeSampledImage %tex
%smp = OpTypeSampler
%img = OpTypeImage %u32 2D 0 0 0 2 R32ui
%p_tex = OpTypePointer UniformConstant %tex
%p_smp = OpTypePointer UniformConstant %smp
%p_sampled = OpTypePointer UniformConstant %sampled
%p_img = OpTypePointer UniformConstant %img
%texel = OpTypePointer Image %u32
%f2 = OpConstant %f32 2
%f1 = OpConstant %f32 1
%one_two = OpConstantComposite %u32x2 %n1 %n2
%vt = OpVariable %p_tex UniformConstant
%vsmp = OpVariable %p_smp UniformConstant
%vs = OpVariable %p_sampled UniformConstant
%vi = OpVariable %p_img UniformConstant"""
HANDLES = """%t = OpLoad %tex %vt
%sm = OpLoad %smp %vsmp
%both = OpSampledImage %sampled %t %sm
%st = OpLoad %sampled %vs
%xy = OpCompositeConstruct %f32x2 %x %y
%xy2 = OpCompositeConstruct %f32x3 %x %y %f2
%ixy = OpConvertFToS %i32x2 %xy
"""
UNITS = """OpDecorate %vt Binding 5
OpDecorate %vsmp Binding 6
OpDecorate %vs Binding 3
OpDecorate %vi Binding 4"""


class Looking(Environment):
    """Notes what a lookup is asked for; its answer is the first source's first component."""

    seen: tuple[str, dict[str, list[list[float]]]]

    def texture(self, tex: Tex, unit: Array, srcs: dict[str, Array]) -> Array:
        Looking.seen = (tex.op, {kind: rows.tolist() for kind, rows in srcs.items()})
        first = np.arange(tex.result.num_components)[:, None] + srcs["coord"][:1]
        return first.astype(tex.dest_type)


XY = [X.tolist(), Y.tolist()]
HALF = [(X / 2).tolist(), (Y / 2).tolist()]
WHOLE = [X.astype(int).tolist(), Y.astype(int).tolist()]
LOOKUPS: list[tuple[str, str, str, dict[str, list[list[float]]]]] = [
    # stage, instruction, operation, sources
    ("Fragment", "OpImageSampleImplicitLod %f32x4 %both %xy", "tex", {"coord": XY}),
    ("Fragment", "OpImageSampleImplicitLod %f32x4 %st %xy Bias %x", "txb",
     {"coord": XY, "bias": [X.tolist()]}),
    ("Fragment", "OpImageSampleProjImplicitLod %f32x4 %st %xy2", "tex", {"coord": HALF}),
    ("Fragment", "OpImageSampleProjDrefImplicitLod %f32 %st %xy2 %y", "tex",
     {"coord": HALF, "comparator": [(Y / 2).tolist()]}),
    ("Fragment", "OpImageSampleProjDrefExplicitLod %f32 %st %xy2 %y Lod %f1", "txl",
     {"coord": HALF, "comparator": [(Y / 2).tolist()], "lod": [[1.0] * 4]}),
    ("Vertex", "OpImageSampleImplicitLod %f32x4 %st %xy", "txl", {"coord": XY, "lod": [[0.0] * 4]}),
    ("Vertex", "OpImageSampleImplicitLod %f32x4 %st %xy Bias %x", "txl",
     {"coord": XY, "lod": [[0.0] * 4]}),
    ("Fragment", "OpImageGather %f32x4 %st %xy %n2", "tg4", {"coord": XY}),
    ("Fragment", "OpImageDrefGather %f32x4 %st %xy %y", "tg4",
     {"coord": XY, "comparator": [Y.tolist()]}),
    ("Fragment", "OpImageFetch %f32x4 %t %ixy", "txf", {"coord": WHOLE, "lod": [[0] * 4]}),
    ("Fragment", "OpImageFetch %f32x4 %t %ixy Lod %n2", "txf", {"coord": WHOLE, "lod": [[2] * 4]}),
]  # fmt: skip


@pytest.mark.parametrize(("model", "instruction", "op", "sources"), LOOKUPS)
def test_lookups_ask_for(
    model: str, instruction: str, op: str, sources: dict[str, list[list[float]]]
) -> None:
    scalar = "%f32 " in instruction
    found = computed(
        f"{HANDLES}%c = {instruction}\n%r = "
        + ("OpCopyObject %f32 %c" if scalar else "OpCompositeExtract %f32 %c 2"),
        "f32",
        GIVEN,
        IMAGES.format(depth=int("Dref" in instruction)),
        environment=Looking,
        model=model,
        modes="OpExecutionMode %main OriginUpperLeft" if model == "Fragment" else "",
        decorations=UNITS,
    )
    assert Looking.seen == (op, sources)
    assert_same(found, np.array(sources["coord"][0], np.float32) + np.float32(0 if scalar else 2))


ATOMICS: dict[str, Callable[[int, int], int]] = {
    # what an instruction makes of 100 + its lane, with the lane's number x 3
    "Exchange": lambda old, x: x,
    "IAdd": lambda old, x: old + x,
    "ISub": lambda old, x: old - x,
    "UMax": lambda old, x: max(old, x),
    "Xor": lambda old, x: old ^ x,
    "IIncrement": lambda old, x: old + 1,
    "Load": lambda old, x: old,
    "CompareExchange": lambda old, x: x if old == 102 else old,
}
OPERANDS = {"IIncrement": "", "Load": "", "CompareExchange": "%n0 %three %c102"}


@pytest.mark.parametrize("name", [*ATOMICS, "Store"])
def test_atomics_of_texels(name: str) -> None:
    """Every lane has a texel of its own, at (lane, 1) of image 4."""
    kept: list[Environment] = []

    def environment(*arguments: Any, **options: Any) -> Environment:
        made = Environment(*arguments, **options)
        made.images = {(4, lane, 1, 0): [100 + lane, 7, 7, 7] for lane in range(4)}
        kept.append(made)
        return made

    code = """%three = OpIMul %u32 %k %n3
        %at = OpCompositeConstruct %u32x2 %k %n1
        %p = OpImageTexelPointer %texel %vi %at %n0
        """
    if name == "Store":
        code += "OpAtomicStore %p %n1 %n0 %three\n%r = OpCopyObject %u32 %k"
    else:
        code += f"%r = OpAtomic{name} %u32 %p %n1 %n0 {OPERANDS.get(name, '%three')}"
    lanes = np.arange(4, dtype=np.uint32)
    constants = f"{IMAGES.format(depth=0)}\n%c102 = OpConstant %u32 102"
    found = computed(
        code, "u32", {"k": lanes}, constants, environment=environment, decorations=UNITS
    )
    change = ATOMICS.get(name, lambda old, x: x)
    assert found.tolist() == (lanes if name == "Store" else lanes + 100).tolist()
    assert kept[0].images == {
        (4, lane, 1, 0): [change(100 + lane, 3 * lane) % (1 << 32), 7, 7, 7] for lane in range(4)
    }


COUNTERS = """%counters = OpTypeArray %u32 %n4
%p_counters = OpTypePointer AtomicCounter %counters
%p_counter = OpTypePointer AtomicCounter %u32
%v = OpVariable %p_counters AtomicCounter"""


def test_atomics_of_counters() -> None:
    """Counters are words of a buffer: each lane changes and reads its own."""
    lanes = np.arange(4, dtype=np.uint32)
    found = computed(
        """%p = OpAccessChain %p_counter %v %k
        %three = OpIMul %u32 %k %n3
        OpAtomicStore %p %n1 %n0 %three
        %old = OpAtomicIAdd %u32 %p %n1 %n0 %n5
        %swapped = OpAtomicCompareExchange %u32 %p %n1 %n0 %n0 %n1 %n8
        %new = OpAtomicLoad %u32 %p %n1 %n0
        %sixteen = OpIMul %u32 %old %n16
        %r = OpIAdd %u32 %sixteen %new""",
        "u32",
        {"k": lanes},
        COUNTERS,
        decorations="OpDecorate %v Binding 2\nOpDecorate %v Offset 8",
    )
    assert found.tolist() == [16 * 3 * k + (1 if k == 1 else 3 * k + 5) for k in range(4)]


def test_memory_of_a_workgroup_is_stored_and_loaded_atomically() -> None:
    found = computed(
        """OpAtomicStore %v %n1 %n0 %k
        %r = OpAtomicLoad %u32 %v %n1 %n0""",
        "u32",
        {"k": np.full(4, 9, np.uint32)},
        "%p = OpTypePointer Workgroup %u32\n%v = OpVariable %p Workgroup",
    )
    assert found.tolist() == [9] * 4
