"""What GLSL becomes in modules: what each feature declares and which instruction it is.

Each module is valid for the standard validator, and computes there and back what it did before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conversions import run_tool, undeclared

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.glsl.link.program import LinkOptions
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.modes import Mode, Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.ir.variables import Variable
from gallette.compiler.nir.run.optimize import optimize
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import FRONT_END, to_driver_form
from gallette.compiler.spirv.disassembler import disassemble
from gallette.compiler.spirv.emit import nir_to_spirv
from gallette.compiler.spirv.module import SpirvError, read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

STAGES = {"vert": Stage.VERTEX, "tesc": Stage.TESS_CTRL, "tese": Stage.TESS_EVAL}
STAGES |= {"geom": Stage.GEOMETRY, "frag": Stage.FRAGMENT, "comp": Stage.COMPUTE}


def front_end(suffix: str, text: str) -> Shader:
    """A stage as modules are written of it."""
    compiled = compile_shader(STAGES[suffix], ["#version 450\n" + text], CompileOptions())
    assert compiled.ok, compiled.info_log
    linked = link_program([compiled], LinkOptions(separable=True, optimize=False))
    assert linked.ok, linked.info_log
    shader = linked.shaders[STAGES[suffix]]
    run_passes(shader, FRONT_END, None)
    optimize(shader)
    return shader


COLOUR = "layout(location = 0) out vec4 c;\n"
WRITTEN: dict[str, tuple[str, str, list[str]]] = {
    # name: suffix, GLSL, what stands in the module
    "gathered": ("frag", COLOUR + """uniform sampler2DShadow t; in vec3 p;
        void main() { c = textureGather(t, p.xy, p.z); }""", ["OpImageDrefGather %v4float"]),
    "sizes": ("frag", COLOUR + """uniform sampler2DRect r; uniform samplerBuffer b;
        uniform sampler2DMS m; uniform sampler2D t;
        void main() { c = vec4(textureSize(r).x, textureSize(b), textureSize(m).y,
            textureSize(t, 1).x); }""",
        ["OpImageQuerySize %v2uint", "OpImageQuerySize %uint", "OpImageQuerySizeLod %v2uint",
         "OpCapability SampledRect", "OpCapability SampledBuffer", "OpCapability ImageQuery"]),
    "scopes of atomics": ("comp", """layout(local_size_x = 1) in; shared uint s;
        layout(std430) buffer B { uint b; uint seen[2]; };
        void main() { seen[0] = atomicMax(s, 7u); seen[1] = atomicMax(b, 9u); }""",
        ["OpAtomicUMax %uint %s %uint_2 %uint_0 %uint_7", " %uint_1 %uint_0 %uint_9"]),
    "cube images": ("frag", COLOUR + """layout(rgba8) uniform imageCube a;
        layout(r8) uniform imageCubeArray b; uniform samplerCubeArray d; flat in ivec3 p;
        void main() { c = imageLoad(a, p) + imageLoad(b, p) + texture(d, vec4(p, 1)); }""",
        ["OpCapability ImageCubeArray", "OpCapability SampledCubeArray",
         "OpCapability StorageImageExtendedFormats", "OpImageRead %v4float {} {}"]),
    "samples of images": ("frag", COLOUR + """layout(rgba8) uniform image2DMS m; flat in ivec3 p;
        void main() { c = imageLoad(m, p.xy, p.z); imageStore(m, p.yx, 1, c); }""",
        ["OpCapability StorageImageMultisample", "OpImageRead %v4float {} {} Sample {}",
         "OpImageWrite {} {} {} Sample %uint_1"]),
    "images without a format": ("frag",
        "#extension GL_EXT_shader_image_load_formatted : require\n" + COLOUR + """
        uniform image2D m; writeonly uniform iimage2D w; flat in ivec2 p;
        void main() { c = imageLoad(m, p); imageStore(w, p, ivec4(p, 1, 2)); }""",
        ["OpCapability StorageImageReadWithoutFormat",
         "OpCapability StorageImageWriteWithoutFormat"]),
    "atomics of images": ("frag", COLOUR + """layout(r32ui) uniform uimage2D u;
        layout(r32i) uniform iimage2DArray i; flat in ivec3 p;
        void main() { c = vec4(imageAtomicAdd(u, p.xy, 3u), imageAtomicMin(i, p, p.x),
            imageAtomicCompSwap(u, p.yx, 1u, 2u), imageAtomicExchange(i, p, -1)); }""",
        ["OpImageTexelPointer %_ptr_Image_uint {} {} %uint_0", "OpAtomicIAdd %uint",
         "OpAtomicSMin %int", "OpAtomicCompareExchange %uint", "OpAtomicExchange %int"]),
    "outputs of fragments": ("frag", "#extension GL_ARB_shader_stencil_export : require\n" + """
        layout(location = 0, index = 1) out vec4 second; layout(location = 0) out vec4 first;
        flat in int k; layout(depth_greater) out float gl_FragDepth;
        void main() { first = second = vec4(1); gl_SampleMask[0] = k; gl_FragDepth = 0.5;
            gl_FragStencilRefARB = k; }""",
        ["OpDecorate %second Index 1", "BuiltIn SampleMask", "BuiltIn FragStencilRefEXT",
         "OpCapability StencilExportEXT", 'OpExtension "SPV_EXT_shader_stencil_export"',
         "OpExecutionMode %main DepthGreater", "OpExecutionMode %main DepthReplacing"]),
    "inputs of fragments": ("frag", COLOUR + """layout(location = 3, component = 2) in vec2 d;
        sample in vec4 e; noperspective centroid in vec4 f; flat in ivec2 g;
        void main() { c = e + f + vec4(d, g); }""",
        ["OpDecorate %d Component 2", "OpDecorate %e Sample", "OpCapability SampleRateShading",
         "OpDecorate %f NoPerspective", "OpDecorate %f Centroid", "OpDecorate %g Flat"]),
    "interpolation": ("frag", COLOUR + """in vec4 e; flat in int k;
        void main() { c = interpolateAtSample(e, k) + interpolateAtOffset(e, vec2(0.25))
            + interpolateAtCentroid(e); }""",
        ["InterpolateAtSample", "InterpolateAtOffset", "InterpolateAtCentroid",
         "OpCapability InterpolationFunction"]),
    "early tests": ("frag", "#extension GL_ARB_post_depth_coverage : require\n" + COLOUR + """
        layout(early_fragment_tests) in; layout(post_depth_coverage) in;
        void main() { c = vec4(gl_SampleMaskIn[0]); }""",
        ["OpExecutionMode %main EarlyFragmentTests", "OpExecutionMode %main PostDepthCoverage",
         "OpCapability SampleMaskPostDepthCoverage"]),
    "layers": ("vert", "#extension GL_ARB_shader_viewport_layer_array : require\n" + """
        in ivec2 k; void main() { gl_Position = vec4(1); gl_Layer = k.x; gl_ViewportIndex = k.y; }
        """, ["OpCapability ShaderLayer", "OpCapability ShaderViewportIndex"]),
    "streams": ("geom", """layout(points) in; layout(points, max_vertices = 2) out;
        layout(stream = 1) out vec4 a; layout(stream = 0) out vec4 b;
        void main() { b = vec4(1); EmitStreamVertex(0); EndStreamPrimitive(0);
            a = vec4(2); EmitStreamVertex(1); EndStreamPrimitive(1); }""",
        ["OpDecorate %a Stream 1", "OpEmitStreamVertex %uint_1", "OpEndStreamPrimitive %uint_0",
         "OpCapability GeometryStreams"]),
    "points of patches": ("tese", """layout(quads, point_mode, cw, fractional_odd_spacing) in;
        in vec4 a[]; patch in vec4 p;
        void main() { gl_Position = a[1] * gl_TessCoord.x + p * gl_TessLevelInner[1]
            + gl_TessLevelOuter[2]; }""",
        ["OpExecutionMode %main PointMode", "OpExecutionMode %main VertexOrderCw",
         "OpExecutionMode %main Quads", "OpExecutionMode %main SpacingFractionalOdd",
         "OpDecorate %p Patch", "BuiltIn TessLevelInner", "OpDecorate {} Patch"]),
    "buffers": ("comp", """layout(local_size_x = 4, local_size_y = 2) in;
        uniform Plain { vec4 a; mat3 m; bool k; };
        layout(std430) buffer Store { bool flags[4]; vec4 v; int n; float tail[]; };
        shared vec4 both[2]; uniform float one;
        void main() { flags[1] = k; v.y = one; v.zw = m[1].xy; both[n & 1].x = a.x;
            n = tail.length() + int(gl_WorkGroupSize.x + gl_LocalInvocationIndex);
            barrier(); tail[2] = both[0].x; flags[2] = flags[n]; }""",
        ["OpArrayLength %uint", "OpSelect %uint {} %uint_1 %uint_0", "OpINotEqual %bool",
         "OpExecutionMode %main LocalSize 4 2 1", "OpControlBarrier", "ArrayStride 4",
         "MatrixStride 16"]),
    "wide atomics": ("comp", """#extension GL_NV_shader_atomic_int64 : enable
        #extension GL_NV_shader_atomic_float : enable
        #extension GL_ARB_gpu_shader_int64 : enable
        layout(local_size_x = 1) in; buffer Store { uint a; int b; float f; } s;
        shared int own; void main() { own = 0; barrier(); atomicAdd(own, 2);
            s.a = atomicMax(s.a, 5u) + atomicCompSwap(s.a, 1u, 2u); s.b = atomicMin(s.b, own); }""",
        ["OpAtomicUMax %uint", "OpAtomicSMin %int", "OpAtomicCompareExchange %uint",
         "OpAtomicIAdd %int"]),
    "clock and votes": ("frag", "#extension GL_ARB_shader_clock : require\n"
        "#extension GL_ARB_shader_group_vote : require\n" + COLOUR + """in vec4 v; flat in int k;
        void main() { c = vec4(clock2x32ARB().x != 0u ? 1.0 : 2.0,
            allInvocationsEqualARB(v.x > 0.0), anyInvocationARB(k > 1), allInvocationsARB(k > 2));
        }""",
        ["OpCapability ShaderClockKHR", "OpReadClockKHR %v2uint %uint_3",
         "OpGroupNonUniformAllEqual %bool"]),
}  # fmt: skip
NOT_IN_VULKAN = ("sizes",)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_a_feature_is_in_a_module(name: str) -> None:
    suffix, text, wanted = WRITTEN[name]
    shader = front_end(suffix, text)
    before = clone_shader(shader)
    module = nir_to_spirv(shader)
    assert undeclared(module) == set()
    lines = [" ".join(line.split()) for line in disassemble(module).splitlines()]
    for line in wanted:
        parts = line.split("{}")
        assert any(_has(found, parts) for found in lines), (line, "\n".join(lines))
    target = "spv1.5" if name in NOT_IN_VULKAN else "vulkan1.2"
    run_tool("spirv-val", "--target-env", target, "-", data=module.to_bytes())
    after = spirv_to_nir(read_module(module.to_bytes()))
    for each in (before, after):
        to_driver_form(each)
    if "clock" not in name:
        for seed in range(2):
            one, other = (
                interpret(shader, Environment(seed=seed, lanes=8)) for shader in (before, after)
            )
            assert one.same_as(other) == ""
    for each in (shader, before, after):
        each.unref()


def _has(line: str, parts: list[str]) -> bool:
    at = 0
    for part in parts:
        at = line.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


def built(stage: Stage = Stage.FRAGMENT) -> tuple[Builder, Variable]:
    """A shader with an output to write to."""
    b = Builder.shader_main(stage, "built")
    location = FragResult.DATA0 if stage is Stage.FRAGMENT else VaryingSlot.VAR0
    return b, b.shader.add_variable("o", t.vec(t.Base.FLOAT, 4), Mode.SHADER_OUT, location=location)


def written(shader: Shader) -> list[str]:
    """The lines of the module; it is valid."""
    module = nir_to_spirv(shader)
    shader.unref()
    assert undeclared(module) == set()
    run_tool("spirv-val", "--target-env", "vulkan1.2", "-", data=module.to_bytes())
    return [" ".join(line.split()) for line in disassemble(module).splitlines()]


@pytest.mark.parametrize("op", ["tex", "tg4"])
@pytest.mark.parametrize("shadow", [False, True])
def test_projected_lookups_divide(op: str, shadow: bool) -> None:
    """Coordinates and what is compared, by the projector; the level has a least."""
    b, out = built()
    var = b.shader.add_variable("s", t.sampler(t.Dim.D2, shadow), Mode.UNIFORM, location=0)
    half = b.imm_float(0.5)
    handle = b.deref_var(var).result
    srcs = [("texture_deref", handle), ("sampler_deref", handle)]
    srcs += [("coord", b.vec([half, b.imm_float(0.25)])), ("projector", b.imm_float(4.0))]
    srcs += [("comparator", b.imm_float(0.75))] * shadow
    srcs += [("min_lod", b.imm_float(2.0))] * (op == "tex")
    found = b.tex(
        op,
        srcs,
        t.Dim.D2,
        num_components=4 if op == "tg4" or not shadow else 1,
        dest_type="float32",
        is_shadow=shadow,
    )
    b.store_var(out, found if found.num_components == 4 else b.vec([found] * 4), 0b1111)
    lines = written(b.shader)
    divisions = [line.split(" = ")[1] for line in lines if "OpFDiv" in line]
    assert divisions[0].startswith("OpFDiv %v2float %")
    assert [line.startswith("OpFDiv %float %") for line in divisions[1:]] == [True] * shadow
    least = [line for line in lines if " MinLod %" in line]
    assert len(least) == (op == "tex")
    assert ("OpCapability MinLod" in lines) == (op == "tex")
    name = {("tex", False): "SampleImplicitLod", ("tex", True): "SampleDrefImplicitLod"}
    name |= {("tg4", False): "Gather", ("tg4", True): "DrefGather"}
    assert any(f"OpImage{name[op, shadow]} " in line for line in lines)


def test_components_are_stored_one_by_one() -> None:
    """Those that the mask names, with their own numbers."""
    b, out = built()
    b.store_var(out, b.vec([b.imm_float(x) for x in (1.0, 2.0, 3.0, 4.0)]), 0b1010)
    lines = written(b.shader)
    chains = [line.split()[4:] for line in lines if "OpAccessChain" in line]
    assert chains == [["%o", "%int_1"], ["%o", "%int_3"]]
    stores = [line for line in lines if line.startswith("OpStore")]
    assert len(stores) == 2


def test_what_is_undefined_is_said_to_be() -> None:
    b, out = built()
    b.store_var(out, b.undef(4, 32), 0b1111)
    assert any("OpUndef %v4" in line for line in written(b.shader))


def test_what_is_captured_says_where_it_goes() -> None:
    b, out = built(Stage.VERTEX)
    out.xfb_buffer, out.xfb_offset, out.xfb_stride = 1, 16, 48
    b.store_var(out, b.vec([b.imm_float(1.0)] * 4), 0b1111)
    lines = written(b.shader)
    for line in ("XfbBuffer 1", "XfbStride 48", "Offset 16"):
        assert f"OpDecorate %o {line}" in lines
    assert "OpExecutionMode %built Xfb" in " ".join(lines).replace("%main", "%built")
    assert "OpCapability TransformFeedback" in lines


def test_the_primitive_that_a_geometry_shader_numbered() -> None:
    b, out = built()
    slot = VaryingSlot.PRIMITIVE_ID
    var = b.shader.add_variable("n", t.INT, Mode.SHADER_IN, location=slot, interpolation="flat")
    b.store_var(out, b.vec([b.i2f32(b.load_var(var))] * 4), 0b1111)
    module = nir_to_spirv(b.shader)
    b.shader.unref()
    lines = [" ".join(line.split()) for line in disassemble(module).splitlines()]
    assert "OpDecorate %n BuiltIn PrimitiveId" in lines
    assert any(line.startswith("OpDecorateString %n UserSemantic") for line in lines)
    again = spirv_to_nir(module)
    (found,) = again.variables_of(Mode.SHADER_IN)
    assert found.location == slot
    again.unref()


def test_a_block_of_members_has_one_binding() -> None:
    """Members that are variables of their own, in the order of their offsets."""
    b, out = built()
    packed = t.interface("Both", [t.Field("x", t.FLOAT), t.Field("y", t.FLOAT)], "std430")
    found = []
    for name, offset in (("y", 4), ("x", 0)):
        var = b.shader.add_variable(name, t.FLOAT, Mode.UBO, offset=offset, binding=2)
        var.interface = packed
        found.append(b.load_var(var))
    b.store_var(out, b.vec([*found, *found]), 0b1111)
    lines = written(b.shader)
    members = [line.split()[3] for line in lines if line.startswith("OpMemberName")]
    assert members == ['"x"', '"y"']
    assert any(line.endswith("Binding 3") for line in lines)  # block 0 is the default one
    assert [line.split()[-1] for line in lines if "OpAccessChain" in line] == ["%int_1", "%int_0"]


def test_halves_of_vectors_are_packed_one_by_one() -> None:
    b, out = built()
    pair = b.vec([b.imm_float(1.0), b.imm_float(2.0)])
    other = b.vec([b.imm_float(3.0), b.imm_float(4.0)])
    found = b.channels(b.alu("pack_half_2x16_split", pair, other))
    b.store_var(out, b.vec([b.u2f32(x) for x in (*found, *found)]), 0b1111)
    before = clone_shader(b.shader)
    lines = written(b.shader)
    assert sum("PackHalf2x16" in line for line in lines) == 2
    run_passes(before, ["lower_vars_to_ssa", "lower_io"])
    outputs = interpret(before, Environment(1)).outputs
    before.unref()
    low, high = (0x3C00 | 0x4200 << 16), (0x4000 | 0x4400 << 16)
    values = [float(row.view("f4")[0]) for _, row in sorted(outputs.items())]
    assert values == [float(np.float32(n)) for n in (low, high, low, high)]


def test_the_size_of_a_workgroup_is_a_constant() -> None:
    b = Builder.shader_main(Stage.COMPUTE, "sizes")
    b.shader.info.workgroup_size = (5, 3, 1)
    var = b.shader.add_variable("w", t.vec(t.Base.UINT, 3), Mode.SHARED)
    b.store_var(var, b.intrinsic("load_workgroup_size"), 0b111)
    lines = written(b.shader)
    assert any(
        line.endswith("OpConstantComposite %v3uint %uint_5 %uint_3 %uint_1") for line in lines
    )


def _kernel() -> Builder:
    return Builder.shader_main(Stage.KERNEL, "kernel")


def _with(make: Callable[[Builder], object]) -> Callable[[], Builder]:
    def built_with() -> Builder:
        b, _ = built()
        make(b)
        return b

    return built_with


def _input(b: Builder, type: t.Type, **facts: Any) -> Variable:
    return b.shader.add_variable("i", type, Mode.SHADER_IN, location=VaryingSlot.VAR0, **facts)


def _of_no_place(b: Builder) -> None:
    var = b.shader.add_variable("lost", t.vec(t.Base.FLOAT, 4), Mode.SHADER_IN, location=-1)
    b.load_var(var)


def _by_number(b: Builder) -> None:
    b.tex("txs", [("lod", b.imm_int(0))], t.Dim.D2, num_components=2, dest_type="int32")


def _through_a_cast(b: Builder) -> None:
    b.load_deref(b.deref_cast(b.imm_int(0), Mode.SHARED, t.UINT, 4))


def _without_storage(b: Builder) -> None:
    b.load_var(b.shader.add_variable("p", t.UINT, Mode.UNIFORM, offset=-1))


def _every_element(b: Builder) -> None:
    var = b.shader.add_variable("a", t.array(t.UINT, 3), Mode.SHADER_TEMP)
    b.load_deref(b.deref_wildcard(b.deref_var(var)))


def _all_at_once(b: Builder) -> None:
    var = b.shader.add_variable("a", t.array(t.UINT, 3), Mode.SHADER_TEMP)
    b.intrinsic("load_deref", [b.deref_var(var).result], num_components=3, bit_size=32)


def _added(b: Builder, op: str = "inc_wrap") -> None:
    deref = b.deref_var(b.shader.add_variable("w", t.UINT, Mode.SHARED))
    b.intrinsic("deref_atomic", [deref.result, b.imm_int(1)], bit_size=32, atomic_op=op)


UNWRITTEN: list[tuple[str, Callable[[], Builder]]] = [
    # what is said, who makes the shader
    ("a kernel is no stage of Vulkan's", _kernel),
    ("lost has no place \\(location -1\\)", _with(_of_no_place)),
    ("a texture lookup by number has no variable", _with(_by_number)),
    ("a pointer to uint leads to no variable", _with(_through_a_cast)),
    ("no storage class for uniform variable p", _with(_without_storage)),
    ("a array_wildcard deref cannot be written down", _with(_every_element)),
    ("a load of uint.* is too much at once", _with(_all_at_once)),
    ("no atomic inc_wrap", _with(_added)),
    ("intrinsic load_alpha_ref has no counterpart",
     _with(lambda b: b.intrinsic("load_alpha_ref"))),
    ("opcode frcp_8bit has no counterpart", _with(lambda b: b.alu("frcp_8bit", b.imm_float(1.0)))),
]  # fmt: skip


@pytest.mark.parametrize(("message", "make"), UNWRITTEN)
def test_what_modules_have_not(message: str, make: Callable[[], Builder]) -> None:
    b = make()
    with pytest.raises(SpirvError, match=message):
        nir_to_spirv(b.shader)
    b.shader.unref()


FLOAT_ATOMICS = {
    "fadd": ("OpAtomicFAddEXT %float", "OpCapability AtomicFloat32AddEXT"),
    "fmax": ("OpAtomicFMaxEXT %float", "OpCapability AtomicFloat32MinMaxEXT"),
    "fmin": ("OpAtomicFMinEXT %float", "OpCapability AtomicFloat32MinMaxEXT"),
    "umax": ("OpAtomicUMax %ulong", "OpCapability Int64Atomics"),
    "imin": ("OpAtomicSMin %long", "OpCapability Int64Atomics"),
}


@pytest.mark.parametrize("op", FLOAT_ATOMICS)
def test_atomics_of_floats_and_wide_numbers(op: str) -> None:
    base = {"f": t.Base.FLOAT, "u": t.Base.UINT64, "i": t.Base.INT64}[op[0]]
    b = Builder.shader_main(Stage.COMPUTE, "atomics")
    b.shader.info.workgroup_size = (1, 1, 1)
    deref = b.deref_var(b.shader.add_variable("w", t.scalar(base), Mode.SHARED))
    bits = 32 if op[0] == "f" else 64
    one = b.imm_float(1.0) if op[0] == "f" else b.imm_int(1, 64)
    b.intrinsic("deref_atomic", [deref.result, one], bit_size=bits, atomic_op=op)
    module = nir_to_spirv(b.shader)
    b.shader.unref()
    lines = [" ".join(line.split()) for line in disassemble(module).splitlines()]
    instruction, capability = FLOAT_ATOMICS[op]
    assert any(f"= {instruction} " in line for line in lines)
    assert capability in lines
    assert undeclared(module) == set()


def test_each_buffer_of_counters_is_declared_once() -> None:
    text = (
        COLOUR
        + """layout(binding = 0, offset = 0) uniform atomic_uint a;
        layout(binding = 0, offset = 4) uniform atomic_uint b;
        layout(binding = 3, offset = 0) uniform atomic_uint d;
        void main() { c = vec4(atomicCounterIncrement(a) + atomicCounterIncrement(b)
            + atomicCounterIncrement(d) + atomicCounter(a)); }"""
    )
    lines = written(front_end("frag", text))
    decorations = [line for line in lines if line.startswith(("OpDecorate", "OpMemberDecorate"))]
    assert len(set(decorations)) == len(decorations)
    assert sum("gallette.atomic_counters" in line for line in lines) == 2
    assert sum(line.endswith("ArrayStride 4") for line in lines) == 2
    bindings = [line.split()[-1] for line in lines if " Binding " in line]
    assert sorted(bindings) == ["0", "3"]
