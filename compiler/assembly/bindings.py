"""Bindings: the names by which a program reads attributes and state and writes results.

Each becomes one canonical text, such as `vertex.color.primary` or `matrix.mvp.0.plain.2`.
"""

from __future__ import annotations

import re

from gallette.compiler.assembly.program import Program
from gallette.compiler.assembly.tokens import Tokens

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


class Bindings:
    """Parses bindings from a program's tokens and records what the program uses."""

    def __init__(self, tokens: Tokens, program: Program):
        self.tokens, self.program = tokens, program

    def _color(self) -> str:
        """An optional .primary or .secondary."""
        if self.tokens.follows("primary", "secondary"):
            self.tokens.take()
            return self.tokens.take().text
        return "primary"

    def attribute(self) -> str:
        first = self.tokens.word("vertex" if self.program.vertex else "fragment")
        self.tokens.expect(".")
        if first == "vertex":
            word = self.tokens.word("position", "weight", "normal", "color", "fogcoord", "texcoord",
                              "matrixindex", "attrib")  # fmt: skip
        else:
            word = self.tokens.word("color", "texcoord", "fogcoord", "position")
        binding = f"{first}.{word}"
        if word == "color":
            binding += "." + self._color()
        elif word == "texcoord":
            binding += f".{self.tokens.index('texcoords', 0)}"
        elif word == "attrib":
            binding += f".{self.tokens.index('attribs')}"
        elif word in ("weight", "matrixindex"):
            raise self.tokens.error(f"vertex.{word} is not supported")
        self.program.attributes.add(binding)
        twin = _GENERIC_TWINS.get(binding)
        if word == "texcoord":
            twin = f"vertex.attrib.{8 + int(binding.rpartition('.')[2])}"
        others = {t: b for b, t in _GENERIC_TWINS.items()}
        if word == "attrib" and int(binding.rpartition(".")[2]) >= 8:
            others[binding] = f"vertex.texcoord.{int(binding.rpartition('.')[2]) - 8}"
        if {twin, others.get(binding)} & self.program.attributes:
            raise self.tokens.error(f"{binding} is the same attribute as another one that is used")
        return binding

    def result(self) -> str:
        self.tokens.word("result")
        self.tokens.expect(".")
        if not self.program.vertex:
            word = self.tokens.word("color", "depth")
            if word == "depth":
                return "depth"
            several = {"ARB_draw_buffers", "ATI_draw_buffers"} & set(self.program.options)
            if self.tokens.peek.text == "[" and not several:
                raise self.tokens.error("result.color[n] needs OPTION ARB_draw_buffers")
            return f"color.{self.tokens.index('drawbuffers', 0)}"
        word = self.tokens.word("position", "color", "fogcoord", "pointsize", "texcoord")
        if word == "texcoord":
            return f"texcoord.{self.tokens.index('texcoords', 0)}"
        if word == "color":
            face = "front"
            if self.tokens.follows("front", "back"):
                self.tokens.take()
                face = self.tokens.take().text
            return f"color.{face}.{self._color()}"
        if word == "position" and "ARB_position_invariant" in self.program.options:
            raise self.tokens.error("a position invariant program does not write its position")
        return word

    def parameters(self) -> list[str]:
        """One parameter binding, or the bindings of a range, as canonical names."""
        token = self.tokens.peek
        if token.text in ("program", "state"):
            found = self._program_items() if token.text == "program" else self._state_items()
        else:
            found = [self._constant()]
        self.program.parameters.update(found)
        return found

    def _range(self, limit: int) -> list[int]:
        self.tokens.expect("[")
        at = self.tokens.peek.at
        first = self.tokens.integer()
        last = first
        if self.tokens.peek.kind == "range":
            self.tokens.take()
            last = self.tokens.integer()
        self.tokens.expect("]")
        if last < first or last >= limit:
            raise self.tokens.error(f"indices {first} to {last} are not below {limit}", at)
        return list(range(first, last + 1))

    def _program_items(self) -> list[str]:
        self.tokens.take()
        self.tokens.expect(".")
        which = self.tokens.word("env", "local")
        return [f"program.{which}.{i}" for i in self._range(self.tokens.limits[which])]

    def _constant(self) -> str:
        """A scalar, or a vector in braces whose missing components are 0, 0, 1."""

        def number() -> float:
            sign = -1.0 if self.tokens.accept("-") else 1.0
            if sign > 0:
                self.tokens.accept("+")
            if self.tokens.peek.kind != "number":
                found = self.tokens.peek.text or "the end"
                raise self.tokens.error(f"expected a number, found {found!r}")
            return sign * float(self.tokens.take().text)

        if self.tokens.accept("{"):
            values = [number()]
            while self.tokens.accept(","):
                values.append(number())
            self.tokens.expect("}")
            if len(values) > 4:
                raise self.tokens.error("a vector has at most four components")
            values += [0.0, 0.0, 0.0, 1.0][len(values) :]
        else:
            values = [number()] * 4
        return "const." + "/".join(repr(v) for v in values)

    def _state_items(self) -> list[str]:
        self.tokens.take()
        self.tokens.expect(".")
        own = ("texgen", "clip", "point") if self.program.vertex else ("texenv", "depth")
        word = self.tokens.word(
            "material", "light", "lightmodel", "lightprod", "fog", "matrix", *own
        )
        if word == "matrix":
            return self._matrix_items()
        path = [word]
        if word in ("light", "lightprod", "texgen", "clip", "texenv"):
            limit = {"light": "lights", "lightprod": "lights", "clip": "planes"}.get(
                word, "texcoords"
            )
            default = 0 if word in ("texgen", "texenv") else None
            path.append(str(self.tokens.index(limit, default)))
        # No binding is a prefix of another one, so a dot after a whole one begins a swizzle.
        while not re.fullmatch(_STATE[word], ".".join(path)):
            if not self.tokens.accept("."):
                raise self.tokens.error(f"there is no state.{'.'.join(path)}")
            path.append(self.tokens.name())
        return ["state." + ".".join(path)]

    def _matrix_items(self) -> list[str]:
        self.tokens.expect(".")
        which = self.tokens.word("modelview", "projection", "mvp", "texture", "palette", "program")
        number = 0
        if which in ("texture", "program", "modelview"):
            limit = {"texture": "texcoords", "program": "matrices", "modelview": "modelviews"}[
                which
            ]
            number = self.tokens.index(limit, None if which == "program" else 0)
        elif which == "palette":
            raise self.tokens.error("there are no palette matrices")
        form = ""
        rows = [0, 1, 2, 3]
        while self.tokens.accept("."):
            word = self.tokens.word("inverse", "transpose", "invtrans", "row")
            if word == "row":
                rows = self._range(4)
                break
            form = word
        return [f"matrix.{which}.{number}.{form or 'plain'}.{row}" for row in rows]
