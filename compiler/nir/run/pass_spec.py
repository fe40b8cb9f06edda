"""Passes and their options as text: `copy_prop,algebraic(lower=fdiv+fpow),dce`.

`nir-opt -p` and the `RUN:` lines of textual tests use this form. An option's value is parsed by the
type of its default: a word for a string, true or false, a number, modes joined by `|`, or a tuple.
`optimize(...)` stands for the whole loop, with the fields of `OptimizeOptions` as options.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from gallette.compiler.errors import InputError
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.nir.ir.modes import Mode
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.compiler.nir.run.pass_runner import PassLog, get_pass, run_pass
from gallette.compiler.nir.text.lexer import Tokens


@lazy_dataclass(frozen=True)
class Step:
    """One pass to run; calling it returns whether the shader changed."""

    name: str
    options: dict[str, Any]
    action: Callable[[Shader, PassLog | None], bool]

    def run(self, shader: Shader, log: PassLog | None = None) -> bool:
        return self.action(shader, log)


def parse_passes(text: str, file: str = "<passes>") -> list[Step]:
    """Parse a list of passes; an `InputError` points at a mistake."""
    tokens = Tokens(text, file)
    steps: list[Step] = []
    while tokens.current.kind != "end":
        steps.append(_step(tokens))
        if tokens.current.kind != "end":
            tokens.expect(",")
    return steps


def _step(tokens: Tokens) -> Step:
    where = tokens.current
    name = tokens.word("the name of a pass")
    if name == "optimize":
        defaults = {f.name: f.default for f in fields(OptimizeOptions)}
        options = _options(tokens, name, defaults)
        return Step(
            name,
            options,
            lambda shader, log: optimize(shader, OptimizeOptions(**options), log),
        )
    try:
        info = get_pass(name)
    except InputError as error:
        tokens.fail(str(error), where)
    options = _options(tokens, name, info.options)
    return Step(name, options, lambda shader, log: run_pass(shader, name, options, log))


def _options(tokens: Tokens, name: str, defaults: dict[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if not tokens.accept("("):
        return values
    while not tokens.accept(")"):
        where = tokens.current
        option = tokens.word("an option")
        if option not in defaults:
            known = ", ".join(defaults) or "none"
            tokens.fail(f"{name} has no option {option!r} (it has {known})", where)
        tokens.expect("=")
        values[option] = _value(tokens, option, defaults[option])
        if not tokens.at(")"):
            tokens.expect(",")
    return values


def _value(tokens: Tokens, option: str, default: Any) -> Any:
    where = tokens.current
    if where.kind == "word" and option == "modes":
        mode = Mode(0)
        while True:
            word = tokens.word("a variable mode")
            if word.upper() not in Mode.__members__:
                tokens.fail(f"unknown mode {word!r}", where)
            mode |= Mode[word.upper()]
            if not tokens.accept("|"):
                return mode
    if where.kind == "word" and where.text in ("true", "false"):
        tokens.advance()
        return where.text == "true"
    is_text = default is None or isinstance(default, str)
    if where.kind == "word" and is_text and where.text not in ("True", "False", "None"):
        words = [tokens.word("a value")]
        while tokens.accept("+"):
            words.append(tokens.word("a value"))
        return "+".join(words)
    if where.kind == "word" and where.text not in ("True", "False", "None", "inf", "nan"):
        tokens.fail(f"{option} is a {type(default).__name__}", where)
    value = tokens.literal()
    if isinstance(default, float) and isinstance(value, int):
        value = float(value)
    if default is not None and not isinstance(value, type(default)):
        tokens.fail(f"{option} is a {type(default).__name__}", where)
    return value
