"""Macro definitions and their expansion.

Expansion uses a stack of frames: the source at the bottom, the replacement list of each macro being
expanded above it. A macro is disabled while its frame is on the stack, and its name found while
disabled is *painted*: it never expands again. That is C's rule, without recursion on the input.
"""

from __future__ import annotations

from gallette.compiler.glsl.diagnostics import Log
from gallette.compiler.glsl.parse.lexer import Token, tokenize
from gallette.compiler.glsl.parse.source import SourceMap
from gallette.compiler.lazy_dataclass import lazy_dataclass

EXPANSION_BASE = 100_000
EXPANSION_PER_CHARACTER = 2
MAX_ARGUMENT_DEPTH = 100
MAX_PASTED = 1024
"""the longest token that `##` may make, in characters"""


@lazy_dataclass(frozen=True)
class Macro:
    """A `#define`; `params` is None for an object-like macro. Builtin ones cannot be changed."""

    name: str
    params: tuple[str, ...] | None
    body: tuple[Token, ...]
    builtin: bool = False

    def same_as(self, other: Macro) -> bool:
        """Whether macros are equal except for locations (GLSL allows such a redefinition)."""

        def shape(macro: Macro) -> list[tuple[str, bool]]:
            body = macro.body
            return [
                (t[1], i > 0 and body[i - 1][2] + len(body[i - 1][1]) < t[2])
                for i, t in enumerate(body)
            ]

        return self.params == other.params and shape(self) == shape(other)


class _Frame:
    __slots__ = ("macro", "pos", "tokens")

    def __init__(self, tokens: list[Token], pos: int, macro: str | None) -> None:
        self.tokens = tokens
        self.pos = pos
        self.macro = macro


class Expander:
    """Expands macros of one compile; owns the macro table and the expansion budget."""

    def __init__(self, log: Log, sources: SourceMap) -> None:
        self.log = log
        self.sources = sources
        self.macros: dict[str, Macro] = {}
        self.produced = 0
        self.limit = EXPANSION_BASE
        """the number of tokens that expansion may produce; grows with the source, so that work is
        linear in it
        """
        self.source_string = 0
        self._depth = 0

    def expand_list(self, tokens: list[Token]) -> list[Token]:
        """Fully expand a closed list (a macro argument, a directive line)."""
        out: list[Token] = []
        i, n = 0, len(tokens)
        macros = self.macros
        while i < n:
            token = tokens[i]
            if token[0] == "id" and token[1] in macros:
                i = self.expand(tokens, i, out)
            else:
                out.append(token)
                i += 1
        return out

    def expand(self, tokens: list[Token], start: int, out: list[Token]) -> int:
        """Expand the macro name at `tokens[start]` into `out`; returns the index of the
        next token.
        """
        where = tokens[start][2]
        frames = [_Frame(tokens, start, None)]
        disabled: set[str] = set()
        first = True
        while True:
            frame = frames[-1]
            if frame.pos >= len(frame.tokens):
                if len(frames) == 1:
                    return frame.pos
                frames.pop()
                disabled.discard(frame.macro or "")
                continue
            if len(frames) == 1 and not first:
                return frame.pos
            first = False
            token = frame.tokens[frame.pos]
            frame.pos += 1
            self.produced += 1
            if self.produced > self.limit:
                raise self.log.abort("macro expansion produces too many tokens", where)
            macro = self.macros.get(token[1]) if token[0] == "id" else None
            if macro is None:
                out.append((token[0], token[1], where) if len(frames) > 1 else token)
                continue
            if macro.name in disabled:
                out.append(("painted", token[1], where))
                continue
            if macro.builtin and macro.name in ("__LINE__", "__FILE__"):
                out.append(("num", str(self._position(macro.name, where)), where))
                continue
            if macro.params is None:
                body = [(t[0], t[1], where) for t in self._paste(macro.body, where)]
            else:
                args = self._arguments(macro, frames, disabled, where)
                if args is None:
                    out.append(("id", token[1], where))
                    continue
                body = self._substitute(macro, args, where)
            disabled.add(macro.name)
            frames.append(_Frame(body, 0, macro.name))

    def _position(self, name: str, where: int) -> int:
        return self.sources.line(where) if name == "__LINE__" else self.source_string

    def _arguments(
        self, macro: Macro, frames: list[_Frame], disabled: set[str], where: int
    ) -> list[list[Token]] | None:
        """Read `( ... )` across frames; None when no parenthesis follows the name."""
        depth = len(frames) - 1
        pos = frames[depth].pos
        while True:  # look ahead without consuming: frames may end before the parenthesis
            frame = frames[depth]
            while pos < len(frame.tokens) and frame.tokens[pos][0] == "nl":
                pos += 1
            if pos < len(frame.tokens):
                break
            if depth == 0:
                return None
            depth -= 1
            pos = frames[depth].pos
        if frames[depth].tokens[pos][0] != "(":
            return None
        while len(frames) - 1 > depth:
            disabled.discard(frames.pop().macro or "")
        frames[-1].pos = pos + 1
        args: list[list[Token]] = [[]]
        level = 1
        while True:
            frame = frames[-1]
            if frame.pos >= len(frame.tokens):
                if len(frames) == 1:
                    raise self.log.abort(
                        f"arguments of macro '{macro.name}' are not closed",
                        where,
                        hint="expected ')'",
                    )
                frames.pop()
                disabled.discard(frame.macro or "")
                continue
            token = frame.tokens[frame.pos]
            frame.pos += 1
            kind = token[0]
            if kind == "(":
                level += 1
            elif kind == ")":
                level -= 1
                if level == 0:
                    break
            elif kind == "," and level == 1:
                args.append([])
                continue
            if kind != "nl":
                args[-1].append(token)
        params = macro.params or ()
        if len(args) != len(params) and not (not params and args == [[]]):
            raise self.log.abort(
                f"macro '{macro.name}' takes {len(params)} arguments, {len(args)} given",
                where,
                where + len(macro.name),
            )
        return args

    def _substitute(self, macro: Macro, args: list[list[Token]], where: int) -> list[Token]:
        self._depth += 1
        if self._depth > MAX_ARGUMENT_DEPTH:
            raise self.log.abort("macro arguments are nested too deeply", where)
        index = {name: i for i, name in enumerate(macro.params or ())}
        expanded: dict[int, list[Token]] = {}
        body = macro.body
        out: list[Token] = []
        for i, token in enumerate(body):
            k = index.get(token[1]) if token[0] == "id" else None
            if k is None:
                out.append(token)
                continue
            pasted = (i > 0 and body[i - 1][0] == "##") or (
                i + 1 < len(body) and body[i + 1][0] == "##"
            )
            if pasted:
                # An empty argument still needs a place for ## to work on.
                out.extend(args[k] or [("empty", "", where)])
            else:
                if k not in expanded:
                    expanded[k] = self.expand_list(args[k])
                out.extend(expanded[k])
            self.produced += len(args[k])
            if self.produced > self.limit or len(out) > self.limit:
                raise self.log.abort("macro expansion produces too many tokens", where)
        self._depth -= 1
        return [(t[0], t[1], where) for t in self._paste(tuple(out), where)]

    def _paste(self, body: tuple[Token, ...], where: int) -> list[Token]:
        """Join the neighbours of every `##`."""
        if not any(t[0] == "##" for t in body):
            return [t for t in body if t[0] != "empty"]
        out: list[Token] = []
        i = 0
        while i < len(body):
            token = body[i]
            if token[0] == "##" and out and i + 1 < len(body):
                joined = out.pop()[1] + body[i + 1][1]
                if len(joined) > MAX_PASTED:
                    raise self.log.abort(
                        f"'##' makes a token of more than {MAX_PASTED} characters", where
                    )
                pieces = tokenize(joined, where, self.log)
                if len(pieces) > 1 or (pieces and pieces[0][0] == "bad"):
                    raise self.log.abort(f"'##' does not make one token: '{joined}'", where)
                out.extend(pieces or [("empty", "", where)])
                i += 2
                continue
            out.append(token)
            i += 1
        return [t for t in out if t[0] != "empty"]
