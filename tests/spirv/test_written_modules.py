"""What GLSL becomes in modules: what each feature declares and which instruction it is.

Each module is valid for the standard validator, and computes there and back what it did before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conversions import run_tool, undeclared

from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.link.program import LinkOptions
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir import types as t
from gallette.compiler.nir.ir.instrs import Deref
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
from tests.cases import Case, each

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
NOT_IN_VULKAN = ("sizes",)


@each(Path(__file__).with_name("written.txt"))
def test_what_a_feature_is_in_a_module(case: Case) -> None:
    suffix, _, text = case.text.partition("\n")
    shader = front_end(suffix, text)
    before = clone_shader(shader)
    module = nir_to_spirv(shader)
    assert undeclared(module) == set()
    lines = [" ".join(line.split()) for line in disassemble(module).splitlines()]
    for line in case.answers:
        parts = line.split("{}")
        assert any(_has(found, parts) for found in lines), (line, "\n".join(lines))
    target = "spv1.5" if case.name in NOT_IN_VULKAN else "vulkan1.2"
    run_tool("spirv-val", "--target-env", target, "-", data=module.to_bytes())
    after = spirv_to_nir(read_module(module.to_bytes()))
    for one in (before, after):
        to_driver_form(one)
    if "clock" not in case.name:
        for seed in range(2):
            one, other = (
                interpret(shader, Environment(seed=seed, lanes=8)) for shader in (before, after)
            )
            assert one.same_as(other) == ""
    for one in (shader, before, after):
        one.unref()


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


def _moved_pointer(b: Builder) -> None:
    var = b.shader.add_variable("a", t.array(t.UINT, 3), Mode.SHADER_TEMP)
    start = b.deref_array_imm(b.deref_var(var), 0)
    moved = Deref("ptr_as_array", start.modes, start.type)
    for src in (start.result, b.imm_int(1)):
        moved.add_src(src)
    b.insert(moved)
    b.load_deref(moved)


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
    ("a ptr_as_array deref cannot be written down", _with(_moved_pointer)),
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
