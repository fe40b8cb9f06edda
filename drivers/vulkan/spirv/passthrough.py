"""The tessellation control shader of programs without one, which passes patches on unchanged.

OpenGL allows such programs and Vulkan does not.

Tessellation levels come from push constants, as the application set them.
"""

from __future__ import annotations

from functools import cache

from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.spirv.emit.builder import ModuleBuilder
from gallette.compiler.spirv.emit.types import Types
from gallette.compiler.spirv.grammar import value_of
from gallette.compiler.spirv.module import words_of

from .inputs import MAX_PATCH
from .interface import DriverInterface
from .program import Program
from .system import PUSHED

__all__ = ["with_control_shader"]


def with_control_shader(programs: tuple[Program, ...], patch: int) -> tuple[Program, ...]:
    """The programs of a draw with a control shader before the evaluation shader."""
    at = next(i for i, program in enumerate(programs) if program.stage is Stage.TESS_EVAL)
    evaluation = programs[at]
    slots = tuple(slot for slot in evaluation.inputs if slot < VaryingSlot.PATCH0)
    written = set(programs[at - 1].outputs)
    control = _control_shader(tuple(slot for slot in slots if slot in written), patch)
    return (*programs[:at], control, *programs[at:])


@cache
def _control_shader(slots: tuple[int, ...], patch: int) -> Program:
    """One invocation for each vertex copies these slots and the position."""
    b = ModuleBuilder()
    b.capability("Shader", "Tessellation")
    b.put("memory_model", "OpMemoryModel", 0, value_of("MemoryModel", "GLSL450"))
    interface = DriverInterface(b, Types(b), Shader(Stage.TESS_CTRL))
    main, function = b.id(), b.type("OpTypeFunction", b.void())
    int32, f32, vec4 = b.int_type(32, True), b.float_type(), interface.vec4()
    b.do("OpFunction", b.void(), main, 0, function)
    b.do("OpLabel", b.id())
    number = b.op("OpLoad", int32, interface.builtin("InvocationId", int32))
    pairs = [
        (interface.slot("Input", slot, "f", MAX_PATCH), interface.slot("Output", slot, "f", patch))
        for slot in slots
    ]
    pairs.append(
        (
            interface.builtin_array("Input", "Position", vec4, MAX_PATCH),
            interface.builtin_array("Output", "Position", vec4, patch),
        )
    )
    for source, target in pairs:
        there = b.op("OpAccessChain", b.pointer("Input", vec4), source, number)
        here = b.op("OpAccessChain", b.pointer("Output", vec4), target, number)
        b.do("OpStore", here, b.op("OpLoad", vec4, there))
    word = PUSHED["levels"]
    for name, count in (("TessLevelOuter", 4), ("TessLevelInner", 2)):
        levels = interface.builtin_array("Output", name, interface.array_of(f32, count), 0, True)
        for i in range(count):
            pushed = b.op("OpAccessChain", b.pointer("PushConstant", b.int_type()),
                          interface.push(), b.uint(0), b.uint(word))  # fmt: skip
            word += 1
            level = b.op("OpBitcast", f32, b.op("OpLoad", b.int_type(), pushed))
            here = b.op("OpAccessChain", b.pointer("Output", f32), levels, b.uint(i))
            b.do("OpStore", here, level)
    b.do("OpReturn")
    b.do("OpFunctionEnd")
    model = value_of("ExecutionModel", "TessellationControl")
    b.put("entry", "OpEntryPoint", model, main, *words_of("main"), *interface.used)
    b.mode(main, "OutputVertices", patch)
    return Program.of(Stage.TESS_CTRL, b.module(), interface.marks, bindings={}, inputs=slots,
                      outputs=slots)  # fmt: skip
