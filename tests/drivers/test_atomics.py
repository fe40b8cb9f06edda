"""Every atomic operation on every driver, in buffers and in workgroup memory, lane after lane."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.intrinsics import combine
from gallette.compiler.nir.ir import Def, Shader, Stage
from gallette.compiler.nir.ir.intrinsics import ATOMIC_OPS
from gallette.compute.device import Device, Launch

LANES, PLACES = 24, 5
LEFT_OUT = 7
"""A lane that does nothing."""
SWAP = "compare and swap"


def shader_of(op: str, space: str, bits: int) -> Shader:
    """Buffers: memory, addresses, data, what to compare with, and what was found."""
    b = Builder.shader_main(Stage.COMPUTE, "atomics")
    lane, size = b.intrinsic("load_local_invocation_index"), bits // 8
    at = b.imul(lane, b.imm_int(size))

    def loaded(buffer: int) -> Def:
        return b.intrinsic("load_ssbo", [b.imm_int(buffer), at], bit_size=bits)

    b.shader.info.workgroup_size = (LANES, 1, 1)
    memory = [b.imm_int(0)]
    if space == "shared":
        memory = []
        b.shader.info.shared_bytes = PLACES * size
        b.push_if(b.ult(lane, b.imm_int(PLACES)))
        b.intrinsic("store_shared", [loaded(0), at], write_mask=1)
        b.pop_if()
        b.intrinsic("barrier", [], execution_scope="workgroup", memory_scope="workgroup")
    b.push_if(b.ine(lane, b.imm_int(LEFT_OUT)))
    where = b.intrinsic("load_ssbo", [b.imm_int(1), b.imul(lane, b.imm_int(4))], bit_size=32)
    operands = [*memory, b.imul(where, b.imm_int(size)), loaded(2)]
    if op == SWAP:
        name, operands = f"{space}_atomic_swap", [*operands[:-1], loaded(3), loaded(2)]
    else:
        name = f"{space}_atomic"
    found = b.intrinsic(name, operands, bit_size=bits, atomic_op="xchg" if op == SWAP else op)
    b.intrinsic("store_ssbo", [found, b.imm_int(4), at], write_mask=1)
    b.pop_if()
    if space == "shared":
        b.intrinsic("barrier", [], execution_scope="workgroup", memory_scope="workgroup")
        b.push_if(b.ult(lane, b.imm_int(PLACES)))
        after = b.intrinsic("load_shared", [at], bit_size=bits)
        b.intrinsic("store_ssbo", [after, b.imm_int(0), at], write_mask=1)
        b.pop_if()
    return b.shader


def numbers(op: str, rng: np.random.Generator, count: int, bits: int) -> np.ndarray:
    """Small integers (so that wraps, minima and matches happen), also from the end; floats."""
    kind = f"u{bits // 8}"
    if op.startswith("f"):
        return (rng.integers(-9, 9, count) / 4).astype(f"f{bits // 8}").view(kind)
    values = rng.integers(0, 4, count).astype(kind)
    values[rng.random(count) < 0.3] ^= values.dtype.type((1 << bits) - 1)
    return values


@pytest.mark.parametrize("driver", ["numpipe", "jit", "simd", "tiler"])
@pytest.mark.parametrize("space", ["ssbo", "shared"])
@pytest.mark.parametrize("bits", [32, 64])
def test_one_lane_after_the_other(driver: str, space: str, bits: int) -> None:
    if driver == "jit":
        pytest.importorskip("llvmlite")
    device = Device(driver)
    for op in (*ATOMIC_OPS, SWAP):
        rng = np.random.default_rng(len(op))
        memory = numbers(op, rng, PLACES, bits)
        places = rng.integers(0, PLACES, LANES).astype(np.uint32)
        data, compared = (numbers(op, rng, LANES, bits) for _ in range(2))
        old, wanted = np.zeros_like(data), memory.copy()
        for lane, at in enumerate(places):
            if lane == LEFT_OUT:
                continue
            before, value = int(wanted[at]), int(data[lane])
            old[lane] = before
            if op != SWAP:
                wanted[at] = combine(op, before, value, bits)
            elif before == compared[lane]:
                wanted[at] = value
        found = np.zeros_like(data)
        arrays = dict(enumerate((memory, places, data, compared, found)))
        handle = device.create(shader_of(op, space, bits))
        device.run(handle, Launch((1, 1, 1), (LANES, 1, 1), arrays=arrays))
        device.delete(handle)
        assert found.tolist() == old.tolist(), op
        assert memory.tolist() == wanted.tolist(), op
    device.close()
