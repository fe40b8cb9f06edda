"""Evaluation of `#if` expressions: integers, C operators, `defined` already resolved.

It is precedence climbing over a token list. Both sides of `&&` and `

` are parsed, but an error such as a division by zero counts only on a side that is evaluated, as in
C.
"""

from __future__ import annotations

from gallette.compiler.glsl.diagnostics import Abort, Log
from gallette.compiler.glsl.parse.lexer import Token, number_value

_LEVELS = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    ">": 7,
    "<=": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
}
_MAX_DEPTH = 128


def _wrap(value: int) -> int:
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)


class _Evaluator:
    def __init__(self, tokens: list[Token], loc: int, log: Log, strict: bool) -> None:
        self.tokens = tokens
        self.pos = 0
        self.loc = loc
        self.log = log
        self.strict = strict
        self.depth = 0

    def error(self, message: str) -> Abort:
        at = self.tokens[min(self.pos, len(self.tokens) - 1)][2] if self.tokens else self.loc
        return self.log.abort(message, at)

    def peek(self) -> str:
        return self.tokens[self.pos][0] if self.pos < len(self.tokens) else ""

    def unary(self, live: bool) -> int:
        signs = []
        while self.peek() in ("+", "-", "~", "!"):
            signs.append(self.peek())
            self.pos += 1
        value = self.primary(live)
        for sign in reversed(signs):
            if sign == "-":
                value = _wrap(-value)
            elif sign == "~":
                value = ~value
            elif sign == "!":
                value = int(not value)
        return value

    def primary(self, live: bool) -> int:
        if self.pos >= len(self.tokens):
            raise self.error("the expression of this directive is incomplete")
        kind, text, _ = self.tokens[self.pos]
        if kind == "num":
            number = number_value(text)
            if isinstance(number, str):
                raise self.error(number)
            if not isinstance(number[1], int) or number[0] not in ("int", "uint"):
                raise self.error("preprocessor expressions are integers")
            self.pos += 1
            return number[1]
        if kind in ("id", "painted"):
            if self.strict and live:
                raise self.error(f"macro '{text}' is not defined")
            self.pos += 1
            return 0
        if kind == "(":
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise self.error("preprocessor expression is nested too deeply")
            self.pos += 1
            value = self.binary(1, live)
            if self.peek() != ")":
                raise self.error("expected ')' in preprocessor expression")
            self.pos += 1
            self.depth -= 1
            return value
        raise self.error(f"unexpected '{text}' in preprocessor expression")

    def binary(self, level: int, live: bool) -> int:
        left = self.unary(live)
        while True:
            op = self.peek()
            own = _LEVELS.get(op, 0)
            if own < level:
                return left
            self.pos += 1
            needed = live and not (op == "||" and left) and not (op == "&&" and not left)
            right = self.binary(own + 1, needed)
            left = self.apply(op, left, right, needed)

    def apply(self, op: str, a: int, b: int, live: bool) -> int:
        if op in ("/", "%"):
            if b == 0:
                if live:
                    self.pos -= 1
                    raise self.error("division by zero in preprocessor expression")
                return 0
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if op == "/" else a - b * quotient
        match op:
            case "||":
                return int(bool(a or b))
            case "&&":
                return int(bool(a and b))
            case "|":
                return a | b
            case "^":
                return a ^ b
            case "&":
                return a & b
            case "==":
                return int(a == b)
            case "!=":
                return int(a != b)
            case "<":
                return int(a < b)
            case ">":
                return int(a > b)
            case "<=":
                return int(a <= b)
            case ">=":
                return int(a >= b)
            case "<<":
                return _wrap(a << (b & 63))
            case ">>":
                return a >> (b & 63)
            case "+":
                return _wrap(a + b)
            case "-":
                return _wrap(a - b)
            case _:
                return _wrap(a * b)


def evaluate(tokens: list[Token], loc: int, log: Log, strict: bool) -> int:
    """Evaluate a macro-expanded `#if` expression; `strict` rejects undefined names (ES)."""
    ev = _Evaluator(tokens, loc, log, strict)
    value = ev.binary(1, True)
    if ev.pos < len(tokens):
        raise ev.error(f"unexpected '{tokens[ev.pos][1]}' after preprocessor expression")
    return value
