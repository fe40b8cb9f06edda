"""Source lines go through LLVM: into debug locations, and out again as comments."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("llvmlite")

from gallette.drivers.jit.explain import stages_of
from gallette.drivers.jit.llvm.codegen import explain
from gallette.inspector.examples import FRAGMENT, VERTEX
from gallette.inspector.programs import way_of

MODULE = """define void @main(ptr noalias %p) nounwind {
entry:
br label %start
start:
; load, line 3
%v1 = load float, ptr %p
%v2 = fmul float %v1, %v1
; of no line
%v3 = getelementptr float, ptr %p, i64 1
; store, line 5
%v4 = fadd float %v2, 1.0
store float %v4, ptr %v3
ret void
}
"""


def test_each_instruction_ends_in_the_line_it_was_made_for() -> None:
    written, optimised, assembly = stages_of(MODULE)
    assert written == MODULE
    told = dict(re.findall(r"= (\w+) .*?(?:  ; line (\d+))?$", optimised, re.M))
    assert told == {"load": "3", "fmul": "3", "getelementptr": "", "fadd": "5"}
    assert "dbg" not in optimised and "DILocation" not in optimised
    lines = [int(n) for n in re.findall(r"  # line (\d+)$", assembly, re.M)]
    assert set(lines) == {3, 5}
    assert lines == sorted(lines)
    assert ".debug" not in assembly and ".loc" not in assembly


def instructions(assembly: str) -> list[str]:
    lines = (line.split("  # line")[0] for line in assembly.splitlines())
    return [line for line in lines if line.startswith("\t") and line[1] not in ".#"]


def test_locations_change_no_instruction() -> None:
    plain = explain(MODULE)[1]
    assert instructions(stages_of(MODULE)[2]) == instructions(plain)


def test_a_page_knows_the_lines_of_machine_code() -> None:
    ways, _ = way_of({"vertex": VERTEX, "fragment": FRAGMENT}, "jit")
    fragment = next(way for way in ways if way.stage == "fragment")
    forms = fragment.variants[0]["code"].split("; ---- ")
    for form in forms[1:]:
        known = {int(n) for n in re.findall(r" //@(\d+)$", form, re.M)}
        assert 6 in known and known <= {6, 7}, form.splitlines()[0]
    assert "line 6 //@6" not in forms[-1]  # it is told once
