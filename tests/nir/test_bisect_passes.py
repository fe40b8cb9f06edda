"""`nir-opt --bisect` names the change that breaks a shader, `--reduce` leaves the cause."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from random_shaders import make_shader

from gallette.cli import execute
from gallette.compiler.nir.algebraic.options import RuleGroup
from gallette.compiler.nir.algebraic.pattern import Rule
from gallette.compiler.nir.ir.instrs import Alu
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.queries import instrs_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.rewrite import passes
from gallette.compiler.nir.rewrite.matching import RuleSet
from gallette.compiler.nir.rewrite.structural import STRUCTURAL_RULES
from gallette.compiler.nir.run.pass_runner import PASSES, PassLog, nir_pass, run_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.reduce import reduce_text


@pytest.fixture(autouse=True)
def wrong_pass() -> Iterator[None]:
    """A pass that takes the larger for the smaller."""

    @nir_pass("test_takes_max_for_min")
    def wrong(shader: Shader) -> bool:
        """Wrong."""
        found = [
            instr
            for impl in shader.impls()
            for instr in instrs_of(impl)
            if isinstance(instr, Alu) and instr.op.name == "imin"
        ]
        for instr in found:
            instr.op = OPCODES["imax"]
        return bool(found)

    yield
    del PASSES["test_takes_max_for_min"]


@pytest.fixture
def shader(tmp_path: Path) -> Path:
    """A long shader whose result depends on one `imin`."""
    text = print_shader(make_shader(random.Random(5), derefs=False))
    extra = """        32 %first = @load_input (%zero) (location=VARYING.VAR5)
        32 %second = @load_input (%zero) (location=VARYING.VAR6)
        32 %least = imin %first, %second
        @store_output (%least, %zero) (location=FRAG.DATA7, write_mask=x)
}
"""
    path = tmp_path / "long.nir"
    head, _, _ = text.rstrip().rpartition("}")
    path.write_text(f"{head}        32 %zero = load_const (0)\n{extra}", encoding="utf-8")
    parse(path.read_text(encoding="utf-8"))
    return path


PASSES_TO_RUN = "copy_prop,dce,test_takes_max_for_min,cse,constant_folding,dce"


def test_bisecting_names_the_wrong_change(shader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["nir-opt", str(shader), "-p", PASSES_TO_RUN, "--bisect"]) == 1
    out = capsys.readouterr().out
    assert "breaks it: test_takes_max_for_min" in out
    assert "+        32" in out
    assert "imax" in out


def test_bisecting_right_passes_finds_nothing(
    shader: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["nir-opt", str(shader), "-p", "copy_prop,dce,cse,dce", "--bisect"]) == 0
    assert "no pass breaks the shader" in capsys.readouterr().out


def test_bisecting_names_the_wrong_rule(
    shader: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    group = RuleGroup("wrong", "Of two the smaller is the larger.", [])
    group.rules.append((("imin", "a", "b"), ("imax", "a", "b")))
    rules = RuleSet([Rule(group.rules[0], 0, group)], STRUCTURAL_RULES)
    monkeypatch.setattr(passes, "rule_set", lambda *choice: rules)
    assert execute(["nir-opt", str(shader), "-p", "dce,simplify,cse", "--bisect"]) == 1
    out = capsys.readouterr().out
    assert "breaks it: simplify" in out
    assert re.search(
        r"^rule \d+ of \d+ .*: wrong/imin: Of two the smaller is the larger\.$", out, re.M
    )


def test_a_command_may_judge(shader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = "! grep -q imax {}"
    assert (
        execute(["nir-opt", str(shader), "-p", PASSES_TO_RUN, "--bisect", "--check", command]) == 1
    )
    assert "breaks it: test_takes_max_for_min" in capsys.readouterr().out


def test_reducing_leaves_the_cause_alone(shader: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["nir-opt", str(shader), "-p", PASSES_TO_RUN, "--reduce"]) == 1
    reduced = parse(capsys.readouterr().out)
    names = [i.op.name for i in instrs_of(reduced.entry) if isinstance(i, Alu)]
    assert names == ["imin"]
    assert reduced.count_instrs() <= 5


@pytest.fixture
def other_passes() -> Iterator[None]:
    """One that leaves a shader that is not valid, and one that fails at the first product."""

    @nir_pass("test_breaks_types")
    def breaks(shader: Shader) -> bool:
        """Wrong."""
        adds = [i for i in instrs_of(shader.entry) if isinstance(i, Alu) and i.op.name == "imin"]
        for instr in adds:
            instr.op = OPCODES["ilt"]
        return bool(adds)

    @nir_pass("test_fails")
    def fails(shader: Shader) -> bool:
        """Wrong."""
        if any(isinstance(i, Alu) and i.op.name == "imin" for i in instrs_of(shader.entry)):
            raise AssertionError("no room for the smaller")
        return False

    yield
    del PASSES["test_breaks_types"], PASSES["test_fails"]


def test_a_shader_that_is_not_valid_is_broken(
    shader: Path, other_passes: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        execute(["nir-opt", str(shader), "-p", "copy_prop,test_breaks_types,cse", "--bisect"]) == 1
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("breaks it: test_breaks_types")
    assert lines[1].startswith("invalid shader")


@pytest.mark.parametrize("before", ["", "dce,cse,"])
def test_a_pass_that_fails_is_found_too(
    shader: Path, other_passes: None, capsys: pytest.CaptureFixture[str], before: str
) -> None:
    assert execute(["nir-opt", str(shader), "-p", f"{before}test_fails,copy_prop", "--bisect"]) == 1
    head, problem, *changes = capsys.readouterr().out.splitlines()
    log = PassLog()
    run_passes(parse(shader.read_text(encoding="utf-8")), before.split(",")[:-1], log)
    number = len(log.made_progress()) + 1
    assert (number > 1) == (before != "")
    assert head == f"change {number} of {number} breaks it: test_fails"
    assert problem == "test_fails fails: AssertionError: no room for the smaller"
    assert changes == []


def test_what_makes_a_pass_fail_is_reduced(
    shader: Path, other_passes: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["nir-opt", str(shader), "-p", "test_fails", "--reduce"]) == 1
    told = capsys.readouterr()
    names = [i.op.name for i in instrs_of(parse(told.out).entry) if isinstance(i, Alu)]
    assert names == ["imin"]
    before, after = len(shader.read_text(encoding="utf-8")), len(told.out)
    assert told.err.startswith(f"{before} -> {after} characters, ")


def test_what_nothing_breaks_is_not_reduced(
    shader: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["nir-opt", str(shader), "-p", "copy_prop,dce", "--reduce"]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "no pass breaks the shader\n")


def test_runs_take_lanes_seeds_inputs_and_a_tolerance(
    shader: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Equal inputs: the smaller is the larger.
    slots = {f"{slot}.{c}": [1.0] for slot in (37, 38) for c in range(4)}
    inputs = tmp_path / "inputs.json"
    inputs.write_text(f'{{"inputs": {slots}}}'.replace("'", '"'), encoding="utf-8")
    arguments = [str(shader), "-p", "test_takes_max_for_min", "--run", "--lanes", "8"]
    assert execute(["nir-opt", *arguments, "--seeds", "3,4"]) == 1
    assert "seed 3" in capsys.readouterr().err
    assert execute(["nir-opt", *arguments, "--inputs", str(inputs)]) == 0
    assert execute(["nir-opt", *arguments, "--tolerance", "1e9"]) == 0


def test_runs_take_uniforms_and_system_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The larger is the smaller only where both are equal: as the file says."""
    shader, inputs = tmp_path / "shader.nir", tmp_path / "inputs.json"
    shader.write_text(
        """shader fragment "values"
var uniform int u
impl main {
    32 %zero = load_const (0)
    32 %d = deref_var &u (uniform int)
    32 %a = @load_deref (%d)
    32 %b = @load_sample_id ()
    32 %m = imin %a, %b
    @store_output (%m, %zero) (location=FRAG.DATA0, write_mask=x)
}
""",
        encoding="utf-8",
    )
    arguments = [str(shader), "-p", "test_takes_max_for_min", "--run", "--inputs", str(inputs)]
    for sample, status in ((5, 0), (6, 1)):
        inputs.write_text(
            f'{{"uniforms": {{"u": [5]}}, "system_values": {{"sample_id": {sample}}}}}',
            encoding="utf-8",
        )
        assert execute(["nir-opt", *arguments]) == status
        capsys.readouterr()


def test_text_is_reduced_by_lines_blocks_tokens_and_numbers() -> None:
    text = "".join(f"int a{i} = {i};\n" for i in range(50)) + "void f() { if (x) { bug(17); } }\n"
    done = reduce_text(text, lambda t: "bug(" in t and t.count("(") == t.count(")"))
    assert done.value == "bug()"
    assert done.tried < 400
