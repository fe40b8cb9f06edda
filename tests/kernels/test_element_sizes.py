"""Elements of each size, alone and in vectors, through buffers and workgroup memory of each driver.

An invocation reads its element, puts it where its neighbour finds it, and adds the two; one in four
writes nothing.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.spirv.assembler import assemble
from gallette.compute import Local, Program

KERNEL = Path(__file__).with_name("elements.txt").read_text()


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
@pytest.mark.parametrize("bits, widths", [(8, (1, 4)), (16, (2,)), (32, (1, 4)), (64, (1, 2))])
def test_elements_arrive(driver: str, bits: int, widths: tuple[int, ...]) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    random = np.random.default_rng(bits)
    for width in widths:
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
