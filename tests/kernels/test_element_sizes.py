"""Elements of each size, alone and in vectors, through buffers and workgroup memory of each driver.

An invocation reads its element, puts it where its neighbour finds it, and adds the two; one in four
writes nothing.
"""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.spirv.assembler import assemble
from gallette.compute import Local, Program

KERNEL = """OpCapability Addresses
OpCapability Kernel
OpCapability Int64
OpCapability Int16
OpCapability Int8
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main "main" %place %lane
OpDecorate %place BuiltIn GlobalInvocationId
OpDecorate %lane BuiltIn LocalInvocationId
%void = OpTypeVoid
%bool = OpTypeBool
%u64 = OpTypeInt 64 0
%u32 = OpTypeInt 32 0
%u16 = OpTypeInt 16 0
%u8 = OpTypeInt 8 0
{vector}
%three = OpTypeVector %u64 3
%ids = OpTypePointer Input %three
%array = OpTypePointer CrossWorkgroup {element}
%shared = OpTypePointer Workgroup {element}
%fn = OpTypeFunction %void %array %array %shared
%place = OpVariable %ids Input
%lane = OpVariable %ids Input
%u64_0 = OpConstant %u64 0
%u64_1 = OpConstant %u64 1
%u64_3 = OpConstant %u64 3
%group = OpConstant %u32 2
%fence = OpConstant %u32 272
%main = OpFunction %void None %fn
%to = OpFunctionParameter %array
%from = OpFunctionParameter %array
%between = OpFunctionParameter %shared
%start = OpLabel
%xyz = OpLoad %three %place
%i = OpCompositeExtract %u64 %xyz 0
%uvw = OpLoad %three %lane
%mine = OpCompositeExtract %u64 %uvw 0
%neighbour = OpBitwiseXor %u64 %mine %u64_1
%p = OpInBoundsPtrAccessChain %array %from %i
%x = OpLoad {element} %p Aligned {bytes}
%q = OpInBoundsPtrAccessChain %shared %between %mine
OpStore %q %x Aligned {bytes}
OpControlBarrier %group %group %fence
%r = OpInBoundsPtrAccessChain %shared %between %neighbour
%y = OpLoad {element} %r Aligned {bytes}
%z = OpIAdd {element} %x %y
%rest = OpBitwiseAnd %u64 %i %u64_3
%some = OpINotEqual %bool %rest %u64_0
OpSelectionMerge %end None
OpBranchConditional %some %then %end
%then = OpLabel
%s = OpInBoundsPtrAccessChain %array %to %i
OpStore %s %z Aligned {bytes}
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
"""


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
@pytest.mark.parametrize("bits", [8, 16, 32, 64])
def test_elements_arrive(driver: str, bits: int) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    random = np.random.default_rng(bits)
    for width in (1, 2, 4):
        vector = f"%vector = OpTypeVector %u{bits} {width}" if width > 1 else ""
        element = "%vector" if width > 1 else f"%u{bits}"
        text = KERNEL.format(vector=vector, element=element, bytes=bits // 8 * width)
        with Program(assemble(text), driver) as program:
            kernel = program.kernel("main")
            for groups, block in ((5, 8), (2, 20), (1, 6)):
                count = groups * block
                given = random.integers(0, 2**64, (count, width), np.uint64).astype(f"u{bits // 8}")
                found = np.full_like(given, 77)
                kernel(found, given, Local(given[:block].nbytes), grid=groups, block=block)
                wanted = given + given.reshape(-1, 2, width)[:, ::-1].reshape(given.shape)
                wanted[::4] = 77
                assert np.array_equal(found, wanted), (width, block)
