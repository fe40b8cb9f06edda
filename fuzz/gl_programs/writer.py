"""A program being written: what exists, what is bound, as far as validity needs it.

Names of objects are Python variables of the program. A step (`steps`) is a function that takes a
`Writer` and says one or more lines; `Kind.step` weighs it.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from fuzz.gl_programs.common import SIZE
from fuzz.gl_programs.kind import Kind, values

__all__ = [
    "PLAIN",
    "WHOLE_VIEW",
    "Array",
    "Program",
    "Target",
    "Texture",
    "Writer",
]

# What kind of texture a fragment program reads.
SAMPLED = {
    "textured": "2d",
    "fetched": "2d",
    "sampled": "2d",
    "layered": "array",
    "shadowed": "shadow",
}
PLAIN: Kind[Writer] = Kind(
    ("plain", "compat"),
    [
        f"gl.viewport(0, 0, {SIZE}, {SIZE})",
        "gl.disable(GL.DITHER)",
        "gl.pixel_storei(GL.PACK_ALIGNMENT, 1)",
        "gl.clear_color(0.0, 0.0, 0.0, 0.0)",
        "gl.clear_depth(1.0)",
        "gl.clear_stencil(0)",
        "gl.active_texture(GL.TEXTURE0)",
        "gl.blend_func(GL.ONE, GL.ZERO)",
        "gl.blend_equation(GL.FUNC_ADD)",
        "gl.blend_color(0.0, 0.0, 0.0, 0.0)",
        "gl.disable(GL.DEPTH_TEST)",
        "gl.depth_func(GL.LESS)",
        "gl.depth_mask(1)",
        "gl.depth_range(0, 1)",
        "gl.disable(GL.STENCIL_TEST)",
        "gl.stencil_func(GL.ALWAYS, 0, 255)",
        "gl.stencil_op(GL.KEEP, GL.KEEP, GL.KEEP)",
        "gl.stencil_mask(255)",
    ],
)
"""programs with a vertex and a fragment shader (`fuzz.gl_programs.steps`)"""
WHOLE_VIEW = f"gl.viewport(0, 0, {SIZE}, {SIZE})"
"""For points: llvmpipe cuts them off at the viewport's edge."""


@dataclass(slots=True, eq=False)
class Target:
    name: str
    colors: list[str]
    kind: str  # of its colours: "f", "i" or "u"
    depth: str
    samples: int
    textures: bool

    @property
    def stencil(self) -> bool:
        return "STENCIL" in self.depth


@dataclass(slots=True, eq=False)
class Program:
    name: str
    vertex: str
    fragment: str
    capture: bool

    @property
    def kind(self) -> str:
        """What its outputs are."""
        return {"signed": "i", "unsigned": "u"}.get(self.fragment, "f")

    @property
    def outputs(self) -> int:
        return 2 if self.fragment == "two" else 1

    @property
    def dual(self) -> bool:
        return self.fragment == "dual"


@dataclass(slots=True, eq=False)
class Texture:
    name: str
    target: str = "TEXTURE_2D"
    of: Target | None = None  # the framebuffer that draws into it
    size: int = 8
    levels: int = 1
    kind: str = "2d"
    format: str = ""


@dataclass(slots=True, eq=False)
class Array:
    name: str
    vertices: int
    buffer: str = ""


@dataclass(slots=True)
class Writer:
    r: random.Random
    data: random.Random  # for numbers that are not state: a family of programs differs in these
    core: bool  # without what only compatibility contexts have
    es: bool = False
    draws: int = 0
    # llvmpipe takes polygons drawn as lines or points for front-facing ones, so a program has
    # either these or two-sided stencil and facing.
    unfilled: bool = False
    # Sums of products with what is stored grow out of any float: no such factors with these.
    floats: bool = False
    lines: list[str] = field(default_factory=list)
    made: int = 0
    targets: list[Target] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    buffers: list[tuple[str, int]] = field(default_factory=list)  # name, vertices
    arrays: list[Array] = field(default_factory=list)
    textures: list[Texture] = field(default_factory=list)
    samplers: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    used: Program | None = None
    bound_target: Target | None = None
    bound_array: Array | None = None
    bound_texture: Texture | None = None
    dual_factors: bool = False

    # What is bound while steps run.

    @property
    def program(self) -> Program:
        assert self.used is not None
        return self.used

    @property
    def target(self) -> Target:
        assert self.bound_target is not None
        return self.bound_target

    @property
    def array(self) -> Array:
        assert self.bound_array is not None
        return self.bound_array

    # Words.

    def say(self, *lines: str) -> None:
        """Lines of their own; what must stay together is one line with semicolons."""
        self.lines += lines

    def fresh(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def often(self, chance: float) -> bool:
        return self.r.random() < chance

    def choice(self, *values: object) -> object:
        return self.r.choice(values)

    def number(self, stop: int) -> int:
        return self.r.randrange(stop)

    def pick(self, names: Sequence[str]) -> str:
        return "GL." + self.r.choice(names)

    def quarter(self) -> float:
        return self.data.randrange(5) / 4

    def quarters(self, count: int = 4) -> str:
        return ", ".join(str(self.quarter()) for _ in range(count))

    def sixteenths(self, most: int) -> float:
        """A position from `-most` to `most` sixteenths."""
        return self.data.randrange(-most, most + 1) / 16

    def flag(self) -> str:
        return str(self.r.randrange(2))

    def flags(self) -> str:
        return ", ".join(self.flag() for _ in range(4))

    def seed(self) -> int:
        return self.data.randrange(1 << 16)

    def side(self) -> str:
        return "GL.FRONT_AND_BACK" if self.unfilled else self.pick(("FRONT", "BACK"))

    def of(self, words: str) -> str:
        """A choice of `settings.txt`."""
        word, _, most = words.partition(":")
        if word in ("number", "sixteenths"):
            return str(getattr(self, word)(int(most)))
        written = {
            "flag": self.flag,
            "quarter": lambda: str(self.quarter()),
            "vector": self.quarters,
            "colour": lambda: self._some(-1, 4, 4),
            "plane": lambda: self._some(-2, 4, 4),
            "eighths": lambda: ", ".join(str((2 * self.data.randrange(4) + 1) / 8) for _ in "1234"),
            "place": self.place,
            "direction": self.direction,
            "seed": lambda: str(self.seed()),
            "fill": lambda: self.pick(("FILL", "FILL", "LINE") if self.unfilled else ("FILL",)),
            "target": lambda: self.target.name,
        }.get(word)
        return written() if written else self.r.choice(values(words))

    def _some(self, low: int, high: int, count: int) -> str:
        """Quarters."""
        return ", ".join(str(self.data.randrange(low, high + 1) / 4) for _ in range(count))

    def direction(self) -> str:
        """Never zero, and never quite at a right angle to an axis."""
        x, y = (self.data.choice([-3, -1, 1, 3]) / 4 for _ in "xy")
        return f"{x}, {y}, {self.data.choice([0.5, 1.0, 2.0])}"

    def place(self) -> str:
        """Coordinates of a texture: never zero, which is no direction in a cube map."""
        return ", ".join(str(self.data.randrange(1, 9) / 8) for _ in range(3))

    def switch(self, cap: str, chance: float = 0.6) -> None:
        self.say(f"gl.{'enable' if self.often(chance) else 'disable'}(GL.{cap})")

    # Draws.

    def use(self, program: Program) -> None:
        self.used = program
        self.say(f"gl.use_program({program.name})")

    def bind(self, texture: Texture) -> None:
        self.bound_texture = texture
        self.say(f"gl.bind_texture(GL.{texture.target}, {texture.name})")

    def draw(self, call: str) -> None:
        """A draw, and on the same line (the reducer takes lines away) what makes it defined."""
        before = self.defined()
        if "GL.POINTS" in call:
            before.append(WHOLE_VIEW)
        self.say("; ".join([*before, call]))

    def defined(self) -> list[str]:
        """No call may read a colour that is being drawn, or capture an unwritten output."""
        self.draws += 1
        program, target = self.program, self.target
        before = ["see.blended()", f"gl.use_program({program.name})"]
        if self.dual_factors and (not program.dual or len(target.colors) > 1):
            self.dual_factors = False
            before.append("gl.blend_func(GL.ONE, GL.ONE_MINUS_SRC_ALPHA)")
        if program.vertex == "clipped":
            # llvmpipe applies every distance that is written if none is enabled.
            before.append("gl.enable(GL.CLIP_DISTANCE0)")
        if target.samples:
            # llvmpipe lets multisampled lines out of the scissor.
            before.append("gl.disable(GL.SCISSOR_TEST)")
        written = min(program.outputs, len(target.colors))
        points = [f"GL.COLOR_ATTACHMENT{i}" for i in range(written)]
        if program.kind != target.kind:
            points = ["GL.NONE"]
        elif written > 1 and self.often(0.3):
            points[0] = "GL.NONE"
        before.append(f"gl.draw_buffers({len(points)}, np.array([{', '.join(points)}], 'u4'))")
        return [*before, *self.sampled(SAMPLED.get(program.fragment, ""))]

    def sampled(self, kind: str) -> list[str]:
        """Bind a texture that a fragment program of this kind may read now."""
        if not kind:
            return []
        good = [x for x in self.textures if x.kind == kind and x.of is not self.target]
        bound = self.bound_texture
        texture = bound if bound in good else self.r.choice(good) if good else None
        at = "TEXTURE_2D_ARRAY" if kind == "array" else "TEXTURE_2D"
        if kind == "shadow":
            # Nothing may compare with what is no depth, or without the texture's own comparison.
            name = texture.name if texture else "w.depths(GL.DEPTH_COMPONENT16, 1, 8, GL.LEQUAL)"
            return [f"gl.bind_texture(GL.{at}, {name})", "gl.bind_sampler(0, 0)"]
        if texture is None:
            # It is black whatever is asked for, but llvmpipe shows a sampler's border around it.
            return [f"gl.bind_texture(GL.{at}, 0)", "gl.bind_sampler(0, 0)"]
        return [f"gl.bind_texture(GL.{at}, {texture.name})"]
