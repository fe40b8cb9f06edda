"""Assembly programs as data: declarations resolved, one `Instruction` per instruction.

The grammar is that of ARB_vertex_program and ARB_fragment_program. A mistake is an `AssemblyError`
with the byte at which it begins, for GL_PROGRAM_ERROR_POSITION_ARB.

    >>> parse("!!ARBfp1.0 TEMP t; MOV t, fragment.color; MOV result.color, t.wzyx; END").temps
    ['t']
"""

from __future__ import annotations

import re

from gallette.compiler.assembly.bindings import Bindings
from gallette.compiler.assembly.program import (
    AssemblyError,
    Instruction,
    Operand,
    Program,
    Target,
)
from gallette.compiler.assembly.tokens import Tokens

# Operands per opcode: v a vector, s a scalar (one component). A leading name says where it exists.
_BOTH = {
    "ABS": "v", "FLR": "v", "FRC": "v", "LIT": "v", "MOV": "v", "EX2": "s", "LG2": "s", "RCP": "s",
    "RSQ": "s", "POW": "ss", "ADD": "vv", "DP3": "vv", "DP4": "vv", "DPH": "vv", "DST": "vv",
    "MAX": "vv", "MIN": "vv", "MUL": "vv", "SGE": "vv", "SLT": "vv", "SUB": "vv", "XPD": "vv",
    "MAD": "vvv", "SWZ": "w",
}  # fmt: skip
_VERTEX = {**_BOTH, "EXP": "s", "LOG": "s", "ARL": "s"}
_FRAGMENT = {
    **_BOTH, "COS": "s", "SIN": "s", "SCS": "s", "CMP": "vvv", "LRP": "vvv", "KIL": "v",
    "TEX": "v", "TXP": "v", "TXB": "v",
}  # fmt: skip
_TEXTURES = ("1D", "2D", "3D", "CUBE", "RECT", "SHADOW1D", "SHADOW2D", "SHADOWRECT")
_OPTIONS = {
    True: ("ARB_position_invariant",),
    False: (
        "ARB_fog_exp", "ARB_fog_exp2", "ARB_fog_linear", "ARB_precision_hint_fastest",
        "ARB_precision_hint_nicest", "ARB_draw_buffers", "ATI_draw_buffers",
        "ARB_fragment_program_shadow", "ARB_fragment_coord_origin_upper_left",
        "ARB_fragment_coord_pixel_center_integer",
    ),
}  # fmt: skip

_RGBA, _TO_XYZW = frozenset("rgba"), str.maketrans("rgba", "xyzw")
_MASKS = frozenset(
    "".join(c for i, c in enumerate("xyzw") if bits >> i & 1) for bits in range(1, 16)
)
# ARB_vertex_program has offsets from -64 to 63 (`STRICT`); the extensions that widen them and Mesa
# take more, and programs with large arrays use them.
LIMITS = {
    "texcoords": 8, "attribs": 16, "env": 256, "local": 2048, "lights": 8, "planes": 8, "units": 16,
    "matrices": 8, "modelviews": 1, "drawbuffers": 8, "offset": 4096,
}  # fmt: skip

STRICT = {"offset": 64}


class _Parser:
    """Recursive descent; the symbol table maps names to what they stand for."""

    def __init__(self, text: str, limits: dict[str, int]):
        if text.startswith("!!ARBvp1.0"):
            self.program = Program(True)
        elif text.startswith("!!ARBfp1.0"):
            self.program = Program(False)
        else:
            raise AssemblyError("the program does not begin with !!ARBvp1.0 or !!ARBfp1.0", 0)
        self.tokens = Tokens(text, 10, limits)
        self.bindings = Bindings(self.tokens, self.program)
        self.symbols: dict[str, tuple[str, str]] = {}

    # -- statements ------------------------------------------------------------------------------

    def parse(self) -> Program:
        while self.tokens.accept("OPTION"):
            at = self.tokens.peek.at
            option = self.tokens.name()
            if option not in _OPTIONS[self.program.vertex]:
                raise self.tokens.error(f"unknown option {option}", at)
            self.program.options.append(option)
            self.tokens.expect(";")
        while not self.tokens.accept("END"):
            if self.tokens.peek.kind == "end":
                raise self.tokens.error("the program has no END")
            self._statement()
        return self.program

    def _statement(self) -> None:
        token = self.tokens.peek
        word = token.text
        declarations = {
            "TEMP": self._temps, "ADDRESS": self._temps, "ATTRIB": self._attrib,
            "PARAM": self._param, "OUTPUT": self._output, "ALIAS": self._alias,
        }  # fmt: skip
        if word in declarations:
            self.tokens.take()
            declarations[word]() if word not in ("TEMP", "ADDRESS") else self._temps(word)
        else:
            self._instruction()
        self.tokens.expect(";")

    def _declare(self, kind: str, value: str | None = None) -> str:
        at = self.tokens.peek.at
        name = self.tokens.name()
        if name in self.symbols:
            raise self.tokens.error(f"{name} is declared twice", at)
        self.symbols[name] = (kind, name if value is None else value)
        return name

    def _temps(self, word: str = "TEMP") -> None:
        if word == "ADDRESS" and not self.program.vertex:
            raise self.tokens.error("fragment programs have no address registers")
        into = self.program.temps if word == "TEMP" else self.program.addresses
        while True:
            into.append(self._declare("temp" if word == "TEMP" else "address"))
            if not self.tokens.accept(","):
                return

    def _attrib(self) -> None:
        name = self._declare("attrib", "")
        self.tokens.expect("=")
        self.symbols[name] = ("attrib", self.bindings.attribute())

    def _output(self) -> None:
        name = self._declare("result", "")
        self.tokens.expect("=")
        self.symbols[name] = ("result", self.bindings.result())

    def _alias(self) -> None:
        name = self._declare("alias", "")
        self.tokens.expect("=")
        at = self.tokens.peek.at
        other = self.tokens.name()
        if other not in self.symbols or self.symbols[other][0] == "alias":
            raise self.tokens.error(f"{other} is not declared", at)
        self.symbols[name] = self.symbols[other]

    def _param(self) -> None:
        name = self._declare("param", "")
        if self.tokens.accept("["):
            size = self.tokens.integer() if self.tokens.peek.text != "]" else 0
            self.tokens.expect("]")
            self.tokens.expect("=")
            self.tokens.expect("{")
            elements: list[str] = []
            while True:
                elements += self.bindings.parameters()
                if not self.tokens.accept(","):
                    break
            self.tokens.expect("}")
            if size and size != len(elements):
                raise self.tokens.error(f"{name} has {len(elements)} elements, not {size}")
            self.program.arrays[name] = elements
            self.symbols[name] = ("array", name)
            return
        self.tokens.expect("=")
        self.symbols[name] = ("param", self._one_parameter())

    def _one_parameter(self) -> str:
        """A parameter that is one vector: no matrix, and no range, not even one of one element."""
        begin = self.tokens.next
        items = self.bindings.parameters()
        words = self.tokens.tokens[begin : self.tokens.next]
        if len(items) != 1 or any(word.kind == "range" for word in words):
            raise self.tokens.error("one vector is wanted, not several", words[0].at)
        return items[0]

    # -- instructions ----------------------------------------------------------------------------

    def _instruction(self) -> None:
        token = self.tokens.peek
        op = self.tokens.name()
        saturate = op.endswith("_SAT") and not self.program.vertex
        op = op.removesuffix("_SAT") if saturate else op
        kinds = (_VERTEX if self.program.vertex else _FRAGMENT).get(op)
        if kinds is None:
            raise self.tokens.error(f"there is no instruction {op}", token.at)
        target = None
        if op != "KIL":
            target = self._target(op)
            self.tokens.expect(",")
        sources = []
        for i, kind in enumerate(kinds):
            if i:
                self.tokens.expect(",")
            sources.append(self._extended() if kind == "w" else self._source(kind == "s"))
        unit, texture = 0, ""
        if op in ("TEX", "TXP", "TXB"):
            self.tokens.expect(",")
            unit, texture = self._texture()
        self.program.instructions.append(
            Instruction(op, saturate, target, tuple(sources), unit, texture, token.at)
        )

    def _texture(self) -> tuple[int, str]:
        self.tokens.word("texture")
        unit = self.tokens.index("units", 0)
        self.tokens.expect(",")
        at = self.tokens.peek.at
        name = self.tokens.take().text
        if name.isdigit():  # 1D, 2D, 3D are a number and a letter
            name += self.tokens.name()
        if name not in _TEXTURES:
            raise self.tokens.error(f"there is no texture target {name}", at)
        shadow = "ARB_fragment_program_shadow" in self.program.options
        if name.startswith("SHADOW") and not shadow:
            raise self.tokens.error(f"{name} needs OPTION ARB_fragment_program_shadow", at)
        return unit, name

    def _target(self, op: str) -> Target:
        at = self.tokens.peek.at
        if self.tokens.peek.text == "result":
            kind, name = "result", self.bindings.result()
        else:
            symbol = self.tokens.name()
            if symbol not in self.symbols:
                raise self.tokens.error(f"{symbol} is not declared", at)
            kind, name = self.symbols[symbol]
        if kind not in (("address",) if op == "ARL" else ("temp", "result")):
            raise self.tokens.error("this cannot be written", at)
        mask = "xyzw"
        if self.tokens.accept("."):
            at = self.tokens.peek.at
            mask = self._letters(self.tokens.name(), at)
            if mask not in _MASKS:
                raise self.tokens.error(f"{mask} is no write mask", at)
        if kind == "address" and mask not in ("x", "xyzw"):
            raise self.tokens.error("address registers have one component", at)
        return Target(kind, name, mask)

    def _letters(self, text: str, at: int, extended: bool = False) -> str:
        """Components as x, y, z, w. Fragment programs write r, g, b, a, too, but do not mix them;
        Mesa also takes those letters in the SWZ of a vertex program.
        """
        mixed = bool(set(text) - _RGBA - set("01"))
        if _RGBA & set(text) and (mixed or (self.program.vertex and not extended)):
            raise self.tokens.error(f"{text} is not made of x, y, z and w", at)
        return text.translate(_TO_XYZW)

    def _variable(self) -> tuple[str, str, int, str]:
        """Kind, name, index and address register of a readable operand."""
        token = self.tokens.peek
        if token.text in ("vertex", "fragment"):
            return "attrib", self.bindings.attribute(), 0, ""
        if token.text in ("program", "state", "{") or token.kind == "number" or token.text in "+-":
            return "param", self._one_parameter(), 0, ""
        symbol = self.tokens.name()
        if symbol not in self.symbols:
            raise self.tokens.error(f"{symbol} is not declared", token.at)
        kind, name = self.symbols[symbol]
        if kind in ("result", "address"):
            raise self.tokens.error(f"{symbol} cannot be read", token.at)
        if kind != "array":
            return kind, name, 0, ""
        self.tokens.expect("[")
        size = len(self.program.arrays[name])
        if self.tokens.peek.kind == "number":
            at = self.tokens.peek.at
            index = self.tokens.integer()
            self.tokens.expect("]")
            if index >= size:
                raise self.tokens.error(f"index {index} is not below {size}", at)
            return "array", name, index, ""
        at = self.tokens.peek.at
        address = self.tokens.name()
        if self.symbols.get(address, ("", ""))[0] != "address":
            raise self.tokens.error(f"{address} is no address register", at)
        self.tokens.expect(".")
        component = self.tokens.word("x")
        offset = 0
        if self.tokens.peek.text in ("+", "-"):
            sign = 1 if self.tokens.take().text == "+" else -1
            at = self.tokens.peek.at
            offset = sign * self.tokens.integer()
            bound = self.tokens.limits["offset"]
            if not -bound <= offset < bound:
                raise self.tokens.error(f"the offset is not between {-bound} and {bound - 1}", at)
        self.tokens.expect("]")
        return "array", name, offset, f"{self.symbols[address][1]}.{component}"

    def _source(self, scalar: bool) -> Operand:
        negate = self.tokens.accept("-")
        if not negate:
            self.tokens.accept("+")
        at = self.tokens.peek.at
        kind, name, index, relative = self._variable()
        swizzle = "xyzw"
        if self.tokens.accept("."):
            at = self.tokens.peek.at
            swizzle = self._letters(self.tokens.name(), at)
            if not re.fullmatch("[xyzw]|[xyzw]{4}", swizzle):
                raise self.tokens.error(f"{swizzle} is no swizzle", at)
            if scalar and len(swizzle) > 1:
                raise self.tokens.error("one component is wanted", at)
            swizzle = swizzle * 4 if len(swizzle) == 1 else swizzle
        elif scalar:
            raise self.tokens.error("one component is wanted", at)
        return Operand(kind, name, swizzle, (negate,) * 4, index, relative)

    def _extended(self) -> Operand:
        """SWZ's operand: each component is one of the source's, 0 or 1, perhaps negated."""
        self.tokens.accept("+")
        kind, name, index, relative = self._variable()
        letters, signs, start = "", [], self.tokens.peek.at
        for _ in range(4):
            self.tokens.expect(",")
            signs.append(self.tokens.accept("-"))
            if not signs[-1]:
                self.tokens.accept("+")
            at = self.tokens.peek.at
            letter = self.tokens.take().text
            if letter not in tuple("01xyzwrgba"):
                raise self.tokens.error(f"{letter!r} is no component", at)
            letters += letter
        letters = self._letters(letters, start, extended=True)
        return Operand(
            kind, name, letters, (signs[0], signs[1], signs[2], signs[3]), index, relative
        )


def parse(text: str, limits: dict[str, int] | None = None) -> Program:
    """The program of a text; raises `AssemblyError` if it is malformed."""
    return _Parser(text, LIMITS | (limits or {})).parse()
