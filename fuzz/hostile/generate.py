"""A program of a seed: objects, shaders, and calls of any function with arguments of any kind."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.calls.arguments import Arguments, Menu, group
from fuzz.gl_programs.writer import Made, Objects
from fuzz.grammar import Grammar
from fuzz.programs import LINE, Program, lines_of
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.registry import implementations

from . import numbers, stages
from .tables import FORMATS, IMAGE_FORMATS, TARGETS, kind_of, upload

_KINDS = """program pipeline kernel buffer texture framebuffer array sampler renderbuffer query
feedback sync handle"""
_MODES = {
    "points": ("POINTS",),
    "lines": ("LINES", "LINE_STRIP", "LINE_LOOP"),
    "lines_adjacency": ("LINES_ADJACENCY", "LINE_STRIP_ADJACENCY"),
    "triangles": ("TRIANGLES", "TRIANGLE_STRIP", "TRIANGLE_FAN"),
    "triangles_adjacency": ("TRIANGLES_ADJACENCY", "TRIANGLE_STRIP_ADJACENCY"),
}
"""what may be drawn with a geometry shader, by its inputs"""
_LIKELY = ("RGBA8", "DEPTH_COMPONENT24", "DEPTH24_STENCIL8", "RGBA32F", "R32UI", "RGBA16F")
_EDGES = (1, 2, 3, 4, 5, 7, 8, 8, 16, 16, 17, 33)
"""texels along an axis"""


@cache
def menu(profile: str) -> Menu:
    """The functions of a profile."""
    context = Context("numpipe", profile=profile, version=(4, 6), size=(1, 1))
    known = [n for n in implementations() if context.has_function(FUNCTIONS.method(n))]
    context.release()
    return Menu(known)


@cache
def grammar() -> Grammar:
    return Grammar(Path(__file__).with_name("programs.txt").read_text(), LINE)


def generate(seed: int, steps: int = 60) -> Program:
    """Lines: what a program begins with, and so many steps after it."""
    w = _Writer(random.Random(seed))
    written = [w.write("begin"), *(w.write("step") for _ in range(steps))]
    return Program(lines_of(written), w.profile, w.r.choice((0, 0, 0, 4)))


class _Writer(Objects):
    """A program being written; `used` is the program or the pipeline in use."""

    sizes = numbers.SIZES
    query_targets = group("QUERY")
    depth_formats = (
        ("DEPTH_ATTACHMENT", "DEPTH_COMPONENT16"),
        ("DEPTH_ATTACHMENT", "DEPTH_COMPONENT32F"),
        ("DEPTH_STENCIL_ATTACHMENT", "DEPTH24_STENCIL8"),
        ("DEPTH_STENCIL_ATTACHMENT", "DEPTH32F_STENCIL8"),
        ("STENCIL_ATTACHMENT", "STENCIL_INDEX8"),
    )

    def __init__(self, r: random.Random) -> None:
        super().__init__(r, _KINDS)
        self.profile = "compat" if r.random() < 0.15 else "core"
        self.menu = menu(self.profile)
        self.arguments = Arguments(r, lambda kind: str(self.some(kind)))
        self.used: Any = Made(name="0", uniforms=[], attributes=[])
        self._before: list[str] = []

    def seed(self) -> int:
        return self.r.randrange(100_000)

    def write(self, rule: str, **known: Any) -> str:
        return grammar().write(rule, self, **known)

    # -- objects -------------------------------------------------------------------------------

    def some(self, kind: str) -> Made:
        """An object: few are none, or new ones, whose lines come before the next."""
        if self.often(0.03):
            return Made(name="0")
        if not self.of(kind) or self.often(0.03):
            if kind in ("program", "pipeline"):
                return self.used  # type: ignore[no-any-return]
            self._before.append(self.write(kind))
        made: Made = self.r.choice(self.of(kind))
        return made

    def before(self) -> str:
        """The lines that make what `some` found missing."""
        lines, self._before = [*self._before, ""], []
        return LINE.join(lines)

    def any_texture(self) -> tuple[str, str]:
        """A target and a format."""
        target = self.r.choice([*TARGETS])
        formats = [*IMAGE_FORMATS] if target == "TEXTURE_BUFFER" else [*FORMATS]
        return target, self.r.choice(formats if self.often(0.5) else [*_LIKELY, *IMAGE_FORMATS])

    def texture_of(self, target: str, format: str) -> Made:
        return self.new(
            "texture",
            target=target,
            format=format,
            shape=TARGETS[target],
            upload=", ".join(upload(FORMATS[format])),
            compressed=FORMATS[format].is_compressed,
        )

    def extents(self, texture: Made) -> list[int]:
        found = [self.r.choice(_EDGES) for _ in range(texture.shape.sizes)]
        if "CUBE" in texture.target:
            found[1:2], found[2:] = found[:1], [6] * (len(found) - 2)
        if found and self.often(0.03):
            found[-1] = self.r.choice((0, 300, 2048, -1, 1 << 30))
        return found

    def images(self, texture: Made, extents: list[int]) -> Iterator[tuple[int, str]]:
        """Levels and their sizes."""
        last = len(extents) - ("ARRAY" in texture.target)
        for level in range(self.r.choice((1, 2, 4))):
            yield level, ", ".join(map(str, extents))
            extents = [max(1, e >> 1) if k < last else e for k, e in enumerate(extents)]
            if self.often(0.1):
                extents = [self.r.choice(_EDGES) for _ in extents]

    @staticmethod
    def room(size: str) -> int:
        """Bytes enough for an image of this size, but not for any."""
        found = 16
        for extent in size.split(", "):
            found *= min(max(int(extent), 1), 2048)
        return min(found, 1 << 22)

    @staticmethod
    def kind_of(need: stages.Need) -> str:
        return need.kind if need.kind in ("sampler", "image") else "buffer"

    def sampled(self, need: stages.Need) -> Made:
        """A texture that a shader may read or write in a unit, or a new one."""
        image = need.kind == "image"
        fits = [
            t
            for t in self.of("texture")
            if t.target == need.target
            and need.texels == (t.format if image else kind_of(FORMATS[t.format]))
        ]
        if fits and self.often(0.8):
            return self.r.choice(fits)  # type: ignore[no-any-return]
        among = IMAGE_FORMATS if need.target == "TEXTURE_BUFFER" else FORMATS
        formats = [f for f in among if kind_of(FORMATS[f]) == need.texels] or ["RGBA8"]
        made = self.texture_of(need.target, need.texels if image else self.r.choice(formats))
        self._before.append(self.write("texture_made", t=made))
        return made

    # -- programs ------------------------------------------------------------------------------

    def link(self, what: str) -> Made:
        """A program to draw with, or a pipeline, or a program to dispatch; `line` makes it."""
        known = [(t.target, kind_of(FORMATS[t.format]), t.format) for t in self.of("texture")]
        p = getattr(stages, what)(self.r, known)
        kind = what if what == "kernel" else "pipeline" if self.often(0.08) else "program"
        made = self.new(kind, needs=p.needs, attributes=p.attributes, patches=p.patches,
                        primitive=p.primitive, variable=p.variable,
                        uniforms=p.uniforms if kind != "pipeline" else [])  # fmt: skip
        captured = ""
        if p.captured and kind == "program":
            joined = any(n.startswith(("gl_Skip", "gl_Next")) for n in p.captured)
            mode = "INTERLEAVED" if joined or self.often(0.5) else "SEPARATE"
            captured = f"{p.captured!r}, GL.{mode}_ATTRIBS, "
        sources = ",\n    ".join(f'{s}="""{text}"""' for s, text in p.sources.items())
        call = "pipeline" if kind == "pipeline" else "program"
        made.line = f"{made} = h.{call}({captured}{sources})"
        return made

    def kernel(self) -> Made:
        """A program to dispatch; there are few, since each is to be seen often."""
        if len(self.of("kernel")) < 1 + self.number(3):
            made, used = self.link("kernel"), self.used
            self.used = made
            self._before += [made.line, self.write("ready")]
            self.used = used
        return self.r.choice(self.of("kernel"))  # type: ignore[no-any-return]

    # -- calls ---------------------------------------------------------------------------------

    def draws(self) -> str:
        """A draw of any kind, perhaps more than once: draws in a row are merged."""
        function = self.menu.choose(self.r, "draw")
        lines = [self.call(function)]
        for _ in range(self.r.choice((1, 1, 2, 3, 5)) - 1):
            lines.append(self.call(function) if self.often(0.4) else lines[-1].split(LINE)[-1])
        return LINE.join(lines)

    def call(self, function: Function) -> str:
        """A call of a function, after the lines that it needs."""
        method, given = function.method, self.arguments.of(function)
        first = ""
        if "draw" in method:
            given[0] = self._mode()
            if method.endswith(("indirect", "indirect_count")) and self.often(0.9):
                first = self.write("commands", indexed=int("elements" in method))
        text = f"{self.before()}{first}gl.{method}({', '.join(given)})"
        if method.startswith("map_") and self.often(0.6):
            text += f"{LINE}gl.un{method.removesuffix('_range')}({given[0]})"
        return text

    def _mode(self) -> str:
        """One that the program takes."""
        if self.often(0.03):
            return "GL." + self.r.choice(["PATCHES", "QUADS", "POLYGON", *group("MODE")])
        if self.used.patches:
            return "GL.PATCHES"
        if self.used.primitive:
            return f"GL.{self.r.choice(_MODES[self.used.primitive])}"
        modes = ["QUADS", "QUAD_STRIP", "POLYGON"] if self.profile == "compat" else []
        return f"GL.{self.r.choice([*modes, *['TRIANGLES'] * 8, *group('MODE')])}"
