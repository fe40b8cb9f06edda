"""A slice of every fuzzer: none of its cases is a finding, and each outcome comes up.

A few cases each: `make fuzz`, which continuous integration runs too, tries many more. Where there
is a native OpenGL, a program is compared with it and with its own execution call by call.
"""

from __future__ import annotations

from importlib import import_module

import pytest

from fuzz.__main__ import FUZZERS
from fuzz.harness import main, run_here
from tests.conftest import native_context

F = 4  # OpenGL programs of one family

SLICES = """
gl                --without-native                    | 0:8:4         | agree
gl                --kind beside                       | 2:4           | agree
gl                --kind threads                      | 0:1           | agree
gl native                                             | 400:404:4     | agree
gl native         --kind fixed                        | 400:404:4     | agree
gl native         --kind modern                       | 400:404:4     | agree
gl native         --kind shared                       | 400:404:4     | agree
glsl-text                                             | 1000:1300     | compile, are rejected
glsl-programs                                         | 5000:5004     | agree
glsl-programs     --driver jit                        | 5000:5004     | agree
glsl-programs     --driver simd                       | 5000:5004     | agree
glsl-programs native --driver numpipe --native        | 6000:6004     | agree
spirv-words                                           | 11:100        | accepted, refused
spirv-names                                           | 0:2           | alike
kernels                                               | 0:24          | ran, refused
machines          --driver simd                       | 34:36         | registers of mask_aware
machines          --driver tiler --rules              | 34:35         | registers of late
machine-code                                          | 3000:3002     | spills of simd, 32 registers
captures                                              | 0:30          | looked at, refused, replayed
program-binaries  --driver numpipe                    | 0:60          | linked, refused
program-binaries  --driver jit                        | 0:60          | linked, refused
program-binaries  --driver simd                       | 0:60          | linked, refused
program-binaries  --driver tiler                      | 0:60          | linked, refused
compile-bombs     --driver numpipe --only nir --size 5 | 0:2          | drawn
"""
"""fuzzer and options | first:last:step of the numbers | what becomes of some"""

ROWS = [tuple(part.strip() for part in line.split("|")) for line in SLICES.strip().splitlines()]


@pytest.mark.parametrize(
    "what,numbers,wanted",
    [
        pytest.param(*row, id=f"{' '.join(row[0].split())} {row[1]}", marks=marks)
        for row in ROWS
        for marks in [[pytest.mark.native] if "native" in row[0].split() else []]
    ],
)
def test_cases_end_as_they_must(what: str, numbers: str, wanted: str) -> None:
    name, *arguments = what.split()
    if arguments[:1] == ["native"]:
        native_context().release()
        del arguments[0]
    if "jit" in arguments or name == "spirv-names":
        pytest.importorskip("llvmlite")
    kind = import_module(f"fuzz.{FUZZERS[name][0]}").FUZZER
    found = run_here(kind, range(*map(int, numbers.split(":"))), *arguments)
    assert {each for each in wanted.split(", ") if not any(each in key for key in found)} == set()


APART = {"hostile": ("--steps", "20"), "pointers": ("--calls", "200")}
"""fuzzers that watch all of their process, or may end it"""


@pytest.mark.parametrize("name", APART)
def test_cases_in_a_process_of_their_own(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    kind = import_module(f"fuzz.{FUZZERS[name][0]}").FUZZER
    assert main(name, kind, ["--count", "1", "--jobs", "1", *APART[name]]) == 0
    assert "1 cases" in capsys.readouterr().out


def test_every_fuzzer_has_a_slice() -> None:
    assert {row[0].split()[0] for row in ROWS} | APART.keys() == FUZZERS.keys()
