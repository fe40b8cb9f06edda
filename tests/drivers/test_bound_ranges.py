"""Offsets outside of bound ranges: reads give zero, and writes are dropped."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.ir import Shader, Stage
from gallette.compute.device import Device, Launch

LENGTHS = (4, 7, 15, 16, 19, 31, 64, 71)
OFFSETS = np.unique(
    [
        base + step
        for base in (0, 4, 8, 16, 32, 64, 72, 1 << 31, 1 << 32)
        for step in (-16, -9, -8, -4, -1, 0, 1, 2, 5)
        if 0 <= base + step < 1 << 32
    ]
).astype(np.uint32)
DRIVERS = ["numpipe", "jit"]
KINDS = ["ssbo", "ubo", "shared"]


def shader_of(kind: str, bits: int, parts: int, lanes: int, lane: int | None = None) -> Shader:
    """Buffers: memory, offsets, what is found there. A lane each, or all the same one."""
    b = Builder.shader_main(Stage.COMPUTE, "ranges")
    me = b.intrinsic("load_local_invocation_index")
    size = bits // 8
    b.shader.info.workgroup_size = (lanes, 1, 1)
    which = me if lane is None else b.imm_int(lane)
    at = b.intrinsic("load_ssbo", [b.imm_int(1), b.imul(which, b.imm_int(4))])
    if kind == "shared":
        b.shader.info.shared_bytes = SHARED
        b.push_if(b.ult(me, b.imm_int(SHARED)))
        byte = b.intrinsic("load_ssbo", [b.imm_int(0), me], bit_size=8)
        b.intrinsic("store_shared", [byte, me], write_mask=1)
        b.pop_if()
        b.intrinsic("barrier", [], execution_scope="workgroup", memory_scope="workgroup")
    block = [] if kind == "shared" else [b.imm_int(0)]
    found = b.intrinsic(f"load_{kind}", [*block, at], num_components=parts, bit_size=bits)
    to = b.imul(me, b.imm_int(size * parts))
    mask = (1 << parts) - 1
    b.intrinsic("store_ssbo", [found, b.imm_int(2), to], write_mask=mask)
    return b.shader


SHARED = 24


def expected(memory: np.ndarray, offset: int, size: int, parts: int) -> bytes:
    found = b""
    for part in range(parts):
        at = offset // size * size + part * size
        inside = at + size <= len(memory)
        found += memory[at : at + size].tobytes() if inside else bytes(size)
    return found


def run(device: Device, shader: Shader, launch: Launch) -> None:
    handle = device.create(shader)
    device.run(handle, launch)
    device.delete(handle)


@pytest.fixture(params=DRIVERS)
def device(request: pytest.FixtureRequest) -> Device:
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    made = Device(request.param)
    request.addfinalizer(made.close)
    return made


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("bits", "parts"), [(8, 1), (16, 2), (32, 1), (32, 4), (64, 2)])
def test_what_is_outside_reads_as_zero(device: Device, kind: str, bits: int, parts: int) -> None:
    size, lanes = bits // 8, len(OFFSETS)
    for length in (SHARED,) if kind == "shared" else LENGTHS:
        memory = np.arange(1, length + 1, dtype=np.uint8)
        found = np.zeros((lanes, size * parts), np.uint8)
        launch = Launch((1, 1, 1), (lanes, 1, 1), {0: memory})
        launch.arrays = {0: memory, 1: OFFSETS.copy(), 2: found}
        run(device, shader_of(kind, bits, parts, lanes), launch)
        for row, offset in zip(found, OFFSETS.tolist(), strict=True):
            wanted = expected(memory, offset, size, parts)
            assert row.tobytes() == wanted, (length, hex(offset))


@pytest.mark.parametrize("kind", KINDS)
def test_all_lanes_at_one_place(device: Device, kind: str) -> None:
    memory = np.arange(1, SHARED + 1, dtype=np.uint8)
    handle = device.create(shader_of(kind, 32, 2, SHARED, 0))
    for offset in OFFSETS:
        found = np.zeros((SHARED, 8), np.uint8)
        launch = Launch((1, 1, 1), (SHARED, 1, 1), {0: memory})
        launch.arrays = {0: memory, 1: np.array([offset]), 2: found}
        device.run(handle, launch)
        assert found.tobytes() == expected(memory, int(offset), 4, 2) * SHARED, hex(offset)
    device.delete(handle)


@pytest.mark.parametrize(("bits", "parts"), [(8, 1), (16, 2), (32, 3), (64, 2)])
def test_what_is_outside_is_not_written(device: Device, bits: int, parts: int) -> None:
    """One lane at a time: the last one wins otherwise."""
    b = Builder.shader_main(Stage.COMPUTE, "stores")
    at = b.intrinsic("load_ssbo", [b.imm_int(1), b.imm_int(0)])
    value = b.intrinsic("load_ssbo", [b.imm_int(2), b.imm_int(0)], bit_size=bits,
                        num_components=parts)  # fmt: skip
    mask = (1 << parts) - 1
    b.intrinsic("store_ssbo", [value, b.imm_int(0), at], write_mask=mask)
    handle, size = device.create(b.shader), bits // 8
    for length in LENGTHS:
        for offset in OFFSETS:
            memory = np.arange(1, length + 1, dtype=np.uint8)
            data = np.arange(200, 200 + size * parts, dtype=np.uint8)
            wanted = memory.copy()
            for part in range(parts):
                place = int(offset) // size * size + part * size
                if place + size <= length:
                    wanted[place : place + size] = data[part * size : (part + 1) * size]
            launch = Launch((1, 1, 1), (1, 1, 1))
            launch.arrays = {0: memory, 1: np.array([offset]), 2: data}
            device.run(handle, launch)
            assert memory.tolist() == wanted.tolist(), (length, hex(offset))
    device.delete(handle)
