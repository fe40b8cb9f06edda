"""Conditional compilation: `#if`, `#elif`, `#else`, `#endif`."""

from __future__ import annotations

from gallette.compiler.glsl.diagnostics import Abort, Log
from gallette.compiler.glsl.parse.lexer import Token
from gallette.compiler.glsl.parse.macros import Expander
from gallette.compiler.glsl.parse.pp_expression import evaluate
from gallette.compiler.lazy_dataclass import lazy_dataclass


@lazy_dataclass()
class _Condition:
    loc: int
    active: bool
    """whether tokens of the current branch are kept"""
    taken: bool
    """whether some branch has been kept"""
    enclosing: bool
    seen_else: bool = False


class Conditions:
    """The open conditions, the innermost last."""

    def __init__(self, expander: Expander, log: Log) -> None:
        self.expander = expander
        self.macros = expander.macros
        self.log = log
        self.stack: list[_Condition] = []

    @property
    def live(self) -> bool:
        """Whether tokens here are kept."""
        return not self.stack or self.stack[-1].active

    def end(self, depth: int) -> None:
        """Check that conditions opened in a text are closed at its end (those beyond `depth`)."""
        while len(self.stack) > depth:
            self.log.error("#if without #endif", self.stack.pop().loc)

    def open(self, name: str, rest: list[Token], at: int, es: bool) -> None:
        """Process #if, #ifdef, #ifndef."""
        live = self.live
        value = False
        if live:
            try:
                value = self.holds(name, rest, at, es)
            except Abort:
                if self.log.is_full:
                    raise
        self.stack.append(_Condition(at, live and value, value, live))

    def holds(self, name: str, rest: list[Token], at: int, es: bool) -> bool:
        if name == "if":
            return self.evaluate(rest, at, es)
        if not rest or rest[0][0] != "id":
            raise self.log.abort(f"#{name} needs a macro name", at, at + len(name))
        if len(rest) > 1:
            self.log.error(f"extra text after #{name}", rest[1][2])
        return (rest[0][1] in self.macros) == (name == "ifdef")

    def next_branch(self, name: str, rest: list[Token], at: int, es: bool) -> None:
        """Process #elif, #else, #endif."""
        if not self.stack:
            self.log.error(f"#{name} without #if", at, at + len(name))
            return
        top = self.stack[-1]
        if name == "endif":
            self.stack.pop()
            if rest and top.enclosing:
                self.log.error("extra text after #endif", rest[0][2])
            return
        if top.seen_else:
            self.log.error(f"#{name} after #else", at, at + len(name))
            return
        if name == "else":
            top.seen_else = True
            if rest and top.enclosing:
                self.log.error("extra text after #else", rest[0][2])
            top.active = top.enclosing and not top.taken
            top.taken = True
            return
        if not top.enclosing or top.taken:
            top.active = False
            return
        try:
            top.active = top.taken = self.evaluate(rest, at, es)
        except Abort:
            if self.log.is_full:
                raise
            top.active = False

    def evaluate(self, tokens: list[Token], at: int, es: bool) -> bool:
        if not tokens:
            raise self.log.abort("#if without an expression", at)
        resolved: list[Token] = []
        # Tokens to come, the next one last, each with the macros that it comes from.
        waiting = [(token, frozenset[str]()) for token in reversed(tokens)]
        while waiting:
            token, within = waiting.pop()
            kind, text, loc = token
            if kind == "id" and text not in within and self._asks(text, set()):
                body = [(kind, word, loc) for kind, word, _ in self.macros[text].body]
                waiting += [(token, within | {text}) for token in reversed(body)]
                continue
            if kind != "id" or text != "defined":
                resolved.append(token)
                continue
            names = [token for token, _ in waiting[:-4:-1]]
            if names and names[0][0] == "id":
                word = names[0]
                del waiting[-1:]
            elif len(names) == 3 and names[0][0] == "(" and names[1][0] == "id":
                if names[2][0] != ")":
                    raise self.log.abort("expected ')' after defined(name", names[2][2])
                word = names[1]
                del waiting[-3:]
            else:
                raise self.log.abort("'defined' needs a macro name", loc, loc + 7)
            resolved.append(("num", "1" if word[1] in self.macros else "0", loc))
        return bool(evaluate(self.expander.expand_list(resolved), at, self.log, es))

    def _asks(self, name: str, seen: set[str]) -> bool:
        """Whether a macro's text has `defined`; C leaves open what it means, drivers take it."""
        macro = self.macros.get(name)
        if macro is None or macro.params is not None or name in seen:
            return False
        seen.add(name)
        return any(word == "defined" or self._asks(word, seen) for _, word, _ in macro.body)
