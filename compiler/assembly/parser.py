"""Assembly programs as data: declarations resolved, one `Instruction` per instruction.

The grammar is that of ARB_vertex_program and ARB_fragment_program. A mistake is an `AssemblyError`
with the byte at which it begins, which is what GL_PROGRAM_ERROR_POSITION_ARB answers.

    >>> parse("!!ARBfp1.0 TEMP t; MOV t, fragment.color; MOV result.color, t.wzyx; END").temps
    ['t']
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

__all__ = ["AssemblyError", "Instruction", "Operand", "Program", "Target", "parse"]


class AssemblyError(Exception):
    """What is wrong, and at which byte of the program."""

    def __init__(self, message: str, position: int, text: str = ""):
        self.position = position
        line = text.count("\n", 0, position) + 1
        column = position - (text.rfind("\n", 0, position) + 1) + 1
        super().__init__(f"line {line}, char {column}: error: {message}")


@dataclass(frozen=True, slots=True)
class Operand:
    """A source: a temporary, attribute, parameter or array element, swizzled and negated."""

    kind: str  # temp, attrib, param, array, address
    name: str  # of the variable, or a binding such as "vertex.position"
    swizzle: str = "xyzw"
    negate: tuple[bool, bool, bool, bool] = (False, False, False, False)
    index: int = 0
    relative: str = ""  # address register with component


@dataclass(frozen=True, slots=True)
class Target:
    """A destination with its write mask."""

    kind: str  # temp, result, address
    name: str
    mask: str = "xyzw"


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction; texture instructions have a unit and a target."""

    op: str
    saturate: bool
    target: Target | None
    sources: tuple[Operand, ...]
    unit: int = 0
    texture: str = ""
    position: int = 0


@dataclass(slots=True)
class Program:
    """A parsed program."""

    vertex: bool
    options: list[str] = field(default_factory=list)
    temps: list[str] = field(default_factory=list)
    addresses: list[str] = field(default_factory=list)
    arrays: dict[str, list[str]] = field(default_factory=dict)  # elements are parameter bindings
    instructions: list[Instruction] = field(default_factory=list)
    parameters: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)

    @property
    def texture_instructions(self) -> int:
        return sum(1 for i in self.instructions if i.texture)


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

_TOKEN = re.compile(
    r"(?P<space>[ \t\r\n]+|\#[^\n]*)|(?P<number>(?:\d+(?:\.(?!\.)\d*)?|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<name>[A-Za-z_$][A-Za-z0-9_$]*)|(?P<range>\.\.)"
    r"|(?P<mark>[-+,;=.\[\]{}|])"
)


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    at: int


class _Parser:
    """Recursive descent; the symbol table maps names to what they stand for."""

    def __init__(self, text: str, limits: dict[str, int]):
        self.text, self.limits = text, limits
        if text.startswith("!!ARBvp1.0"):
            self.program = Program(True)
        elif text.startswith("!!ARBfp1.0"):
            self.program = Program(False)
        else:
            raise AssemblyError("the program does not begin with !!ARBvp1.0 or !!ARBfp1.0", 0)
        self.tokens = self._scan(10)
        self.next = 0
        self.symbols: dict[str, tuple[str, str]] = {}

    def _scan(self, at: int) -> list[_Token]:
        found = []
        while at < len(self.text):
            match = _TOKEN.match(self.text, at)
            if match is None:
                raise self.error(f"unexpected character {self.text[at]!r}", at)
            kind = str(match.lastgroup)
            if kind != "space":
                found.append(_Token(kind, match[0], at))
            at = match.end()
        found.append(_Token("end", "", len(self.text)))
        return found

    def error(self, message: str, at: int | None = None) -> AssemblyError:
        return AssemblyError(message, self.peek.at if at is None else at, self.text)

    # -- tokens ----------------------------------------------------------------------------------

    @property
    def peek(self) -> _Token:
        return self.tokens[self.next]

    def take(self) -> _Token:
        token = self.tokens[self.next]
        self.next += 1
        return token

    def accept(self, text: str) -> bool:
        if self.peek.text == text:
            self.next += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.accept(text):
            raise self.error(f"expected {text!r}, found {self.peek.text or 'the end'!r}")

    def name(self) -> str:
        if self.peek.kind != "name":
            raise self.error(f"expected a name, found {self.peek.text or 'the end'!r}")
        return self.take().text

    def integer(self) -> int:
        if self.peek.kind != "number" or not self.peek.text.isdigit():
            raise self.error(f"expected an integer, found {self.peek.text or 'the end'!r}")
        return int(self.take().text)

    # -- statements ------------------------------------------------------------------------------

    def parse(self) -> Program:
        while self.accept("OPTION"):
            at = self.peek.at
            option = self.name()
            if option not in _OPTIONS[self.program.vertex]:
                raise self.error(f"unknown option {option}", at)
            self.program.options.append(option)
            self.expect(";")
        while not self.accept("END"):
            if self.peek.kind == "end":
                raise self.error("the program has no END")
            self._statement()
        return self.program

    def _statement(self) -> None:
        token = self.peek
        word = token.text
        declarations = {
            "TEMP": self._temps, "ADDRESS": self._temps, "ATTRIB": self._attrib,
            "PARAM": self._param, "OUTPUT": self._output, "ALIAS": self._alias,
        }  # fmt: skip
        if word in declarations:
            self.take()
            declarations[word]() if word not in ("TEMP", "ADDRESS") else self._temps(word)
        else:
            self._instruction()
        self.expect(";")

    def _declare(self, kind: str, value: str | None = None) -> str:
        at = self.peek.at
        name = self.name()
        if name in self.symbols:
            raise self.error(f"{name} is declared twice", at)
        self.symbols[name] = (kind, name if value is None else value)
        return name

    def _temps(self, word: str = "TEMP") -> None:
        if word == "ADDRESS" and not self.program.vertex:
            raise self.error("fragment programs have no address registers")
        into = self.program.temps if word == "TEMP" else self.program.addresses
        while True:
            into.append(self._declare("temp" if word == "TEMP" else "address"))
            if not self.accept(","):
                return

    def _attrib(self) -> None:
        name = self._declare("attrib", "")
        self.expect("=")
        self.symbols[name] = ("attrib", self._attrib_binding())

    def _output(self) -> None:
        name = self._declare("result", "")
        self.expect("=")
        self.symbols[name] = ("result", self._result_binding())

    def _alias(self) -> None:
        name = self._declare("alias", "")
        self.expect("=")
        at = self.peek.at
        other = self.name()
        if other not in self.symbols or self.symbols[other][0] == "alias":
            raise self.error(f"{other} is not declared", at)
        self.symbols[name] = self.symbols[other]

    def _param(self) -> None:
        name = self._declare("param", "")
        if self.accept("["):
            size = self.integer() if self.peek.text != "]" else 0
            self.expect("]")
            self.expect("=")
            self.expect("{")
            elements: list[str] = []
            while True:
                elements += self._parameter_items()
                if not self.accept(","):
                    break
            self.expect("}")
            if size and size != len(elements):
                raise self.error(f"{name} has {len(elements)} elements, not {size}")
            self.program.arrays[name] = elements
            self.symbols[name] = ("array", name)
            return
        self.expect("=")
        items = self._parameter_items()
        if len(items) != 1:
            raise self.error("one parameter is not a range")
        self.symbols[name] = ("param", items[0])

    # -- bindings --------------------------------------------------------------------------------

    def _index(self, limit: str, default: int | None = None) -> int:
        if not self.accept("["):
            if default is None:
                raise self.error("expected an index")
            return default
        at = self.peek.at
        value = self.integer()
        self.expect("]")
        if value >= self.limits[limit]:
            raise self.error(f"index {value} is not below {self.limits[limit]}", at)
        return value

    def _word(self, *words: str) -> str:
        at = self.peek.at
        found = self.name()
        if found not in words:
            raise self.error(f"expected {' or '.join(words)}, found {found}", at)
        return found

    def _color(self) -> str:
        """An optional .primary or .secondary."""
        if self.peek.text == "." and self.tokens[self.next + 1].text in ("primary", "secondary"):
            self.take()
            return self.take().text
        return "primary"

    def _attrib_binding(self) -> str:
        first = self._word("vertex" if self.program.vertex else "fragment")
        self.expect(".")
        if first == "vertex":
            word = self._word("position", "weight", "normal", "color", "fogcoord", "texcoord",
                              "matrixindex", "attrib")  # fmt: skip
        else:
            word = self._word("color", "texcoord", "fogcoord", "position")
        binding = f"{first}.{word}"
        if word == "color":
            binding += "." + self._color()
        elif word == "texcoord":
            binding += f".{self._index('texcoords', 0)}"
        elif word == "attrib":
            binding += f".{self._index('attribs')}"
        elif word in ("weight", "matrixindex"):
            raise self.error(f"vertex.{word} is not supported")
        self.program.attributes.add(binding)
        twin = _GENERIC_TWINS.get(binding)
        if word == "texcoord":
            twin = f"vertex.attrib.{8 + int(binding.rpartition('.')[2])}"
        others = {t: b for b, t in _GENERIC_TWINS.items()}
        if word == "attrib" and int(binding.rpartition(".")[2]) >= 8:
            others[binding] = f"vertex.texcoord.{int(binding.rpartition('.')[2]) - 8}"
        if {twin, others.get(binding)} & self.program.attributes:
            raise self.error(f"{binding} is the same attribute as another one that is used")
        return binding

    def _result_binding(self) -> str:
        self._word("result")
        self.expect(".")
        if not self.program.vertex:
            word = self._word("color", "depth")
            if word == "depth":
                return "depth"
            several = {"ARB_draw_buffers", "ATI_draw_buffers"} & set(self.program.options)
            if self.peek.text == "[" and not several:
                raise self.error("result.color[n] needs OPTION ARB_draw_buffers")
            return f"color.{self._index('drawbuffers', 0)}"
        word = self._word("position", "color", "fogcoord", "pointsize", "texcoord")
        if word == "texcoord":
            return f"texcoord.{self._index('texcoords', 0)}"
        if word == "color":
            face = "front"
            if self.peek.text == "." and self.tokens[self.next + 1].text in ("front", "back"):
                self.take()
                face = self.take().text
            return f"color.{face}.{self._color()}"
        if word == "position" and "ARB_position_invariant" in self.program.options:
            raise self.error("a position invariant program does not write its position")
        return word

    def _parameter_items(self) -> list[str]:
        """One parameter binding, or the several of a range, as canonical names."""
        token = self.peek
        if token.text in ("program", "state"):
            found = self._program_items() if token.text == "program" else self._state_items()
        else:
            found = [self._constant()]
        self.program.parameters.update(found)
        return found

    def _range(self, limit: int) -> list[int]:
        self.expect("[")
        at = self.peek.at
        first = self.integer()
        last = first
        if self.peek.kind == "range":
            self.take()
            last = self.integer()
        self.expect("]")
        if last < first or last >= limit:
            raise self.error(f"indices {first} to {last} are not below {limit}", at)
        return list(range(first, last + 1))

    def _program_items(self) -> list[str]:
        self.take()
        self.expect(".")
        which = self._word("env", "local")
        return [f"program.{which}.{i}" for i in self._range(self.limits[which])]

    def _constant(self) -> str:
        """A scalar, or a vector in braces whose missing components are 0, 0, 1."""

        def number() -> float:
            sign = -1.0 if self.accept("-") else 1.0
            if sign > 0:
                self.accept("+")
            if self.peek.kind != "number":
                raise self.error(f"expected a number, found {self.peek.text or 'the end'!r}")
            return sign * float(self.take().text)

        if self.accept("{"):
            values = [number()]
            while self.accept(","):
                values.append(number())
            self.expect("}")
            if len(values) > 4:
                raise self.error("a vector has at most four components")
            values += [0.0, 0.0, 0.0, 1.0][len(values) :]
        else:
            values = [number()] * 4
        return "const." + "/".join(repr(v) for v in values)

    def _state_items(self) -> list[str]:
        self.take()
        self.expect(".")
        word = self._word("material", "light", "lightmodel", "lightprod", "texgen", "texenv", "fog",
                          "clip", "point", "matrix", "depth")  # fmt: skip
        if word == "matrix":
            return self._matrix_items()
        path = [word]
        if word in ("light", "lightprod", "texgen", "clip", "texenv"):
            limit = {"light": "lights", "lightprod": "lights", "clip": "planes"}.get(
                word, "texcoords"
            )
            default = 0 if word in ("texgen", "texenv") else None
            path.append(str(self._index(limit, default)))
        while self.accept("."):
            path.append(self.name())
        known = re.fullmatch(_STATE[word], ".".join(path))
        if known is None:
            raise self.error(f"there is no state.{'.'.join(path)}")
        return ["state." + ".".join(path)]

    def _matrix_items(self) -> list[str]:
        self.expect(".")
        which = self._word("modelview", "projection", "mvp", "texture", "palette", "program")
        number = 0
        if which in ("texture", "program", "modelview"):
            limit = {"texture": "texcoords", "program": "matrices", "modelview": "modelviews"}[
                which
            ]
            number = self._index(limit, None if which == "program" else 0)
        elif which == "palette":
            raise self.error("there are no palette matrices")
        form = ""
        rows = [0, 1, 2, 3]
        while self.accept("."):
            word = self._word("inverse", "transpose", "invtrans", "row")
            if word == "row":
                rows = self._range(4)
                break
            form = word
        return [f"matrix.{which}.{number}.{form or 'plain'}.{row}" for row in rows]

    # -- instructions ----------------------------------------------------------------------------

    def _instruction(self) -> None:
        token = self.peek
        op = self.name()
        saturate = op.endswith("_SAT") and not self.program.vertex
        op = op.removesuffix("_SAT") if saturate else op
        kinds = (_VERTEX if self.program.vertex else _FRAGMENT).get(op)
        if kinds is None:
            raise self.error(f"there is no instruction {op}", token.at)
        target = None
        if op != "KIL":
            target = self._target(op)
            self.expect(",")
        sources = []
        for i, kind in enumerate(kinds):
            if i:
                self.expect(",")
            sources.append(self._extended() if kind == "w" else self._source(kind == "s"))
        unit, texture = 0, ""
        if op in ("TEX", "TXP", "TXB"):
            self.expect(",")
            unit, texture = self._texture()
        self.program.instructions.append(
            Instruction(op, saturate, target, tuple(sources), unit, texture, token.at)
        )

    def _texture(self) -> tuple[int, str]:
        self._word("texture")
        unit = self._index("units", 0)
        self.expect(",")
        at = self.peek.at
        name = self.take().text
        if name.isdigit():  # 1D, 2D, 3D are a number and a letter
            name += self.name()
        if name not in _TEXTURES:
            raise self.error(f"there is no texture target {name}", at)
        shadow = "ARB_fragment_program_shadow" in self.program.options
        if name.startswith("SHADOW") and not shadow:
            raise self.error(f"{name} needs OPTION ARB_fragment_program_shadow", at)
        return unit, name

    def _target(self, op: str) -> Target:
        at = self.peek.at
        if self.peek.text == "result":
            kind, name = "result", self._result_binding()
        else:
            symbol = self.name()
            if symbol not in self.symbols:
                raise self.error(f"{symbol} is not declared", at)
            kind, name = self.symbols[symbol]
        if kind not in (("address",) if op == "ARL" else ("temp", "result")):
            raise self.error("this cannot be written", at)
        mask = "xyzw"
        if self.accept("."):
            at = self.peek.at
            mask = self.name().translate(_TO_XYZW)
            if not mask or mask not in _MASKS:
                raise self.error(f"{mask} is no write mask", at)
        if kind == "address" and mask not in ("x", "xyzw"):
            raise self.error("address registers have one component", at)
        return Target(kind, name, mask)

    def _variable(self) -> tuple[str, str, int, str]:
        """Kind, name, index and address of something that can be read."""
        token = self.peek
        if token.text in ("vertex", "fragment"):
            return "attrib", self._attrib_binding(), 0, ""
        if token.text in ("program", "state", "{") or token.kind == "number" or token.text in "+-":
            items = self._parameter_items()
            if len(items) != 1:
                raise self.error("a whole matrix is no operand", token.at)
            return "param", items[0], 0, ""
        symbol = self.name()
        if symbol not in self.symbols:
            raise self.error(f"{symbol} is not declared", token.at)
        kind, name = self.symbols[symbol]
        if kind in ("result", "address"):
            raise self.error(f"{symbol} cannot be read", token.at)
        if kind != "array":
            return kind, name, 0, ""
        self.expect("[")
        size = len(self.program.arrays[name])
        if self.peek.kind == "number":
            at = self.peek.at
            index = self.integer()
            self.expect("]")
            if index >= size:
                raise self.error(f"index {index} is not below {size}", at)
            return "array", name, index, ""
        at = self.peek.at
        address = self.name()
        if self.symbols.get(address, ("", ""))[0] != "address":
            raise self.error(f"{address} is no address register", at)
        self.expect(".")
        component = self._word("x")
        offset = 0
        if self.peek.text in ("+", "-"):
            sign = 1 if self.take().text == "+" else -1
            at = self.peek.at
            offset = sign * self.integer()
            if not -64 <= offset <= 63:
                raise self.error("the offset is not between -64 and 63", at)
        self.expect("]")
        return "array", name, offset, f"{self.symbols[address][1]}.{component}"

    def _source(self, scalar: bool) -> Operand:
        negate = self.accept("-")
        if not negate:
            self.accept("+")
        at = self.peek.at
        literal = self.peek.kind == "number"
        kind, name, index, relative = self._variable()
        swizzle = "xyzw"
        if self.peek.text == "." and not literal:
            self.take()
            at = self.peek.at
            swizzle = self.name().translate(_TO_XYZW)
            if not re.fullmatch("[xyzw]|[xyzw]{4}", swizzle):
                raise self.error(f"{swizzle} is no swizzle", at)
            swizzle = swizzle * 4 if len(swizzle) == 1 else swizzle
            if scalar and len(set(swizzle)) > 1:
                raise self.error("one component is wanted", at)
        elif scalar and not literal:
            raise self.error("one component is wanted", at)
        return Operand(kind, name, swizzle, (negate,) * 4, index, relative)

    def _extended(self) -> Operand:
        """SWZ's operand: each component is one of the source's, 0 or 1, perhaps negated."""
        self.accept("+")
        kind, name, index, relative = self._variable()
        letters, signs = "", []
        for _ in range(4):
            self.expect(",")
            signs.append(self.accept("-"))
            if not signs[-1]:
                self.accept("+")
            at = self.peek.at
            letter = self.take().text.translate(_TO_XYZW)
            if letter not in ("0", "1", "x", "y", "z", "w"):
                raise self.error(f"{letter!r} is no component", at)
            letters += letter
        return Operand(
            kind, name, letters, (signs[0], signs[1], signs[2], signs[3]), index, relative
        )


_TO_XYZW = str.maketrans("rgba", "xyzw")
_MASKS = frozenset(
    "".join(c for i, c in enumerate("xyzw") if bits >> i & 1) for bits in range(1, 16)
)
_FACE = r"(\.(front|back))?"
_COLORS = r"\.(ambient|diffuse|specular)"
# Generic attributes share their storage with these.
_GENERIC_TWINS = {
    "vertex.position": "vertex.attrib.0",
    "vertex.normal": "vertex.attrib.2",
    "vertex.color.primary": "vertex.attrib.3",
    "vertex.color.secondary": "vertex.attrib.4",
    "vertex.fogcoord": "vertex.attrib.5",
}
_MATRIX_LIMITS = {"texture": "texcoords", "program": "matrices", "modelview": "modelviews"}
_STATE = {
    "material": rf"material{_FACE}\.(ambient|diffuse|specular|emission|shininess)",
    "light": r"light\.\d+\.(ambient|diffuse|specular|position|attenuation|half|spot\.direction)",
    "lightmodel": rf"lightmodel(\.ambient|{_FACE}\.scenecolor)",
    "lightprod": rf"lightprod\.\d+{_FACE}{_COLORS}",
    "texgen": r"texgen\.\d+\.(eye|object)\.[strq]",
    "texenv": r"texenv\.\d+\.color",
    "fog": r"fog\.(color|params)",
    "clip": r"clip\.\d+\.plane",
    "point": r"point\.(size|attenuation)",
    "depth": r"depth\.range",
}
LIMITS = {
    "texcoords": 8, "attribs": 16, "env": 256, "local": 256, "lights": 8, "planes": 8, "units": 16,
    "matrices": 8, "modelviews": 1, "drawbuffers": 8,
}  # fmt: skip


def parse(text: str, limits: dict[str, int] | None = None) -> Program:
    """The program a text means; `AssemblyError` if it means none."""
    return _Parser(text, LIMITS | (limits or {})).parse()
