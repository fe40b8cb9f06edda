"""What the user reads: exact texts, places and suggestions."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any

import pytest

import gallette.compiler.glsl
from gallette.cli import execute
from gallette.compiler.glsl import CompileOptions, api, compile_shader
from gallette.compiler.glsl.check import context
from gallette.compiler.glsl.diagnostics import Diagnostic, Log
from gallette.compiler.nir.ir import Stage
from tests.cases import Case, each, sections
from tests.glsl.shaders import errors

FILE = Path(__file__).with_name("diagnostics.txt")


def log(source: str, stage: Stage = Stage.FRAGMENT) -> str:
    return compile_shader(stage, source, CompileOptions(api="compat"), ["a.frag"]).info_log


@each(FILE, "logs")
def test_logs(case: Case) -> None:
    assert log(case.source).splitlines() == list(filter(None, case.answers))


def told(source: str) -> list[Diagnostic]:
    return compile_shader(Stage.FRAGMENT, source, CompileOptions(api="compat")).diagnostics


@each(FILE, "hints")
def test_hints(case: Case) -> None:
    found = [d for d in told(case.source) if d.severity == "error"]
    assert [d.hint for d in found[:1]] == [case.answer], [str(d) for d in found]


@each(FILE, "operands")
def test_operands_that_do_not_fit_say_why(case: Case) -> None:
    shown, why = case.answers
    text = log(case.source)
    assert f":5:2: error: '{shown}' is not possible\n" in text
    assert text.rstrip().endswith(why)
    assert text.count("error:") == 1


@pytest.mark.parametrize("bindless", [False, True])
@each(FILE, "handles")
def test_handles_are_constructed_where_they_exist(case: Case, bindless: bool) -> None:
    extension = "#extension GL_ARB_bindless_texture : require" if bindless else ""
    there = not errors(case.source.replace("BINDLESS", extension))
    assert there == (bindless and case.answer == "there")


def marked(d: Diagnostic) -> str:
    """The line, with what is underlined between marks."""
    assert d.span is not None
    line, first, last = d.source_line, d.span.column - 1, d.span.end_column - 1
    last = max(last, first + 1)
    return f"{line[:first]}<<{line[first:last]}>>{line[last:]}"


@each(FILE, "warnings")
def test_what_is_suspicious_is_a_warning(case: Case) -> None:
    message, plain = case.answers
    (found,) = told(case.source.replace("<<", "").replace(">>", ""))
    assert (found.severity, found.message) == ("warning", message)
    assert marked(found) == next(s for s in case.source.splitlines() if "<<" in s)
    assert told(case.source.replace(case.text, plain.replace("\\n", "\n"))) == []


def test_every_warning_is_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the table above; those of `laxities` by tests/glsl/test_laxities.py."""
    root = Path(gallette.compiler.glsl.__file__).resolve().parent
    reached: set[tuple[str, int]] = set()

    def watch(kind: type[Any], name: str) -> None:
        own = getattr(kind, name)

        def method(self: Any, *args: Any, **named: Any) -> None:
            frame = sys._getframe(1)
            file = Path(frame.f_code.co_filename).resolve().relative_to(root).as_posix()
            reached.add((file, frame.f_lineno))
            own(self, *args, **named)

        monkeypatch.setattr(kind, name, method)

    watch(Log, "warning")
    watch(context.Checker, "warn")
    monkeypatch.setattr(api, "_recent", {})
    monkeypatch.setattr(context, "_memories", {})
    for case in sections(FILE)["warnings"].cases:
        told(case.source.replace("<<", "").replace(">>", ""))
    calls = {
        (path.relative_to(root).as_posix(), node.lineno)
        for path in root.rglob("*.py")
        if path.name != "laxities.py"
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("warn", "warning")
    }
    assert calls == reached


def test_a_failed_declaration_does_not_cascade() -> None:
    text = "void main() { float a = nope; a = a + 1.0; a = 2.0; }"
    assert log(text).count("error") == 1


def test_line_directives_name_the_place() -> None:
    text = "#version 330\n#line 100 7\nvoid main() { x = 1; }\n"
    assert log(text).startswith("7:100:15: error: 'x' is not declared")


def test_a_spliced_line_points_into_the_original() -> None:
    text = "void main() { float \\\n  a = x; }\n"
    assert log(text).startswith("a.frag:2:7: error: 'x' is not declared\n    a = x; }\n")


def test_very_long_lines_are_shown_in_part() -> None:
    text = "void main() { " + "float a; " * 5000 + "}"
    assert max(len(line) for line in log(text).splitlines()) < 200


def test_at_most_twenty_errors() -> None:
    text = "void main() {\n" + "x = 1;\n" * 100 + "}\n"
    result = compile_shader(Stage.FRAGMENT, text)
    assert sum(d.severity == "error" for d in result.diagnostics) == 20


@pytest.mark.parametrize("depth", [199, 300, 30_000])
def test_deep_nesting_is_answered(depth: int) -> None:
    for text in (
        f"void main() {{ float a = {'(' * depth}1.0{')' * depth}; }}",
        f"void main() {{ float a = {'- ' * depth}1.0; }}",
        f"void main() {'{' * depth}{'}' * depth}",
        f"void main() {{ {'if (true) ' * depth}; }}",
    ):
        result = compile_shader(Stage.FRAGMENT, text)
        assert not (result.ok and depth > 128)
        assert result.ok or "nested more than 128 levels deep" in result.info_log


def test_a_long_chain_of_operators_is_no_nesting() -> None:
    text = f"void main() {{ float a = {'1.0 + ' * 20_000}1.0; gl_FragColor = vec4(a); }}"
    assert compile_shader(Stage.FRAGMENT, text).ok


def test_the_tool_reports_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.frag"
    path.write_text("void main() { x = 1; }")
    assert execute(["glslc", str(path), "--json"]) == 2
    report = json.loads(capsys.readouterr().out)
    assert report["files"][0]["diagnostics"] == [
        {
            "severity": "error",
            "message": "'x' is not declared",
            "file": str(path),
            "line": 1,
            "column": 15,
            "end_column": 16,
        }
    ]


def test_the_tool_links_and_prints_nir(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "good.frag"
    path.write_text("void main() { gl_FragColor = vec4(1.0); }")
    assert execute(["glslc", str(path), "--nir"]) == 0
    assert "store_output" in capsys.readouterr().out


def test_what_was_in_order_for_one_qualifier_is_not_for_another() -> None:
    """Declarations like one before are not checked again; one of another kind is."""
    assert log("#version 330\nvec4 a;\nvec4 b;\nvoid main() { b = a; }\n") == ""
    assert log("#version 330\nvec4 a;\ninvariant vec4 b;\nvoid main() { b = a; }\n") == (
        "a.frag:3:1: error: 'invariant' cannot be used on variables without a storage qualifier\n"
        "  invariant vec4 b;\n"
        "  ^~~~~~~~~\n"
        "  it is for outputs, inputs\n"
    )
    flat = log("#version 330\nvec4 a;\nflat vec4 b;\nvoid main() { b = a; }\n")
    assert "it is for inputs, outputs" in flat


def test_what_was_in_order_is_not_when_a_block_has_the_name() -> None:
    """The name of a block is taken, also for a declaration otherwise like one before."""
    source = "#version 330\nuniform vec4 a;\nuniform B { vec4 q; } b;\nuniform vec4 B;\n"
    assert "'B' is the name of a block" in log(source)
