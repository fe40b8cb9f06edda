"""Bisects a miscompilation: finds the run of a pass that breaks a shader, and reduces the shader.

"Broken" is one of: a pass fails or leaves an invalid shader, the interpreter gets other results
than before the passes, or a command of the user's says so by its exit status.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.interp.interpreter import interpret
from gallette.compiler.nir.ir import clone_shader
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.pass_runner import PassLog, PassRecord, get_pass, run_pass
from gallette.compiler.nir.run.pass_spec import Step
from gallette.compiler.nir.text.difference import diff_lines
from gallette.compiler.nir.text.parser import parse
from gallette.compiler.nir.text.printer import print_shader
from gallette.compiler.reduce import reduce_text


@dataclass
class Judge:
    """Compares a shader after some passes with the original."""

    lanes: int = 16
    seeds: Sequence[int] = (0, 1)
    tolerance: float = 0.0
    command: str = ""
    environment: Callable[[int], Environment] | None = None
    _wanted: dict[int, object] = field(default_factory=dict)

    def world(self, seed: int) -> Environment:
        """The inputs of the shader in one run."""
        if self.environment is not None:
            return self.environment(seed)
        return Environment(self.lanes, seed)

    def difference(self, before: Shader, after: Shader) -> str:
        """A description of the problem with `after`; "" if there is none."""
        try:
            validate(after)
        except GalletteError as error:
            return str(error).splitlines()[0]
        if self.command:
            return self._ask(print_shader(after))
        for seed in self.seeds:
            wanted, got = interpret(before, self.world(seed)), interpret(after, self.world(seed))
            found = wanted.same_as(got, tolerance=self.tolerance)
            if found:
                return f"{found} (seed {seed})" if len(self.seeds) > 1 else found
        return ""

    def _ask(self, text: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "shader.nir"
            file.write_text(text, encoding="utf-8")
            command = self.command.replace("{}", str(file))
            done = subprocess.run(command, shell=True, capture_output=True, check=False)
        return f"`{self.command}` ended with status {done.returncode}" if done.returncode else ""


@dataclass
class Finding:
    """The first run of a pass after which the shader is broken."""

    number: int
    total: int
    record: PassRecord
    problem: str
    rule: str = ""
    """for a pass of the rewriter: the rule whose application breaks the shader, and its number"""

    def __str__(self) -> str:
        options = ", ".join(f"{k}={v!r}" for k, v in self.record.options.items())
        name = f"{self.record.name}({options})" if options else self.record.name
        signs = {"add": "+", "del": "-", "hunk": ""}
        rows = diff_lines(self.record.before, self.record.after)
        changes = [signs.get(kind, " ") + line for kind, line in rows]
        head = f"change {self.number} of {self.total} breaks it: {name}\n{self.problem}"
        return "\n".join([head, *([self.rule] if self.rule else []), *changes])


def bisect(shader: Shader, steps: Sequence[Step], judge: Judge) -> Finding | None:
    """Find the change by bisection: all later states are broken, all earlier ones are not."""
    original = clone_shader(shader)
    log = PassLog(texts=True)
    failed = ""
    for step in steps:
        try:
            step.run(shader, log)
        except (GalletteError, AssertionError, KeyError, IndexError, AttributeError) as error:
            failed = f"{step.name} fails: {type(error).__name__}: {error}"
            break
    changes = log.made_progress()

    def problem(after: int) -> str:
        """The problem after the first `after` changes; "" if there is none."""
        try:
            return judge.difference(original, parse(changes[after - 1].after))
        except GalletteError as error:  # its text cannot be parsed
            return str(error).splitlines()[0]

    total = len(changes)
    if not changes or not problem(total):
        if failed:
            text = changes[-1].after if changes else print_shader(original)
            record = PassRecord(failed.split(" ")[0], {}, False, 0.0, 0, 0, text, text)
            return Finding(total + 1, total + 1, record, failed)
        return None
    bad = _first(total, lambda number: bool(problem(number)))
    record = changes[bad - 1]
    return Finding(bad, total, record, problem(bad), _wrong_rule(record, original, judge))


def _first(total: int, is_bad: Callable[[int], bool]) -> int:
    """The first bad number, given that `total` is bad."""
    good, bad = 0, total
    while bad - good > 1:
        middle = (good + bad) // 2
        if is_bad(middle):
            bad = middle
        else:
            good = middle
    return bad


def _wrong_rule(record: PassRecord, original: Shader, judge: Judge) -> str:
    """The application of a rule that breaks the shader, by running the pass again up to each; "" if
    none does.
    """
    total = sum(record.rules.values())
    if not total or "limit" not in get_pass(record.name).options:
        return ""

    def run(limit: int) -> tuple[Shader, Counter[tuple[str, str]]]:
        shader, log = parse(record.before), PassLog()
        run_pass(shader, record.name, {**record.options, "limit": limit}, log)
        return shader, Counter(log.records[0].rules)

    def is_bad(limit: int) -> bool:
        return bool(judge.difference(original, run(limit)[0]))

    if not is_bad(total):
        return ""
    first = _first(total, is_bad)
    ((name, reason),) = run(first)[1] - run(first - 1)[1]
    return f"rule {first} of {total} that it applies: {name}: {reason}"


def reduce_shader(
    text: str, run: Callable[[Shader], object], judge: Judge, limit: int = 4000
) -> tuple[str, int]:
    """The shortest text found that `run` still breaks (or fails on), and the number of attempts."""

    def interesting(candidate: str) -> bool:
        try:
            shader = parse(candidate)
            validate(shader)
        except (GalletteError, LookupError, AssertionError):
            return False
        original = clone_shader(shader)
        try:
            interpret(original, judge.world(0), budget=20_000)
            run(shader)
        except GalletteError:
            return False
        except (AssertionError, KeyError, IndexError, AttributeError):
            return True
        try:
            return bool(judge.difference(original, shader))
        except GalletteError:
            return False

    done = reduce_text(text, interesting, (_constants_for_values, _cleaned), limit)
    return done.value, done.tried


_DEFINITION = re.compile(r"^( *)(\d+)(?:x(\d+))? (%\w+) = (?!load_const|phi|deref)(.*)$", re.M)


def _constants_for_values(text: str) -> Iterator[str]:
    """Replace an instruction by a constant, so that its sources become dead."""
    for match in _DEFINITION.finditer(text):
        pad, bits, width, name, rest = match.groups()
        zeros = ", ".join(["0"] * int(width or 1)) if bits != "1" else ""
        zeros = zeros or ", ".join(["false"] * int(width or 1))
        size = f"{bits}x{width}" if width else bits
        line = f"{pad}{size} {name} = load_const ({zeros})"
        if len(line) < len(match[0]):
            yield text[: match.start()] + line + text[match.end() :]
        del rest


def _cleaned(text: str) -> Iterable[str]:
    """Remove dead code, and print the shader again."""
    try:
        shader = parse(text)
        run_pass(shader, "dce")
        run_pass(shader, "remove_dead_variables")
    except (GalletteError, AssertionError, LookupError):
        return ()
    return (print_shader(shader),)
