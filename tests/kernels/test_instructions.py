"""Kernels written as SPIR-V: instructions and ways of control that compilers of C seldom choose."""

from __future__ import annotations

import numpy as np

from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import Module
from gallette.compiler.spirv.read.translate import spirv_to_nir
from gallette.compute import Program

HEAD = """OpCapability Addresses
OpCapability Kernel
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %kernel "kernel"
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%uint_0 = OpConstant %uint 0
%uint_1 = OpConstant %uint 1
%uint_7 = OpConstant %uint 7
%ptr = OpTypePointer CrossWorkgroup %uint
%fn = OpTypeFunction %void %ptr
"""
BODY = """%kernel = OpFunction %void None %fn
%o = OpFunctionParameter %ptr
%entry = OpLabel
"""


def module(code: str, constants: str = "") -> Module:
    return assemble(f"{HEAD}{constants}{BODY}{code}OpFunctionEnd\n")


WORD = 0xFFFFFFFF
VALUE = WORD - 4
"""what the instructions below get: 4294967291, or -5"""
ATOMICS = {
    "IIncrement": lambda x: x + 1,
    "IDecrement": lambda x: x - 1,
    "Exchange": lambda x: VALUE,
    "IAdd": lambda x: x + VALUE,
    "ISub": lambda x: x - VALUE,
    "SMin": lambda x: VALUE,
    "UMin": lambda x: min(x, VALUE),
    "SMax": lambda x: x,
    "UMax": lambda x: max(x, VALUE),
    "And": lambda x: x & VALUE,
    "Or": lambda x: x | VALUE,
    "Xor": lambda x: x ^ VALUE,
}
"""What each makes of a number below 2**31."""


def test_every_atomic_of_integers_changes_memory_and_gives_what_was_there() -> None:
    constants, code = [f"%value = OpConstant %uint {VALUE}"], []
    for n, name in enumerate(ATOMICS):
        operand = "" if name.endswith("crement") else "%value"
        constants += [f"%a{n} = OpConstant %ulong {n}", f"%b{n} = OpConstant %ulong {n + 16}"]
        code += [
            f"%p{n} = OpInBoundsPtrAccessChain %ptr %o %a{n}",
            f"%q{n} = OpInBoundsPtrAccessChain %ptr %o %b{n}",
            f"%old{n} = OpAtomic{name} %uint %p{n} %uint_1 %uint_0 {operand}",
            f"OpStore %q{n} %old{n}",
        ]
    o = np.arange(100, 132, dtype=np.uint32)
    wanted = o.copy()
    for n, change in enumerate(ATOMICS.values()):
        wanted[n], wanted[n + 16] = change(100 + n) & WORD, 100 + n
    with Program(module("\n".join([*code, "OpReturn\n"]), "\n".join([*constants, ""]))) as program:
        program.kernel("kernel")(o, grid=1)
    assert o.tolist() == wanted.tolist()


def steps(way: int, n: int) -> int:
    """What the kernel below computes: a loop that a way out of a switch leaves."""
    sum = 0
    for i in range(n):
        which = (i * 5 + way) % 8
        if which == 7:
            break
        sum += 1 if which == 1 else 10 if which == 3 else 100
        sum *= 3
    return sum


def test_paths_of_a_switch_meet_once_though_one_leaves_the_loop() -> None:
    constants = """%uint_3 = OpConstant %uint 3
        %uint_5 = OpConstant %uint 5
        %uint_8 = OpConstant %uint 8
        %uint_10 = OpConstant %uint 10
        %uint_100 = OpConstant %uint 100
        %at_1 = OpConstant %ulong 1
        %at_2 = OpConstant %ulong 2
    """
    code = """%way_at = OpInBoundsPtrAccessChain %ptr %o %at_1
        %n_at = OpInBoundsPtrAccessChain %ptr %o %at_2
        %way = OpLoad %uint %way_at
        %n = OpLoad %uint %n_at
        OpBranch %head
        %head = OpLabel
        %i = OpPhi %uint %uint_0 %entry %next %meet
        %sum = OpPhi %uint %uint_0 %entry %tripled %meet
        %on = OpULessThan %bool %i %n
        OpBranchConditional %on %body %done
        %body = OpLabel
        %fives = OpIMul %uint %i %uint_5
        %turned = OpIAdd %uint %fives %way
        %which = OpUMod %uint %turned %uint_8
        OpSwitch %which %other 1 %one 3 %three 7 %done
        %one = OpLabel
        %plus_1 = OpIAdd %uint %sum %uint_1
        OpBranch %meet
        %three = OpLabel
        %plus_10 = OpIAdd %uint %sum %uint_10
        OpBranch %meet
        %other = OpLabel
        %plus_100 = OpIAdd %uint %sum %uint_100
        OpBranch %meet
        %meet = OpLabel
        %more = OpPhi %uint %plus_1 %one %plus_10 %three %plus_100 %other
        %tripled = OpIMul %uint %more %uint_3
        %seen = OpAtomicIAdd %uint %n_at %uint_1 %uint_0 %uint_0
        %next = OpIAdd %uint %i %uint_1
        OpBranch %head
        %done = OpLabel
        %found = OpPhi %uint %sum %head %sum %body
        OpStore %o %found
        OpReturn
    """
    made = module(code, constants)
    with Program(made) as program:
        for way in range(8):
            for n in (0, 1, 4, 9):
                o = np.array([0, way, n], np.uint32)
                program.kernel("kernel")(o, grid=1)
                assert o.tolist() == [steps(way, n), way, n]
    shader = spirv_to_nir(made)
    text = print_shader(shader)
    shader.unref()
    assert text.count("deref_atomic") == 1
