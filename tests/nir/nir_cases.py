"""Textual pass tests: a piece of IR, the passes to run, and what the result must look like.

A `.nir` file holds cases separated by lines of `# ---`. Lines that start with `#` are directives:

    # a sentence that says which behaviour the case shows (the first line names the test)
    # RUN: copy_prop,dce               passes with options, as for `gallette nir-opt -p`
    # CHECK: fadd [[X:%\\d+]], [[X]]     a later line contains this ([[N:regex]] captures)
    # CHECK-NEXT: fneg                 the very next line
    # CHECK-SAME: %3                   the rest of the same line
    # CHECK-NOT: mov                   not before the next CHECK (or the end)
    # ERROR: message                   parsing or a pass fails with this text
    # PROGRESS: no                     the passes must find nothing to do (default: they must)
    # NO-RUN: reason                   do not compare results before and after in the interpreter
    # IN: x v:4 c:bool d:1x64          inputs %x (32 bits), %v (four components), %c, %d
    # OUT: r s                         %r and %s are stored as outputs at the end

Unless told otherwise, every case is also *run* before and after. `{{regex}}` matches a regular
expression. A case without `impl` is code of main: its `var` lines (except locals), `type` and
`info` lines are the header, the rest is the body; `# STAGE: vertex` names the stage (default:
fragment).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.interpreter import Environment, interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PASSES
from gallette.compiler.nir.run.pass_spec import parse_passes
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader

_HEADER_WORDS = ("shader", "type", "info", "function")
INEXACT_TOLERANCE = 1e-4


class CheckError(Exception):
    """The result does not look as a case demands; the text explains it."""


def _code(shader: Shader) -> str:
    """The text without the summary, which is no progress."""
    return re.sub(r"(?m)^info .*\n", "", print_shader(shader))


@dataclass
class NirCase:
    """One case of a `.nir` file."""

    file: Path
    line: int
    title: str
    text: str
    run: str = ""
    stage: str = "fragment"
    error: str = ""
    progress: bool = True
    compare: bool = True
    checks: list[tuple[str, str]] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return re.sub(r"\W+", "_", self.title).strip("_") or f"line_{self.line}"

    def shader(self) -> Shader:
        return parse(self.text, f"{self.file.name}:{self.line}")

    def check(self) -> None:
        """Run the case; a `CheckError` (or a compiler error nobody expected) if it fails."""
        try:
            self._check()
        except GalletteError as error:
            if self.error and self.error in str(error):
                return
            raise
        if self.error:
            raise CheckError(f"no error, but expected: {self.error}")

    def _check(self) -> None:
        shader = self.shader()
        before = clone_shader(shader)
        progress, exact = False, True
        for step in parse_passes(self.run):
            old = _code(shader)
            changed = step.run(shader)
            progress |= changed
            validate(shader, step.name)
            if not changed and _code(shader) != old:
                raise CheckError(f"{step.name} says it changed nothing:\n{print_shader(shader)}")
            exact &= step.name in PASSES and PASSES[step.name].exact
        text = print_shader(shader)
        if print_shader(parse(text)) != text:
            raise CheckError(f"the result does not survive printing and parsing:\n{text}")
        if progress != self.progress:
            did = "changed something" if progress else "changed nothing"
            raise CheckError(f"the passes {did}:\n{text}")
        match_checks(self.checks, text)
        if self.compare:
            tolerance = 0.0 if exact else INEXACT_TOLERANCE
            for seed in (0, 1):
                ran = interpret(before, Environment(seed=seed))
                difference = ran.same_as(
                    interpret(shader, Environment(seed=seed)), tolerance=tolerance
                )
                if difference:
                    raise CheckError(f"results differ: {difference}\n{text}")


def read_cases(path: Path) -> list[NirCase]:
    """All cases of a file."""
    cases: list[NirCase] = []
    lines = path.read_text(encoding="utf-8").splitlines()
    start = 0
    for i in range(len(lines) + 1):
        if i == len(lines) or re.match(r"# -{3,}", lines[i]):
            if any(line.strip() for line in lines[start:i]):
                cases.append(_read_case(path, lines[start:i], start + 1))
            start = i + 1
    return cases


def _read_case(path: Path, lines: list[str], first: int) -> NirCase:
    case = NirCase(path, first, "", "")
    code: list[str] = []
    for line in lines:
        if not line.startswith("#"):
            code.append(line)
            continue
        code.append("")
        comment = line.lstrip("#").strip()
        word, _, rest = comment.partition(":")
        rest = rest.strip()
        if word == "RUN":
            case.run = rest
        elif word == "STAGE":
            case.stage = rest
        elif word == "ERROR":
            case.error = rest
        elif word == "PROGRESS":
            case.progress = rest != "no"
        elif word == "IN":
            case.inputs += rest.split()
        elif word == "OUT":
            case.outputs += rest.split()
        elif word == "NO-RUN":
            case.compare = False
        elif word.startswith("CHECK"):
            case.checks.append((word, rest))
        elif not case.title:
            case.title = comment
    if case.inputs or case.outputs:
        first = next((i for i, line in enumerate(code) if line.strip()), 0)
        label = [code[first]] if code[first].startswith("block ") else []  # it names the start
        rest = ["", *code[first + 1 :]] if label else code
        code = [*label, *_prelude(case.inputs), *rest, *_epilogue(case.outputs, code)]
    case.text = _complete(code, case.stage)
    return case


def _prelude(inputs: list[str]) -> list[str]:
    """`%zero`, then one load for each input."""
    lines = ["32 %zero = load_const (0)"]
    for i, text in enumerate(inputs):
        name, _, kind = text.partition(":")
        where = f"(location=VARYING.VAR{i})"
        if kind == "bool":
            lines.append(f"32 %{name}_raw = @load_input (%zero) {where}")
            lines.append(f"1 %{name} = flt %zero, %{name}_raw")
            continue
        width, _, bits = (kind or "1").partition("x")
        size = f"{bits or 32}x{width}"
        lines.append(f"{size} %{name} = @load_input (%zero) {where}")
    return lines


def _epilogue(outputs: list[str], code: list[str]) -> list[str]:
    """A store for each output; booleans are stored as 0 and 1."""
    lines: list[str] = []
    for i, name in enumerate(outputs):
        found = re.search(rf"(\d+)(?:x(\d+))? %{name} =", "\n".join(code))
        bits, width = (int(found[1]), int(found[2] or 1)) if found else (32, 1)
        if bits == 1:
            size = f"32x{width}"
            lines.append(f"{size} %{name}_out = b2i32 %{name}")
            name = f"{name}_out"
        mask = "xyzw"[:width] if width <= 4 else "abcdefghijklmnop"[:width]
        lines.append(f"@store_output (%{name}, %zero) (location=FRAG.DATA{i}, write_mask={mask})")
    return lines


def _complete(code: list[str], stage: str) -> str:
    """Wrap bare code into a shader with a main."""
    if any(line.startswith("impl") for line in code):
        if any(line.startswith("shader") for line in code):
            return "\n".join(code)
        return f"shader {stage}\n" + "\n".join(code)
    header, local, body = [f"shader {stage}"], ["impl main {"], []
    for line in code:
        word = line.split(" ", 1)[0]
        if line.startswith("var function_temp"):
            local.append(line)
        elif word == "var" or word in _HEADER_WORDS:
            header.append(line)
        else:
            body.append(line)
    return "\n".join([*header, *local, *body, "}"])


def match_checks(checks: list[tuple[str, str]], text: str) -> None:
    """Compare text with CHECK lines, in order."""
    lines = [re.sub(r"\s+", " ", line.strip()) for line in text.splitlines()]
    captured: dict[str, str] = {}
    at, column = -1, 0
    pending: list[tuple[str, str]] = []

    def fail(kind: str, pattern: str, why: str) -> CheckError:
        return CheckError(f"{kind}: {pattern}\n{why} (after line {at + 1}) in\n{text}")

    def refuse(low: int, high: int) -> None:
        for kind, pattern in pending:
            for line in lines[low:high]:
                if _search(pattern, line, 0, captured):
                    raise fail(kind, pattern, f"must not occur, but here is {line!r}")
        pending.clear()

    for kind, pattern in checks:
        if kind == "CHECK-NOT":
            pending.append((kind, pattern))
        elif kind == "CHECK-SAME":
            end = _search(pattern, lines[at], column, captured)
            if not end:
                raise fail(kind, pattern, "does not follow on the line")
            column = end
        elif kind == "CHECK-NEXT":
            end = _search(pattern, lines[at + 1], 0, captured) if at + 1 < len(lines) else 0
            if not end:
                raise fail(kind, pattern, "is not on the next line")
            at, column = at + 1, end
        elif kind == "CHECK":
            found = next(
                (
                    i
                    for i in range(at + 1, len(lines))
                    if _search(pattern, lines[i], 0, dict(captured))
                ),
                None,
            )
            if found is None:
                raise fail(kind, pattern, "does not occur")
            refuse(at + 1, found)
            column = _search(pattern, lines[found], 0, captured)
            at = found
        else:
            raise CheckError(f"unknown directive {kind}")
    refuse(at + 1, len(lines))


_PARTS = re.compile(r"\[\[(\w+)(?::(.*?))?\]\](?!\])|\{\{(.*?)\}\}")


def _search(pattern: str, line: str, start: int, captured: dict[str, str]) -> int:
    """Find a pattern in a line; the end of the match (0: none). Captures are entered."""
    regex, at = "", 0
    names: list[str] = []
    for part in _PARTS.finditer(pattern):
        regex += re.escape(pattern[at : part.start()])
        name, definition, raw = part.groups()
        if raw is not None:
            regex += f"(?:{raw})"
        elif definition is not None:
            names.append(name)
            regex += f"(?P<{name}>{definition})"
        elif name in names:
            regex += f"(?P={name})"
        else:
            if name not in captured:
                raise CheckError(f"[[{name}]] is used before it is captured")
            regex += re.escape(captured[name])
        at = part.end()
    regex += re.escape(pattern[at:])
    if regex[-1:].isalnum():
        regex += r"(?!\w)"
    match = re.compile(regex.replace(r"\ ", " ")).search(line, start)
    if match is None:
        return 0
    captured.update(match.groupdict())
    return max(match.end(), 1)
