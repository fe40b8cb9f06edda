"""Modules of a few instructions: what they compute in lanes, and what is wrong with them.

Types are called by their letter and width (`%f32`, `%i16`, `%u64`, `%bool`), vectors of them by
`x` and a count (`%f32x4`); constants of 32-bit integers are `%n0` to `%n16`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot, VertAttrib
from gallette.compiler.nir.run.pass_runner import run_passes
from gallette.compiler.nir.run.pipeline import LOWER_IO
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import Module, read_module
from gallette.compiler.spirv.read.translate import spirv_to_nir

Array = npt.NDArray[Any]
_SCALARS = {f"u{bits}": f"OpTypeInt {bits} 0" for bits in (8, 16, 32, 64)}
_SCALARS |= {f"i{bits}": f"OpTypeInt {bits} 1" for bits in (8, 16, 32, 64)}
_SCALARS |= {f"f{bits}": f"OpTypeFloat {bits}" for bits in (16, 32, 64)}
_SCALARS["bool"] = "OpTypeBool"
_TYPES = [f"%{name} = {text}" for name, text in _SCALARS.items()]
_TYPES += [f"%{name}x{n} = OpTypeVector %{name} {n}" for name in _SCALARS for n in (2, 3, 4, 8)]
_TYPES += [f"%n{n} = OpConstant %u32 {n}" for n in range(17)]
_PASSES = ("inline_functions", "lower_array_deref_of_vec", "lower_vars_to_ssa", *LOWER_IO)
HEAD = """OpCapability Shader
OpCapability Kernel
{first}
%glsl = OpExtInstImport "GLSL.std.450"
%opencl = OpExtInstImport "OpenCL.std"
OpMemoryModel {memory}
OpEntryPoint {model} %main "main" {interface}
{modes}
{decorations}
%void = OpTypeVoid
%fn = OpTypeFunction %void
"""
BODY = """
%main = OpFunction %void None {fn}
%start = OpLabel
{code}
OpFunctionEnd
"""


def module(
    code: str = "OpReturn",
    globals: str = "",
    *,
    model: str = "Vertex",
    interface: str = "",
    modes: str = "",
    decorations: str = "",
    memory: str = "Logical GLSL450",
    first: str = "",
    fn: str = "%fn",
    behind: str = "",
) -> Module:
    """A module as it is read of its bytes."""
    head = HEAD.format(
        model=model,
        interface=interface,
        modes=modes,
        decorations=decorations,
        memory=memory,
        first=first,
    )
    text = "\n".join([head, *_TYPES, globals, BODY.format(code=code, fn=fn), behind])
    return read_module(assemble(text).to_bytes())


def read(code: str = "OpReturn", globals: str = "", **options: str) -> Shader:
    """The module's entry point as NIR."""
    return spirv_to_nir(module(code, globals, **options))


def _given(name: str, type: str, words: list[str]) -> list[str]:
    """Instructions that make an argument of 32-bit words."""
    bits = int(type[1:])
    unsigned = f"u{bits}"
    if bits == 64:
        made = [f"%{name}_w = OpCompositeConstruct %u32x2 {words[0]} {words[1]}"]
        return [*made, f"%{name} = OpBitcast %{type} %{name}_w"]
    if bits < 32:
        made = [f"%{name}_w = OpUConvert %{unsigned} {words[0]}"]
        return [*made, f"%{name} = OpBitcast %{type} %{name}_w"]
    return [f"%{name} = OpBitcast %{type} {words[0]}"]


def _taken(type: str) -> tuple[list[str], list[str]]:
    """Instructions that make 32-bit words of the scalar `%r`, and the words' names."""
    if type == "bool":
        return ["%r_w = OpSelect %u32 %r %n1 %n0"], ["%r_w"]
    bits = int(type[1:])
    if bits == 64:
        parts = [f"%r_{k} = OpCompositeExtract %u32 %r_v {k}" for k in range(2)]
        return ["%r_v = OpBitcast %u32x2 %r", *parts], ["%r_0", "%r_1"]
    if bits < 32:
        return [f"%r_n = OpBitcast %u{bits} %r", "%r_w = OpUConvert %u32 %r_n"], ["%r_w"]
    return ["%r_w = OpBitcast %u32 %r"], ["%r_w"]


def computed(
    code: str,
    result: str,
    given: Mapping[str, Array],
    globals: str = "",
    *,
    environment: Callable[..., Environment] = Environment,
    inputs: Mapping[tuple[int, int], Array] | None = None,
    interface: str = "",
    decorations: str = "",
    model: str = "Fragment",
    modes: str = "OpExecutionMode %main OriginUpperLeft",
    **options: str,
) -> Array:
    """What `%r`, a scalar of type `result`, is in each lane; `given` are values by name.

    What is given lies in the inputs from location 0 on, further `inputs` in slots of their own.
    """
    inputs = dict(inputs or {})
    first = VertAttrib.GENERIC0 if model == "Vertex" else VaryingSlot.VAR0
    lines: list[str] = []
    ports: list[str] = []
    for name, values in given.items():
        type = f"{values.dtype.kind}{8 * values.dtype.itemsize}"
        wide = values.view(f"u{values.dtype.itemsize}").astype(np.uint64)
        words = []
        for half in range(2 if type.endswith("64") else 1):
            k = len(ports)
            ports.append(f"%in{k}")
            lines.append(f"%word{k} = OpLoad %u32 %in{k}")
            words.append(f"%word{k}")
            part = (wide >> np.uint64(32 * half)).astype(np.uint32)
            inputs[int(first) + k, 0] = part
        lines += _given(name, type, words)
    taken, names = _taken(result)
    stores = [f"OpStore %out{k} {name}" for k, name in enumerate(names)]
    outs = [f"%out{k}" for k in range(len(names))]
    types = ["%in_ = OpTypePointer Input %u32", "%out_ = OpTypePointer Output %u32"]
    types += [f"{port} = OpVariable %in_ Input" for port in ports]
    types += [f"{out} = OpVariable %out_ Output" for out in outs]
    located = [f"OpDecorate {port} Location {k}" for k, port in enumerate(ports)]
    located += [f"OpDecorate {port} Flat" for port in ports]
    located += [f"OpDecorate {out} Location {k}" for k, out in enumerate(outs)]
    shader = read(
        "\n".join([*lines, code, *taken, *stores, "OpReturn"]),
        "\n".join([*types, globals]),
        model=model,
        interface=" ".join([*ports, *outs, interface]),
        modes=modes,
        decorations="\n".join([*located, decorations]),
        **options,
    )
    run_passes(shader, _PASSES)
    lanes = len(next(iter(given.values())))
    with np.errstate(all="ignore"):
        outputs = interpret(shader, environment(lanes, inputs=inputs)).outputs
    shader.unref()
    words = [np.asarray(outputs[key]).view(np.uint32) for key in sorted(outputs)]
    if result == "bool":
        return words[0].astype(np.bool_)
    size = int(result[1:]) // 8
    wide = words[0].astype(np.uint64)
    if size == 8:
        wide |= words[1].astype(np.uint64) << np.uint64(32)
    return wide.astype(f"u{size}").view(f"{result[0]}{size}")


def assert_same(found: Array, wanted: Array, ulps: int = 0) -> None:
    """Equal, NaNs too; floats may be a few units in the last place apart."""
    wanted = np.asarray(wanted)
    assert found.dtype == wanted.dtype
    if found.dtype.kind != "f":
        assert found.tolist() == wanted.tolist()
        return
    bits = f"i{found.dtype.itemsize}"
    near = np.abs(found.view(bits) - wanted.view(bits)) <= ulps
    same = near | (found == wanted) | (np.isnan(found) & np.isnan(wanted))
    assert same.all(), (found[~same], wanted[~same])
