"""The parser of expressions: precedence climbing over the token list."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from gallette.compiler.glsl.availability import ARRAYS, DOUBLES, INTEGERS, INTEGERS_64, PACK_420
from gallette.compiler.glsl.builtins.variables import STRUCTS
from gallette.compiler.glsl.diagnostics import Abort, Log, did_you_mean
from gallette.compiler.glsl.language import Language
from gallette.compiler.glsl.laxities import grant
from gallette.compiler.glsl.parse import syntax as s
from gallette.compiler.glsl.parse.lexer import Token, number_value
from gallette.compiler.work_limits import MOST_NESTED

MAX_NESTING = 128
"""The nesting limit of parentheses, blocks and operators, which bounds every later recursion. C
requires that 127 blocks and 63 parentheses be accepted."""

_PRECEDENCE = {
    "||": 1,
    "^^": 2,
    "&&": 3,
    "|": 4,
    "^": 5,
    "&": 6,
    "==": 7,
    "!=": 7,
    "<": 8,
    ">": 8,
    "<=": 8,
    ">=": 8,
    "<<": 9,
    ">>": 9,
    "+": 10,
    "-": 10,
    "*": 11,
    "/": 11,
    "%": 11,
}
_ASSIGN = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="))
_PREFIX = frozenset(("+", "-", "!", "~", "++", "--"))
_WORDS = frozenset(("id", "num", "bool"))
_LINKS = frozenset((".", "[", "(", "++", "--"))
_ENDS = frozenset((",", ")", ";", "]"))


@lru_cache(maxsize=4096)
def _plain_number(text: str) -> tuple[str, int | float] | None:
    """Type and value of a number that is valid in every language; None for others."""
    value = number_value(text)
    if isinstance(value, str) or value[0] not in ("int", "float"):
        return None
    return None if value[0] == "float" and text[-1] in "fF" else value


class ExpressionParser:
    """Tokens, lookahead, scopes of type names, and expressions."""

    def __init__(self, tokens: list[Token], lang: Language, log: Log) -> None:
        end = tokens[-1][2] + len(tokens[-1][1]) if tokens else 0
        self.tokens = [*tokens, ("eof", "end of shader", end)]
        self.pos = 0
        self.lang = lang
        self.log = log
        self.depth = 0
        self.chained = 0  # else-ifs that the current token is nested in
        self.scopes: list[dict[str, bool]] = [{}]
        """name -> whether it is a type; inner scopes hide outer ones"""

    # -- tokens ------------------------------------------------------------------------------

    @property
    def kind(self) -> str:
        return self.tokens[self.pos][0]

    @property
    def loc(self) -> int:
        return self.tokens[self.pos][2]

    @property
    def last_end(self) -> int:
        """The location after the previous token."""
        pos = self.pos
        if pos == 0:
            return self.loc
        _, text, loc = self.tokens[pos - 1]
        return loc + len(text)

    def peek(self, ahead: int = 1) -> str:
        i = self.pos + ahead
        return self.tokens[i][0] if i < len(self.tokens) else "eof"

    def accept(self, kind: str) -> bool:
        if self.tokens[self.pos][0] == kind:
            self.pos += 1
            return True
        return False

    def expect(self, kind: str, after: str = "") -> Token:
        token = self.tokens[self.pos]
        if token[0] == kind:
            self.pos += 1
            return token
        if kind in (";", ")", "]", "}") and self.pos:
            where = f" after {after}" if after else ""
            end = self.last_end
            message = f"expected '{kind}'{where} before {self.shown()}"
            lines = self.log.sources
            if kind == ";" and token[0] != "eof" and lines.line(end - 1) < lines.line(token[2]):
                # At the end of a line it is probably missing: continue as if it were there.
                self.log.error(message, end - 1, end)
                return (kind, kind, end)
            raise self.log.abort(message, end - 1, end)
        raise self.unexpected("a name" if kind == "id" else f"'{kind}'")

    def shown(self) -> str:
        kind, text, _ = self.tokens[self.pos]
        return text if kind == "eof" else f"'{text}'"

    def unexpected(self, expected: str) -> Abort:
        _, text, loc = self.tokens[self.pos]
        return self.log.abort(
            f"unexpected {self.shown()}", loc, loc + len(text), f"expected {expected}"
        )

    def enter(self) -> None:
        """Count a level of nesting, in every construct that recurses."""
        self.depth += 1
        if self.depth > MAX_NESTING or self.depth + self.chained > MOST_NESTED:
            most = MAX_NESTING if self.depth > MAX_NESTING else MOST_NESTED
            raise self.log.give_up(f"nested more than {most} levels deep", self.loc)

    # -- type names --------------------------------------------------------------------------

    def declare(self, name: str, is_type: bool = False) -> None:
        self.scopes[-1][name] = is_type

    def is_type_name(self, name: str) -> bool:
        for scope in reversed(self.scopes):
            known = scope.get(name)
            if known is not None:
                return known
        if name.startswith("gl_"):
            struct = STRUCTS.get(name)
            return struct is not None and self.lang.has(struct[1])
        return False

    def known_names(self, types: bool) -> Iterable[str]:
        for scope in self.scopes:
            for name, is_type in scope.items():
                if is_type == types:
                    yield name

    def array_dims(self) -> list[s.Expr | None]:
        dims: list[s.Expr | None] = []
        while self.kind == "[":
            self.pos += 1
            if len(dims) >= 32:
                raise self.log.abort("too many array dimensions", self.loc)
            dims.append(None if self.kind == "]" else self.conditional())
            self.expect("]", "array size")
        return dims

    # -- expressions -------------------------------------------------------------------------

    def expression(self) -> s.Expr:
        first = self.assignment()
        if self.tokens[self.pos][0] != ",":
            return first
        items = [first]
        while self.accept(","):
            items.append(self.assignment())
        return s.Comma(first.loc, self.last_end, items)

    def assignment(self) -> s.Expr:
        tokens, pos = self.tokens, self.pos
        if tokens[pos][0] in _WORDS and tokens[pos + 1][0] in _ENDS:
            return self.word()  # the most frequent kind of argument
        target = self.binary(1)
        op = tokens[self.pos][0]
        if op == "?":
            target = self.choice(target)
            op = tokens[self.pos][0]
        if op not in _ASSIGN:
            return target
        self.pos += 1
        self.enter()
        value = self.assignment()
        self.depth -= 1
        return s.Assign(target.loc, value.end, op, target, value)

    def conditional(self) -> s.Expr:
        condition = self.binary(1)
        return self.choice(condition) if self.tokens[self.pos][0] == "?" else condition

    def choice(self, condition: s.Expr) -> s.Expr:
        """The rest of a conditional expression, from its `?` on."""
        self.pos += 1
        self.enter()
        then = self.expression()
        self.expect(":")
        otherwise = self.assignment()
        self.depth -= 1
        return s.Conditional(condition.loc, otherwise.end, condition, then, otherwise)

    def binary(self, level: int) -> s.Expr:
        tokens, pos, precedence = self.tokens, self.pos, _PRECEDENCE
        if tokens[pos][0] in _WORDS and tokens[pos + 1][0] not in _LINKS:
            left = self.word()  # the most frequent kind of operand
        else:
            left = self.unary()
        while True:
            op = tokens[self.pos][0]
            own = precedence.get(op, 0)
            if own < level:
                return left
            self.pos = pos = self.pos + 1
            right = None
            if tokens[pos][0] in _WORDS:
                after = tokens[pos + 1][0]
                if after not in _LINKS and precedence.get(after, 0) <= own:
                    right = self.word()
            if right is None:
                right = self.binary(own + 1)
            left = s.Binary(left.loc, right.end, op, left, right)

    def unary(self) -> s.Expr:
        kind, _, loc = self.tokens[self.pos]
        if kind not in _PREFIX:
            if kind in _WORDS and self.tokens[self.pos + 1][0] not in _LINKS:
                return self.word()
            return self.postfix()
        self.pos += 1
        self.enter()
        operand = self.unary()
        self.depth -= 1
        return s.Unary(loc, operand.end, kind, operand)

    def postfix(self) -> s.Expr:
        expr = self.primary()
        links = 0
        tokens = self.tokens
        while (kind := tokens[self.pos][0]) in _LINKS:
            if kind == ".":
                self.pos += 1
                name, name_loc = self.member_name()
                expr = s.Member(expr.loc, name_loc + len(name), expr, name, name_loc)
                if tokens[self.pos][0] == "(":
                    expr = self.call(expr)  # a method
            elif kind == "[":
                self.pos += 1
                self.enter()
                if self.kind == "]":
                    raise self.unexpected("an index")
                index = self.expression()
                self.depth -= 1
                self.expect("]", "index")
                expr = s.Index(expr.loc, self.last_end, expr, index)
            elif kind == "(" and isinstance(expr, s.Index):
                expr = self.call(expr)
            elif kind == "++" or kind == "--":
                self.pos += 1
                expr = s.Unary(expr.loc, self.last_end, "p" + kind, expr)
            else:
                break
            links += 1
            if links > MAX_NESTING:
                raise self.log.abort(f"more than {MAX_NESTING} subscripts in a row", self.loc)
        return expr

    def member_name(self) -> tuple[str, int]:
        kind, text, loc = self.tokens[self.pos]
        if kind not in ("id", "type", "qual") and not text.isidentifier():
            raise self.unexpected("a member or swizzle")
        self.pos += 1
        return text, loc

    def word(self) -> s.Expr:
        """A name or a literal that is not followed by a postfix operator."""
        kind, text, loc = self.tokens[self.pos]
        self.pos += 1
        end = loc + len(text)
        if kind == "id":
            return s.Name(loc, end, text)
        if kind == "bool":
            return s.Literal(loc, end, "bool", text == "true")
        plain = _plain_number(text)
        if plain is not None:
            return s.Literal(loc, end, plain[0], plain[1])
        value = number_value(text)
        if isinstance(value, str):
            self.log.error(value, loc, end)
            return s.Literal(loc, end, "int", 0)
        self.check_literal(value[0], text, loc, end)
        return s.Literal(loc, end, value[0], value[1])

    def primary(self) -> s.Expr:
        kind, text, loc = self.tokens[self.pos]
        if kind == "id":
            end = loc + len(text)
            after = self.tokens[self.pos + 1][0]
            if after == "(":
                self.pos += 1
                name: s.Name | s.TypeRef = s.Name(loc, end, text)
                if self.is_type_name(text):
                    name = s.TypeRef(loc, end, text, None, [])
                return self.call(name)
            if after == "[" and self.is_type_name(text):
                return self.array_constructor()
            self.pos += 1
            return s.Name(loc, end, text)
        if kind == "num" or kind == "bool":
            return self.word()
        if kind == "(":
            self.pos += 1
            self.enter()
            inner = self.expression()
            self.depth -= 1
            self.expect(")", "expression")
            return inner
        if kind == "type":
            if self.tokens[self.pos + 1][0] == "(":
                self.pos += 1
                ref = s.TypeRef(loc, loc + len(text), text, None, [])
                return self.call(ref)
            return self.array_constructor()
        raise self.unexpected("an expression")

    def check_literal(self, kind: str, text: str, loc: int, end: int) -> None:
        lang = self.lang
        if kind == "uint" and not lang.has(INTEGERS):
            message = f"unsigned literals need GLSL 1.30, not {lang.name}"
            grant("unsigned suffix", lang, self.log, message, loc, end)
        elif kind == "double" and not lang.has(DOUBLES):
            self.log.error(f"double literals need GLSL 4.00, not {lang.name}", loc, end)
        elif kind in ("int64_t", "uint64_t") and not lang.has(INTEGERS_64):
            self.log.error("64-bit integer literals need GL_ARB_gpu_shader_int64", loc, end)
        elif (
            kind == "float"
            and text[-1] in "fF"
            and not text.startswith("0x")
            and not lang.has(ARRAYS)
        ):
            message = f"the suffix 'f' needs GLSL 1.20, not {lang.name}"
            grant("float suffix", lang, self.log, message, loc, end)

    def array_constructor(self) -> s.Expr:
        _, text, loc = self.tokens[self.pos]
        self.pos += 1
        if self.kind != "[":
            raise self.unexpected(f"a name, or '(' to construct '{text}'")
        dims = self.array_dims()
        ref = s.TypeRef(loc, self.last_end, text, None, dims)
        if self.kind != "(":
            raise self.unexpected("'(' of an array constructor")
        return self.call(ref)

    def call(self, callee: s.Name | s.TypeRef | s.Member | s.Index) -> s.Call:
        """Parse a call's arguments; its parenthesis is the next token."""
        self.pos += 1
        self.enter()
        args: list[s.Expr] = []
        tokens = self.tokens
        kind, text, _ = tokens[self.pos]
        if text == "void" and kind == "type" and self.peek() == ")":
            self.pos += 1
            kind = ")"
        more = kind != ")"
        while more:
            word = tokens[self.pos][0] in _WORDS and tokens[self.pos + 1][0] in _ENDS
            args.append(self.word() if word else self.assignment())
            more = tokens[self.pos][0] == ","
            self.pos += more
        self.depth -= 1
        end = self.expect(")", "arguments")[2] + 1
        return s.Call(callee.loc, end, callee, args)

    def initializer(self) -> s.Expr:
        """An assignment expression or, if the language allows it, `{ ... }`."""
        if self.tokens[self.pos][0] != "{":
            return self.assignment()
        loc = self.loc
        if not self.lang.has(PACK_420):
            raise self.log.abort(f"initializer lists are not in {self.lang.name}", loc)
        self.pos += 1
        self.enter()
        items = [self.initializer()]
        while self.accept(","):
            if self.kind == "}":
                break
            items.append(self.initializer())
        self.depth -= 1
        self.expect("}", "initializer list")
        return s.InitList(loc, self.last_end, items)

    def suggest_type(self, name: str) -> str:
        return did_you_mean(name, [*self.known_names(True), "float", "vec2", "vec3", "vec4"])
