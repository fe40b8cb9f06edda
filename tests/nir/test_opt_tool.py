"""`gallette nir-opt`: passes on files, results, and mistakes reported as one message."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from nir_cases import read_cases

from gallette.cli import execute
from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.run.pass_runner import all_passes
from gallette.compiler.nir.run.pass_spec import parse_passes
from gallette.compiler.nir.run.reference import own_passes
from gallette.compiler.nir.text.parser import parse

SHADER = """shader fragment "tool"
impl main {
    32 %zero = load_const (0)
    32 %x = @load_input (%zero) (location=VARYING.VAR0)
    32 %a = fneg %x
    32 %b = fneg %a
    @store_output (%b, %zero) (location=FRAG.DATA0, write_mask=x)
}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "shader.nir"
    path.write_text(SHADER, encoding="utf-8")
    return path


def test_every_pass_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert execute(["nir-opt", "--list"]) == 0
    out = capsys.readouterr().out
    assert all(name in out for name in all_passes())


def test_what_is_no_text_is_one_message(tmp_path: Path) -> None:
    file = tmp_path / "picture.nir"
    file.write_bytes(b"shader \xff\xfe")
    with pytest.raises(InputError, match=r"picture\.nir is not text"):
        execute(["nir-opt", str(file)])


@pytest.mark.parametrize(
    "given", ["{", "[1]", '{"inputs": {"37": [1.0]}}', '{"inputs": {"a.b": [1.0]}}']
)
def test_inputs_that_are_none_are_one_message(file: Path, tmp_path: Path, given: str) -> None:
    inputs = tmp_path / "inputs.json"
    inputs.write_text(given, encoding="utf-8")
    with pytest.raises(InputError, match=r"inputs\.json: "):
        execute(["nir-opt", str(file), "--run", "--inputs", str(inputs)])


def test_the_text_may_come_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(SHADER))
    assert execute(["nir-opt", "-", "-p", "algebraic,dce"]) == 0
    assert parse(capsys.readouterr().out).count_instrs() == 3
    monkeypatch.setattr("sys.stdin", io.StringIO("nonsense"))
    with pytest.raises(GalletteError, match=r"^<stdin>:1:1: "):
        execute(["nir-opt", "-"])


def test_options_are_read_by_the_type_of_their_default() -> None:
    steps = parse_passes(
        "peephole_select(limit=3, expensive_ok=true), lower_io(modes=shader_in|shader_out),"
        "algebraic(lower=fdiv+fpow), inline_uniforms(values=((16, 1065353216),)), optimize"
    )
    assert [step.name for step in steps][-1] == "optimize"
    assert steps[0].options == {"limit": 3, "expensive_ok": True}
    assert steps[1].options == {"modes": Mode.SHADER_IN | Mode.SHADER_OUT}
    assert steps[2].options == {"lower": "fdiv+fpow"}
    assert steps[3].options == {"values": ((16, 1065353216),)}


def test_every_pass_has_textual_cases() -> None:
    tested: set[str] = set()
    for path in (Path(__file__).parent / "passes").glob("*.nir"):
        for case in read_cases(path):
            if not case.error:
                tested.update(step.name for step in parse_passes(case.run))
    assert sorted(set(own_passes()) - tested) == []
