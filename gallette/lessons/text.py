"""A lesson's text: Markdown whose numbers, tables and figures come from running it.

A lesson is a file `NAME.md` of this folder. It begins with a few lines about it:

    ---
    title: Reading NIR
    about: One sentence, the puzzle.
    minutes: 15
    needs: triangle
    given: 16 bytes, 32 bits
    ---

and goes on in Markdown. `{expression}` in prose is evaluated, with a format after a colon if need
be. Numbers that are written out must be true whatever the run gives: `given` lists them, and a test
refuses any other. Four kinds of fences mean something:

- `python run` is executed; it sees `driver` and the methods of `Page` (`table`, `pictures`,
  `diff`, `control`, ...), whose blocks appear in its place, and the names that earlier ones made;
- `question` has a question, choices as `- text :: expression` of which exactly one has to be true,
  `---` and the answer; without choices the answer is folded away;
- `try` has commands, each followed by an indented line about what to look for;
- any other fence is shown, with the rest of its first line as the caption.
"""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.lessons import figures
from gallette.lessons.page import Page, Question, Try, shown

_FENCE = re.compile(r"(`{3,})(.*)")
_KIT = ("add", "prose", "code", "diff", "table", "pictures", "control", "progress")


class LessonError(GalletteError):
    """A lesson's text has an error."""


@lazy_dataclass(frozen=True)
class Part:
    """A piece of a lesson's text: prose (no `info`) or the contents of a fence."""

    line: int
    info: str | None
    text: str


@lazy_dataclass(frozen=True)
class Lesson:
    """The text of a lesson."""

    name: str
    path: Path
    title: str
    about: str
    minutes: int
    needs: tuple[str, ...]
    given: tuple[str, ...]
    parts: tuple[Part, ...]


def read_parts(path: Path) -> tuple[dict[str, str], tuple[Part, ...]]:
    """The header of a file, and its prose and fences."""
    lines = path.read_text(encoding="utf-8").splitlines()
    try:
        end = lines.index("---", 1)
        return dict(_key(line) for line in lines[1:end]), tuple(_parts(lines, end + 1))
    except ValueError:
        raise LessonError(f"{path.name} does not begin with lines about itself") from None


def _key(line: str) -> tuple[str, str]:
    key, value = line.split(": ", 1)
    return key, value


def read_lesson(path: Path) -> Lesson:
    head, parts = read_parts(path)
    try:
        return Lesson(
            path.stem, path, head["title"], head["about"], int(head["minutes"]),
            _listed(head.get("needs", "")), _listed(head.get("given", "")), parts,
        )  # fmt: skip
    except (ValueError, KeyError) as error:
        raise LessonError(f"{path.name}: what it says about itself lacks: {error}") from None


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(", ") if part.strip())


def _parts(lines: list[str], start: int) -> Iterator[Part]:
    kept: list[str] = []
    info: str | None = None
    fence, first = "", start
    for i, line in enumerate(lines[start:], start):
        found = _FENCE.match(line)
        if info is None and found:
            if any(kept):
                yield Part(first + 1, None, "\n".join(kept).strip("\n"))
            fence, info, kept, first = found[1], found[2].strip(), [], i + 1
        elif info is not None and line == fence:
            yield Part(first + 1, info, "\n".join(kept))
            info, kept, first = None, [], i + 1
        else:
            kept.append(line)
    if any(kept):
        yield Part(first + 1, info, "\n".join(kept).strip("\n"))


def run_lesson(
    lesson: Lesson,
    driver: str,
    progress: Callable[[str], None] = lambda text: None,
    live: bool = False,
) -> Page:
    """Execute the lesson; `live` leaves all but the first state of each control for later."""
    page = Page(lesson.title, progress, live)
    names: dict[str, Any] = {name: getattr(page, name) for name in _KIT}
    names.update(driver=driver, figures=figures, many=many, __name__=f"lesson {lesson.name}")
    for part in lesson.parts:
        if part.info is None:
            page.prose(_filled(lesson, part, part.text, names))
        elif part.info == "python run":
            # Line numbers of the file, so that a traceback shows the lesson's own text.
            text = "\n" * (part.line - 1) + part.text
            exec(compile(text, str(lesson.path), "exec", dont_inherit=True), names)
        elif part.info == "question":
            page.add(_question(lesson, part, names))
        elif part.info == "try":
            page.add(Try(_commands(part.text)))
        else:
            language, _, caption = part.info.partition(" ")
            page.code(part.text, language, caption)
    return page


def many(count: int, word: str) -> str:
    """A count with its noun: `3 loads`, `1 load`."""
    return f"{shown(count)} {word}{'' if count == 1 else 's'}"


def _filled(lesson: Lesson, part: Part, text: str, names: dict[str, Any]) -> str:
    """The text with expressions in braces evaluated."""
    result = []
    for literal, expression, form, conversion in string.Formatter().parse(text):
        result.append(literal)
        if expression is not None:
            value = _value(lesson, part, expression, names)
            value = repr(value) if conversion == "r" else value
            result.append(format(value, form) if form else shown(value))
    return "".join(result)


def _value(lesson: Lesson, part: Part, expression: str, names: dict[str, Any]) -> Any:
    try:
        return eval(expression, names)
    except Exception as error:
        where = f"{lesson.path.name}:{part.line}"
        raise LessonError(f"{where}: {{{expression}}} cannot be evaluated: {error}") from error


def _question(lesson: Lesson, part: Part, names: dict[str, Any]) -> Question:
    asked, _, answer = part.text.partition("\n---\n")
    prompt: list[str] = []
    choices: list[str] = []
    true: list[int] = []
    for line in asked.splitlines():
        if line.startswith("- ") and " :: " in line:
            text, condition = line[2:].split(" :: ")
            if _value(lesson, part, condition, names):
                true.append(len(choices))
            choices.append(_filled(lesson, part, text, names))
        else:
            prompt.append(line)
    if choices and len(true) != 1:
        where = f"{lesson.path.name}:{part.line}"
        raise LessonError(f"{where}: {many(len(true), 'choice')} of this question true in this run")
    return Question(
        _filled(lesson, part, " ".join(prompt), names),
        _filled(lesson, part, answer.strip(), names),
        tuple(choices),
        true[0] if true else -1,
    )


def _commands(text: str) -> list[tuple[str, str]]:
    lines = text.splitlines()
    return [(command, look.strip()) for command, look in zip(lines[::2], lines[1::2], strict=True)]
