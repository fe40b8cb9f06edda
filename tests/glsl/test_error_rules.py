"""Every error of the GLSL compiler: reached by a table of rules, with its message and its place.

`error_rules.txt` has a minimal pair for each error that `es_rules.txt` does not reach, and for each
rule of linking; the native GL rejects and accepts the same, or the entry says why not.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import gallette.compiler.glsl
from gallette.compiler.errors import Span
from gallette.compiler.glsl import (
    CompiledShader,
    CompileOptions,
    LinkedProgram,
    LinkOptions,
    api,
    compile_shader,
    link_program,
)
from gallette.compiler.glsl.check import context, declaration_rules
from gallette.compiler.glsl.diagnostics import Log
from gallette.compiler.glsl.parse.pp_expression import _Evaluator
from gallette.compiler.link.limits import Limits
from gallette.compiler.link.log import LinkLog
from gallette.compiler.nir.ir import Stage
from gallette.state_tracker import GL
from tests.conftest import native_context
from tests.glsl import test_es_rules
from tests.glsl.test_link_rules import KINDS

_FILE = Path(__file__).parent / "error_rules.txt"
_HEAD = re.compile(rf"({'|'.join(KINDS)}) (-|(?:\d|<<.*>>)+(?: \w+)?): *(.*)")
_CHOICE = re.compile(r"<<(.*?)\|(.*?)>>", re.DOTALL)
_TIMES = re.compile(r'@(\d+)"([^"]*)"')
_LIMIT = re.compile(r"\$\((\w+)(?: ([*/]) (\d+))?(?: ([+-]) (\d+))?\)")
_PLAIN = {"vertex": "void main() { gl_Position = vec4(0.0); }", "fragment": "void main() {}"}

LIMITS = Limits(
    max_vertex_attribs=16,
    max_combined_texture_image_units=48,
    max_combined_image_uniforms=48,
    max_combined_image_units_and_fragment_outputs=49,
    max_combined_atomic_counters=6144,
    max_fragment_atomic_counter_buffers=2,
    max_combined_atomic_counter_buffers=3,
    max_compute_work_group_size=(1024, 1024, 64),
)
"""Some of these are out of reach with what the compiler takes by itself."""


@dataclass(slots=True)
class Entry:
    line: int
    errors: list[str] = field(default_factory=list)
    shaders: list[tuple[str, str, str]] = field(default_factory=list)
    """stage, version, code"""
    options: dict[str, str] = field(default_factory=dict)
    native: str = ""
    """why the native GL takes or refuses both"""

    @property
    def name(self) -> str:
        return f"line {self.line}: {self.errors[0]}"

    @property
    def linked(self) -> bool:
        """Is it about linking, not about a shader?"""
        return not self.errors[0][0].isdigit()

    @property
    def whole(self) -> bool:
        """Is it about a program that can be linked?"""
        return self.linked or {"vertex", "fragment"} <= {stage for stage, _, _ in self.shaders}

    @property
    def api(self) -> str:
        version = self.shaders[0][1]
        if version == "100" or version.endswith("es"):
            return "es"
        old = version != "-" and int(version[:3]) < 140
        return "compat" if old or version.endswith("y") else "core"

    def captured(self, accepted: bool) -> list[str]:
        """Names for transform feedback."""
        names = self.options.get("captures", self.options.get("separately", ""))
        return chosen(names, accepted).split()

    def sources(self, accepted: bool, limits: Callable[[str], int]) -> list[tuple[str, str]]:
        """(stage, source) of the program; `limits` answers the value of a limit."""
        found = []
        for stage, version, code in self.shaders:
            head = "" if version == "-" else f"#version {version}"
            text = chosen(f"{head}\n{code}", accepted)
            if not text.endswith("\n-"):
                found.append((stage, with_limits(text, limits)))
        named = {stage for stage, _, _ in self.shaders}
        alone = "compute" in named or "bare" in self.options
        if not alone and (self.linked or "late" in self.options):
            head = f"#version {self.shaders[0][1]}\n"
            found += [(stage, head + code) for stage, code in _PLAIN.items() if stage not in named]
        return found


def chosen(text: str, accepted: bool) -> str:
    text = _CHOICE.sub(lambda m: m[2] if accepted else m[1], text)
    return _TIMES.sub(lambda m: m[2] * int(m[1]), text)


def with_limits(text: str, limits: Callable[[str], int]) -> str:
    """`$(LIMIT)`, `$(LIMIT / 4 + 1)` and their kin are numbers."""

    def number(m: re.Match[str]) -> str:
        value: int = limits(m[1])
        if m[2]:
            value = value * int(m[3]) if m[2] == "*" else value // int(m[3])
        return str(value + int(f"{m[4]}{m[5]}") if m[4] else value)

    return _LIMIT.sub(number, text)


def _entries() -> list[Entry]:
    found: list[Entry] = []
    between = True
    for number, line in enumerate(_FILE.read_text(encoding="ascii").splitlines(), 1):
        if not line or line[:2] in ("#", "# "):
            between = True
            continue
        if between:
            found.append(Entry(number))
            between = False
        entry = found[-1]
        word, _, rest = line.partition(" ")
        head = _HEAD.fullmatch(line)
        if head is not None:
            entry.shaders.append((head[1], head[2], head[3]))
        elif entry.shaders:  # another line of the shader
            stage, version, code = entry.shaders[-1]
            entry.shaders[-1] = stage, version, f"{code}\n{line}"
        elif word == "error":
            entry.errors.append(rest)
        elif word == "hint":
            entry.errors[-1] += f" / {rest}"
        elif word == "native":
            entry.native = rest
        else:
            assert word in ("captures", "separately", "separable", "bare", "late", "includes"), line
            entry.options[word] = rest
    return found


ENTRIES = _entries()


def compiled(entry: Entry, accepted: bool) -> list[CompiledShader]:
    text = entry.options.get("includes")
    include = None if text is None else lambda path, current: text
    options = CompileOptions(api=entry.api, limits=LIMITS, include=include)
    sources = entry.sources(accepted, lambda name: getattr(LIMITS, name))
    return [compile_shader(Stage(stage), text, options) for stage, text in sources]


def linked(entry: Entry, shaders: list[CompiledShader], accepted: bool) -> LinkedProgram:
    program = link_program(
        shaders,
        LinkOptions(
            limits=LIMITS,
            api=entry.api,
            optimize=False,
            xfb_varyings=entry.captured(accepted),
            xfb_mode="separate" if "separately" in entry.options else "interleaved",
            separable="separable" in entry.options,
        ),
    )
    for nir in program.shaders.values():
        nir.unref()
    return program


def errors_of(entry: Entry, accepted: bool) -> list[str]:
    """What is said to be wrong, with the place in the entry."""
    shaders = compiled(entry, accepted)
    found = compile_errors(shaders)
    if not found and (entry.linked or (accepted and entry.whole)):
        found = link_errors(linked(entry, shaders, accepted))
    return found


def compile_errors(shaders: list[CompiledShader]) -> list[str]:
    return [
        f"{place(d.span)} {d.message}" + (f" / {d.hint}" if d.hint else "")
        for shader in shaders
        for d in shader.diagnostics
        if d.severity == "error" and d.span is not None
    ]


def place(span: Span) -> str:
    """What is underlined: line, column, and the last column if there are several."""
    last = max(span.column, span.end_column - 1)
    return f"{span.line - 1}:{span.column}" + (f"-{last}" if last > span.column else "")


def link_errors(program: LinkedProgram) -> list[str]:
    lines = program.info_log.splitlines()
    return [line.removeprefix("error: ") for line in lines if line.startswith("error: ")]


def test_every_rule_holds() -> None:
    wrong = []
    for entry in ENTRIES:
        expected = [with_limits(e, lambda name: getattr(LIMITS, name)) for e in entry.errors]
        rejected, accepted = errors_of(entry, False), errors_of(entry, True)
        if rejected != expected or accepted:
            wrong.append(f"{entry.name}: {rejected} {accepted}")
    assert not wrong, "\n".join(wrong)


# -- the native GL ---------------------------------------------------------------------------------

_QUERIES = {
    "max_uniform_blocks": GL.MAX_FRAGMENT_UNIFORM_BLOCKS,
    "max_shader_storage_blocks": GL.MAX_FRAGMENT_SHADER_STORAGE_BLOCKS,
    "max_atomic_counter_bindings": GL.MAX_ATOMIC_COUNTER_BUFFER_BINDINGS,
}
"""Of limits that the API calls otherwise."""


def native_takes(gl: Any, entry: Entry, accepted: bool) -> bool:
    def limit(name: str) -> int:
        pname = _QUERIES.get(name) or getattr(GL, name.upper())
        return int(gl.get_integerv(pname)[0])

    program = gl.create_program()
    taken = True
    for stage, source in entry.sources(accepted, limit):
        shader = gl.create_shader(KINDS[stage])
        gl.shader_source(shader, source)
        gl.compile_shader(shader)
        taken &= bool(gl.get_shaderiv(shader, GL.COMPILE_STATUS)[0])
        gl.attach_shader(program, shader)
        gl.delete_shader(shader)
    if (entry.linked or "late" in entry.options) and taken:
        names = entry.captured(accepted)
        if names:
            separate = "separately" in entry.options
            mode = GL.SEPARATE_ATTRIBS if separate else GL.INTERLEAVED_ATTRIBS
            gl.transform_feedback_varyings(program, names, mode)
            taken = gl.get_error() == 0
        if "separable" in entry.options:
            gl.program_parameteri(program, GL.PROGRAM_SEPARABLE, 1)
        gl.link_program(program)
        taken &= bool(gl.get_programiv(program, GL.LINK_STATUS)[0])
    gl.delete_program(program)
    return taken


@pytest.mark.native
@pytest.mark.parametrize("profile", ["core", "compat", "es"])
def test_the_native_gl_has_the_same_rules(profile: str) -> None:
    gl = native_context(profile=profile, version=(3, 2) if profile == "es" else (4, 5))
    wrong = []
    for entry in ENTRIES:
        if entry.api != profile:
            continue
        expected = (False, True)
        if entry.native:
            word = entry.native.partition(":")[0]
            assert word in ("takes both", "refuses both"), entry.native
            expected = (word == "takes both",) * 2
        found = native_takes(gl, entry, False), native_takes(gl, entry, True)
        if found != expected:
            wrong.append(f"{entry.name}: {found}")
    gl.release()
    assert not wrong, "\n".join(wrong)


# -- no error without a rule -----------------------------------------------------------------------

_ROOT = Path(gallette.compiler.glsl.__file__).resolve().parents[1]
_FOLDERS = ("glsl", "link")
_METHODS = ("error", "abort")
_KINDS: tuple[type[Any], ...] = (Log, LinkLog, context.Checker, _Evaluator)
"""What has such methods."""

_LIMITS = "limits are asked for in tests/glsl/test_work_limits.py"
NOT_REACHED = {
    (
        "glsl/link/linker.py",
        "self.log.error(stop.log)",
    ): "passes on what tests/nir/test_scaling.py asks",
    (
        "glsl/link/linker.py",
        "self.log.error(str(stop))",
    ): "recursion through subroutines, of which the "
    "native GL dies: asked for in tests/glsl/test_linker.py",
    ("glsl/check/types.py", "c.abort(excess, node)"): _LIMITS,
    ("glsl/laxities.py", "log.error(message, loc, end)"): "in strict languages only: asked for in "
    "tests/glsl/test_laxities.py",
    (
        "glsl/parse/macros.py",
        "self.log.abort(f\"'##' makes a token of more than {MAX_PASTED} characters\", where)",
    ): _LIMITS,
}
"""(file, call) of errors that no entry can reach, and why."""


@cache
def _nodes() -> list[tuple[str, ast.Call | ast.ClassDef]]:
    """Calls and classes of the compiler and linker, each with its file."""
    return [
        (path.relative_to(_ROOT).as_posix(), node)
        for folder in _FOLDERS
        for path in sorted((_ROOT / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, (ast.Call, ast.ClassDef))
    ]


def _calls_of_error() -> Iterator[tuple[str, int, int, str]]:
    """File, first and last line, and text of each call of one of `_METHODS` in the compiler."""
    for where, node in _nodes():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if node.func.attr in _METHODS:
                yield where, node.lineno, node.end_lineno or node.lineno, ast.unparse(node)


def test_every_way_to_report_an_error_is_watched() -> None:
    found = {
        node.name
        for _, node in _nodes()
        if isinstance(node, ast.ClassDef)
        and any(isinstance(x, ast.FunctionDef) and x.name in _METHODS for x in node.body)
    }
    assert found == {kind.__name__ for kind in _KINDS}


def _run_all_tables() -> Iterator[bool]:
    """After each case: would it be noticed if any of the errors it gets were forgotten?

    Entries say which they get; what the other table rejects has to have that one error only.
    """
    for entry in ENTRIES:
        errors_of(entry, False)
        yield True
    options = CompileOptions(api="es")
    for case in test_es_rules.CASES:
        if not case.accepted:
            shader = compile_shader(test_es_rules.STAGES[case.stage][0], case.source, options)
            yield len(compile_errors([shader])) == 1


def test_every_error_is_reached_by_a_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    reached: set[tuple[str, int]] = set()
    calls: set[tuple[str, int]] = set()

    def watch(kind: type[Any], name: str) -> None:
        own = getattr(kind, name)

        def method(self: Any, *args: Any, **named: Any) -> Any:
            frame = sys._getframe(1)
            calls.add((frame.f_code.co_filename, frame.f_lineno))
            return own(self, *args, **named)

        monkeypatch.setattr(kind, name, method)

    for kind in _KINDS:
        for name in _METHODS:
            if hasattr(kind, name):
                watch(kind, name)
    # What was compiled before is not answered from memory.
    monkeypatch.setattr(api, "_recent", {})
    monkeypatch.setattr(context, "_memories", {})
    for noticed in _run_all_tables():
        if noticed:
            reached |= calls
        calls.clear()

    lines: dict[str, set[int]] = {}
    for name, line in reached:
        path = Path(name).resolve()
        if path.is_relative_to(_ROOT):
            lines.setdefault(path.relative_to(_ROOT).as_posix(), set()).add(line)
    left = {
        (where, text)
        for where, first, last, text in _calls_of_error()
        if lines.get(where, set()).isdisjoint(range(first, last + 1))
    }
    assert left == set(NOT_REACHED)
    memories = context._memories.values()
    broken = {rule for memory in memories for rules in memory.broken.values() for rule in rules}
    missing = set(declaration_rules.rules()) - broken
    assert not missing, "\n".join(f"{rule.wanted} {rule.message}" for rule in missing)
