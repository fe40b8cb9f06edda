"""Exercises that check themselves: `gallette lesson start NAME`, `gallette lesson check NAME`.

An exercise is a file `NAME.md` of this folder, read like a lesson: a few lines about it, the task
in prose, a fence `python template` (or another language) that the reader begins with, and a fence
`python check` with hidden cases. The check is either

- `function` (the name of what is asked for), `right` (what it should compute), `cases` (name:
  arguments) and `mistakes` (hint: the function that a typical wrong answer amounts to; a mistake is
  recognised by giving the reader's results in all cases); or
- `check(answer)`, a generator that yields the name of each case before it looks, and raises
  `Wrong(what, hint)`. `answer` is the reader's module, or text.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.output_files import write_whole
from gallette.lessons.text import LessonError, Part, read_parts

__all__ = ["EXERCISES", "Exercise", "Verdict", "Wrong", "check", "start"]

_SUFFIXES = {"python": ".py", "glsl": ".glsl"}


class Wrong(Exception):
    """An answer that fails a case: the problem, and a hint that names the mistake."""

    def __init__(self, what: str, hint: str = ""):
        super().__init__(what)
        self.hint = hint


@lazy_dataclass(frozen=True)
class Exercise:
    """The text of an exercise."""

    name: str
    title: str
    lesson: str
    about: str
    task: str
    template: str
    language: str
    hidden: Part
    path: Path

    @property
    def file(self) -> str:
        """The name of the reader's file."""
        return self.name + _SUFFIXES[self.language]


@lazy_dataclass(frozen=True)
class Verdict:
    """The number of passed cases, and the name, problem and hint of the one that failed."""

    passed: tuple[str, ...]
    failed: str = ""
    what: str = ""
    hint: str = ""

    @property
    def right(self) -> bool:
        return not self.failed


def _read(path: Path) -> Exercise:
    head, parts = read_parts(path)
    task = "\n\n".join(part.text for part in parts if part.info is None)
    found = {part.info.partition(" ")[2]: part for part in parts if part.info}
    if {"template", "check"} - set(found):
        raise LessonError(f"{path.name}: an exercise has a template and a check")
    language = str(found["template"].info).partition(" ")[0]
    return Exercise(
        path.stem, head["title"], head["lesson"], head["about"], task, found["template"].text,
        language, found["check"], path,
    )  # fmt: skip


EXERCISES: dict[str, Exercise] = {
    path.stem: _read(path) for path in sorted(Path(__file__).resolve().parent.glob("*.md"))
}


def start(exercise: Exercise, path: Path) -> Path:
    """Write the file that the reader begins with: the task as a comment, and the template."""
    if path.exists():
        raise GalletteError(f"{path} is there already: it may hold your answer")
    sign = {"python": "#", "glsl": "//"}[exercise.language]
    lines = [exercise.title, "", *exercise.task.splitlines()]
    lines += ["", f"gallette lesson check {exercise.name} {path}"]
    comment = "\n".join(f"{sign} {line}".rstrip() for line in lines)
    write_whole(path, f"{comment}\n\n{exercise.template}\n")
    return path


def check(exercise: Exercise, path: Path) -> Verdict:
    """Run the hidden cases on an answer, up to the first that fails."""
    names: dict[str, Any] = {"Wrong": Wrong, "np": np, "__name__": exercise.name}
    text = "\n" * (exercise.hidden.line - 1) + exercise.hidden.text
    exec(compile(text, str(exercise.path), "exec", dont_inherit=True), names)
    answer = _text_of(path)
    passed: list[str] = []
    case = "the file can be read"
    try:
        if exercise.language == "python":
            answer = _module(exercise.name, answer, path)
        cases = names["check"](answer) if "check" in names else _compared(answer, names)
        for name in cases:
            if case:
                passed.append(case)
            case = name
        passed.append(case)
    except Wrong as wrong:
        return Verdict(tuple(passed), case, str(wrong), wrong.hint)
    except NotImplementedError:
        return Verdict(tuple(passed), case, "nothing is written yet", "Replace the `raise`.")
    except Exception as error:  # the reader's code may do anything
        return Verdict(tuple(passed), case, _described_error(error, path))
    return Verdict(tuple(passed))


def _text_of(path: Path) -> Any:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise GalletteError(f"{path}: {error.strerror}") from None


def _module(name: str, text: str, path: Path) -> ModuleType:
    module = ModuleType(name)
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), module.__dict__)
    except SyntaxError as error:
        raise Wrong(f"{path}:{error.lineno}: {error.msg}", "This is not Python yet.") from None
    return module


def _described_error(error: Exception, path: Path) -> str:
    """The problem, and the line of the answer in which it occurred."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
    where = f"{path}:{frames[-1].lineno}: " if frames else ""
    return f"{where}{type(error).__name__}: {error}"


def _compared(answer: ModuleType, names: Mapping[str, Any]) -> Iterator[str]:
    """Compare each case with the right function."""
    function, right = getattr(answer, names["function"], None), names["right"]
    if function is None:
        raise Wrong(f"there is no function {names['function']}", "The template has its name.")
    same = names.get("same", _same)
    for name, arguments in names["cases"].items():
        yield name
        wanted = right(*arguments)
        if not same(_run(function, arguments), wanted):
            given = ", ".join(map(str, arguments))
            raise Wrong(
                f"{names['function']}({given}) gives {_run(function, arguments)}, not {wanted}",
                _recognised(function, names, same),
            )


def _run(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)


def _recognised(function: Callable[..., Any], names: Mapping[str, Any], same: Any) -> str:
    """The hint of the mistake that gives the same results in every case."""
    for hint, mistake in names["mistakes"].items():
        try:
            if all(
                same(function(*arguments), mistake(*arguments))
                for arguments in names["cases"].values()
            ):
                return str(hint)
        except Exception:  # an answer may fail in the cases that have not come yet
            continue
    return str(names.get("hint", ""))


def _same(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b)) if isinstance(b, np.ndarray) else bool(a == b)
