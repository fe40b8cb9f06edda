"""OpenCL C through clang's SPIR-V, on numpipe, under every address format: NumPy's results."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.spirv.assembler import assemble
from gallette.compiler.spirv.module import Module, read_module
from gallette.compute import Local, Program
from tests.kernels.kernel_checks import CHECKS
from tests.kernels.kernel_checks import ONE_BUFFER as MORE_ONE_BUFFER

HERE = Path(__file__).parent
FORMATS = {
    "addresses": "",
    "index and offset": "global=index_offset32",
    "bounded addresses": "global=bounded64",
    "generic everywhere": "global=generic62 shared=generic62 function_temp=generic62",
    "fat everywhere": "global=fat shared=fat function_temp=fat generic=fat",
    "fat generic": "global=index_offset32 shared=index_offset32 generic=fat",
}
Check = Callable[[Any, np.random.Generator], None]
KERNELS: dict[str, Check] = {}


def kernel(check: Check) -> Check:
    KERNELS[check.__name__] = check
    return check


@kernel
def saxpy(k: Any, rng: np.random.Generator) -> None:
    y, x = rng.random(64, np.float32), rng.random(64, np.float32)
    expected = np.where(np.arange(64) < 60, np.float32(2) * x + y, y)
    k(y, x, np.float32(2), np.int32(60), grid=2, block=32)
    assert np.allclose(y, expected, rtol=1e-6)


@kernel
def reduce(k: Any, rng: np.random.Generator) -> None:
    out, data = np.zeros(4, np.float32), rng.random(256, np.float32)
    k(out, data, Local(64 * 4), grid=4, block=64)
    assert np.allclose(out, data.reshape(4, 64).sum(1), rtol=1e-5)


@kernel
def histogram(k: Any, rng: np.random.Generator) -> None:
    out, data = np.zeros(16, np.uint32), rng.integers(0, 1000, 500).astype(np.uint32)
    k(out, data, Local(64), np.uint32(500), grid=2, block=32)
    assert np.array_equal(out, np.bincount(data & 15, minlength=16))


@kernel
def scan(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(0, 9, 64).astype(np.int32)
    expected = data.reshape(2, 32).cumsum(1).ravel()
    k(data, Local(128), grid=2, block=32)
    assert np.array_equal(data, expected)


@kernel
def matmul(k: Any, rng: np.random.Generator) -> None:
    a, b = rng.random((32, 32), np.float32), rng.random((32, 32), np.float32)
    c = np.zeros((32, 32), np.float32)
    k(c, a, b, np.int32(32), grid=(4, 4), block=(8, 8))
    assert np.allclose(c, a @ b, rtol=1e-4)


@kernel
def bitonic(k: Any, rng: np.random.Generator) -> None:
    data = rng.integers(0, 99, 64).astype(np.int32)
    expected = np.sort(data)
    k(data, Local(256), grid=1, block=64)
    assert np.array_equal(data, expected)


@kernel
def bodies(k: Any, rng: np.random.Generator) -> None:
    body = np.dtype(
        [("pos", "f4", 3), ("pad", "f4"), ("mass", "f4"), ("id", "i4"), ("tail", "i4", 2)]
    )
    data = np.zeros(16, body)
    data["mass"] = np.arange(16)
    k(data, np.float32(0.5), grid=1, block=16)
    assert np.allclose(data["pos"], np.arange(16)[:, None] * 0.5 * np.array([1, 2, 3]))
    assert np.array_equal(data["id"], np.arange(16) * 2)


@kernel
def stencil(k: Any, rng: np.random.Generator) -> None:
    data = rng.random((20, 30), np.float32)
    out = np.zeros_like(data)
    k(out, data, np.int32(30), np.int32(20), grid=(4, 3), block=(8, 8))
    expected = data.copy()
    around = data[1:-1, :-2] + data[1:-1, 2:] + data[:-2, 1:-1] + data[2:, 1:-1]
    expected[1:-1, 1:-1] = 0.25 * around
    assert np.allclose(out, expected, rtol=1e-5)


@kernel
def generic_sum(k: Any, rng: np.random.Generator) -> None:
    data, out = rng.random(16, np.float32), np.zeros(16, np.float32)
    k(out, data, Local(64), np.int32(4), grid=1, block=16)
    total = data[:4].sum()
    expected = [10.0 if i & 3 == 2 else 2 * total if i & 1 else total for i in range(16)]
    assert np.allclose(out, expected, rtol=1e-5)


@kernel
def collatz(k: Any, rng: np.random.Generator) -> None:
    data = np.arange(1, 41, dtype=np.uint32)
    expected = []
    for value in data.tolist():
        steps = 0
        while value != 1:
            value, steps = (3 * value + 1 if value & 1 else value // 2), steps + 1
        expected.append(steps)
    k(data, np.uint32(40), grid=2, block=32)
    assert data.tolist() == expected


@kernel
def mandel(k: Any, rng: np.random.Generator) -> None:
    out = np.zeros((16, 24), np.int32)
    k(out, np.int32(24), np.float32(0.125), grid=(3, 2), block=(8, 8))
    y, x = np.mgrid[0:16, 0:24].astype(np.float32)
    c = (x * 0.125 - 2) + 1j * (y * 0.125 - 1)
    z, expected = np.zeros_like(c), np.full((16, 24), 50)
    for step in range(50):
        z = np.where(np.abs(z) <= 2, z * z + c, z)
        expected[(np.abs(z) > 2) & (expected == 50)] = step
    assert (out != expected).mean() < 0.02  # the border of the set is sensitive to rounding


@kernel
def chars(k: Any, rng: np.random.Generator) -> None:
    data = np.arange(64, dtype=np.uint8) * 5
    out = np.zeros_like(data)
    k(out, data, np.int16(30), grid=2, block=32)
    assert np.array_equal(out, data + 30)


@kernel
def vec4s(k: Any, rng: np.random.Generator) -> None:
    data = rng.random((16, 4), np.float32) - np.float32(0.5)
    out = np.zeros_like(data)
    k(out, data, grid=1, block=16)
    square = (data * data).sum(1)
    parts = [square, np.sqrt(square), np.maximum(data[:, 0], data[:, 1]), np.sqrt(abs(data[:, 3]))]
    assert np.allclose(out, np.stack(parts, 1), rtol=1e-5)


@kernel
def sw(k: Any, rng: np.random.Generator) -> None:
    data = np.arange(98, 130, dtype=np.int32)
    cases = {100: 110, 101: 302, 102: 101}
    expected = [cases.get(int(x), -int(x)) for x in data]
    k(data, grid=1, block=32)
    assert data.tolist() == expected


FILES = {"kernels": KERNELS, "more": CHECKS}
ONE_BUFFER = {"kernels": ("collatz", "mandel", "bodies", "sw"), "more": MORE_ONE_BUFFER}


def module(name: str = "kernels") -> Module:
    return assemble((HERE / f"{name}.spvasm").read_text(), f"{name}.spvasm")


@pytest.fixture(scope="module", params=FORMATS)
def programs(request: pytest.FixtureRequest) -> Iterator[dict[str, Program]]:
    made = {name: Program(module(name), formats=FORMATS[request.param]) for name in FILES}
    yield made
    for program in made.values():
        program.close()


def test_kernels(programs: dict[str, Program], request: pytest.FixtureRequest) -> None:
    """All with plain addresses; under each of the other formats two in five."""
    which = [*FORMATS].index(request.node.callspec.params["programs"])
    every = [(file, name) for file in FILES for name in FILES[file]]
    failed = {}
    for number, (file, name) in enumerate(every):
        if which == 0 or (number - which) % 5 in (0, 2):
            try:
                FILES[file][name](programs[file].kernel(name), np.random.default_rng(3))
            except Exception as error:
                failed[name] = repr(error)
    assert failed == {}


@pytest.mark.parametrize("file", FILES)
def test_one_buffer_is_enough_for_32_bit_offsets(file: str) -> None:
    with Program(module(file), formats="global=offset32") as program:
        for name in ONE_BUFFER[file]:
            FILES[file][name](program.kernel(name), np.random.default_rng(3))


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_from_source(level: str, file: str, tmp_path: Path) -> None:
    """OpenCL C compiles where clang and llvm-spirv are installed."""
    names = ("", "-15", "-14")
    pairs = ((shutil.which(f"clang{n}"), shutil.which(f"llvm-spirv{n}")) for n in names)
    clang, translator = next((p for p in pairs if p[0] and p[1]), (None, None))
    if clang is None or translator is None:
        pytest.skip("clang and llvm-spirv are not installed")
    bitcode, binary = tmp_path / "k.bc", tmp_path / "k.spv"
    flags = ["-cc1", "-no-opaque-pointers", "-triple", "spir64", level, "-cl-std=CL2.0"]
    flags += ["-finclude-default-header", "-emit-llvm-bc", "-o", str(bitcode)]
    environment = dict(os.environ)
    subprocess.run([clang, *flags, str(HERE / f"{file}.cl")], check=True, env=environment)
    subprocess.run([translator, str(bitcode), "-o", str(binary)], check=True, env=environment)
    with Program(read_module(binary.read_bytes())) as program:
        for name, check in FILES[file].items():
            check(program.kernel(name), np.random.default_rng(3))


def test_the_driver_says_what_a_pointer_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without other wishes the formats of the caps are used."""

    def loads() -> set[str]:
        with Program(module("more")) as program:
            CHECKS["generic_struct"](program.kernel("generic_struct"), np.random.default_rng(3))
            shader = program.kernel("generic_struct").shader((16, 1, 1))
            found = {
                f"{i.op.name}{i.result.bit_size}"
                for block in shader.entry.blocks()
                for i in block.instrs()
                if isinstance(i, Alu)
            }
            shader.unref()
            return found

    assert "ishl64" in loads() or "imul64" in loads()
    formats = "global=fat shared=fat function_temp=fat generic=fat"
    monkeypatch.setenv("GALLETTE_CAPS", f"address_formats={formats}")
    assert not {"iadd64", "ior64"} & loads()


def test_unknown_formats_are_refused() -> None:
    with pytest.raises(InputError, match="no address format is called 'thin'"):
        Program(module(), formats="global=thin")


def test_hostile_launches() -> None:
    """Null pointers, short arrays and wrong arguments: a defined result or an error."""
    with Program(module()) as program:
        k = program.kernel("saxpy")
        y, x = np.ones(8, np.float32), np.ones(8, np.float32)
        k(y, None, np.float32(2), np.int32(64), grid=2, block=32)  # null reads zero
        assert (y == 1).all()
        k(y, x, np.float32(2), np.int32(1 << 20), grid=4, block=32)  # beyond the end: nowhere
        assert (y == 3).all()
        for arguments in (
            (y, x),
            (y, x, 2, np.int32(1)),
            (y, Local(4), np.float32(1), np.int32(1)),
        ):
            with pytest.raises(GalletteError):
                k(*arguments, grid=1, block=1)
        for grid, block in (((1, 1, 1, 1), 1), (1, 0), (1, 4096), (-1, 1)):
            with pytest.raises(GalletteError):
                k(y, x, np.float32(1), np.int32(1), grid=grid, block=block)
        with pytest.raises(GalletteError, match="unknown kernel"):
            program.kernel("nothing")
