"""A program being written: what exists, what is bound, as far as validity needs it.

Rules of a grammar write the lines; the words in their braces are the methods here. Names of objects
are Python variables of the program.
"""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

from fuzz.calls.arguments import group
from fuzz.gl_programs.shaders import SAMPLED, names
from fuzz.grammar import Grammar


def _pairs(name: str) -> list[list[str]]:
    return [pair.split("=") for pair in group(name)]


_STEPS = {name: int(step) for name, step in _pairs("DRAWN")}
"""colour formats, and one step of their coarsest channel in 255ths"""
_READ = {
    "textured": "2d",
    "fetched": "2d",
    "sampled": "2d",
    "layered": "array",
    "shadowed": "shadow",
}
"""what kind of texture a fragment shader reads"""
# A step of four or five bits is seen in whatever is drawn with it. Which of two steps a number
# becomes that lies about half way between them is not specified: llvmpipe takes the nearest of
# eight bits first.
_FEW_BITS = {"RGBA4", "RGB5_A1"}
_OTHER_STEPS = {"BYTE", "UNSIGNED_SHORT", "UNSIGNED_INT_2_10_10_10_REV"}


class Made(SimpleNamespace):
    """An object of the program: its variable, and what is known of it."""

    def __str__(self) -> str:
        return str(self.name)


class Objects:
    """What a program has so far: a list of the objects of each kind."""

    def __init__(self, r: random.Random, kinds: str) -> None:
        self.r, self.made = r, 0
        for kind in kinds.split():
            setattr(self, f"{kind}s", [])

    def often(self, chance: float) -> bool:
        return self.r.random() < chance

    def number(self, stop: int) -> int:
        return self.r.randrange(stop)

    def flag(self) -> int:
        return self.r.randrange(2)

    def fresh(self, kind: str) -> str:
        """A variable of the program."""
        self.made += 1
        return f"{kind}{self.made}"

    def of(self, kind: str) -> list[Any]:
        found: list[Any] = getattr(self, f"{kind}s")
        return found

    def new(self, kind: str, /, **known: Any) -> Made:
        made = Made(name=self.fresh(kind), **known)
        self.of(kind).append(made)
        return made


class Writer(Objects):
    """What a program has so far. Its random numbers are of two kinds: `data` are numbers that are
    not state, in which the programs of a family differ."""

    bounded_factors = [f for f in group("FACTOR") if "DST" not in f and "SATURATE" not in f]
    depths = group("DEEP")
    no_program = Made(name="0", vertex="", fragment="", kind="f", reads="2d", dual=False)

    def __init__(self, grammar: Grammar, r: random.Random, data: random.Random, profile: str):
        super().__init__(r, "texture program buffer array target sampler")
        self.grammar, self.data, self.profile = grammar, data, profile
        self.core, self.es = profile not in ("compat", "fixed"), profile == "es"
        plain = profile in ("core", "compat", "es")
        # llvmpipe takes polygons drawn as lines or points for front-facing ones, so a program has
        # either these or two-sided stencil and facing.
        self.unfilled = plain and self.often(0.25) and not self.es
        # Sums of products with what is stored grow out of any float: no such factors with these.
        self.floats = plain and self.often(0.25)
        self.draws = 0
        self.queries: list[str] = []
        self.target: Any = None
        self.array: Any = None
        self.texture: Any = None
        self.program: Any = None
        self.dual_factors = False

    def setting(self) -> str:
        """A change of state."""
        return self.grammar.write(f"set_{self.profile}", self)

    # -- numbers -------------------------------------------------------------------------------

    def seed(self) -> int:
        return self.data.randrange(1 << 16)

    def quarter(self) -> float:
        return self.data.randrange(5) / 4

    def sixteenths(self, most: int) -> float:
        """A position from `-most` to `most` sixteenths."""
        return self.data.randrange(-most, most + 1) / 16

    def _several(self, count: int, low: int, high: int, step: float = 1 / 4, add: float = 0) -> str:
        return ", ".join(str(self.data.randrange(low, high) * step + add) for _ in range(count))

    def vector(self) -> str:
        return self._several(4, 0, 5)

    def colour(self) -> str:
        return self._several(4, -1, 5)

    def plane(self) -> str:
        return self._several(4, -2, 5)

    def eighths(self) -> str:
        return self._several(4, 0, 4, add=1 / 8)

    def place(self) -> str:
        """Coordinates of a texture: never zero, which is no direction in a cube map."""
        return self._several(3, 1, 9, 1 / 8)

    def direction(self) -> str:
        """Not zero, and not at right angles to an axis or another: highlights end at once there."""
        x, y = (self.data.choice([-3, -1, 1, 3]) / 4 for _ in "xy")
        return f"{x}, {y}, {self.data.choice([0.45, 1.05, 2.1])}"

    def fill(self) -> str:
        return "GL.LINE" if self.unfilled and self.often(1 / 3) else "GL.FILL"

    def switch(self, cap: str, percent: int) -> str:
        return f"gl.{'enable' if self.often(percent / 100) else 'disable'}(GL.{cap})"

    def rectangle(self, mode: str = "QUADS") -> list[tuple[float, float]]:
        """The corners of one, or of part of it, in the order of a mode."""
        x, y = self.data.randrange(-16, 9) / 16, self.data.randrange(-16, 9) / 16
        u, v = x + self.data.randrange(2, 16) / 16, y + self.data.randrange(2, 16) / 16
        corners = [(x, y), (u, y), (u, v), (x, v)]
        if mode == "QUAD_STRIP":
            corners[2:] = corners[3], corners[2]
        elif mode == "POINTS":  # between the centres of pixels
            corners = [(x + 1 / 64, y + 1 / 64) for x, y in corners]
        return corners[:3] if mode == "TRIANGLES" else corners

    def corners(self, mode: str) -> list[tuple[float, float]]:
        """Four points anywhere, or a rectangle, of which alone all agree how it is cut."""
        if mode in ("QUADS", "POLYGON", "QUAD_STRIP"):
            return self.rectangle(mode)
        return [(self.sixteenths(16), self.sixteenths(16)) for _ in range(4)]

    def indices(self, count: int, base: int, last: int) -> list[int]:
        """Of vertices; sometimes with the one that restarts."""
        order = [
            self.data.randrange(max(count - base, 1)) for _ in range(self.r.choice([3, 6, 12]))
        ]
        if self.often(0.15):
            order[self.number(len(order))] = last
            order = [min(i, count - 1) if i != last else i for i in order]
        return order

    # -- objects -------------------------------------------------------------------------------

    def gone(self, kind: str) -> Made:
        """One that is deleted."""
        known = self.of(kind)
        made: Made = known.pop(self.number(len(known)))
        if made is self.texture:
            self.texture = None
        return made

    @staticmethod
    def forget(known: list[Any], made: Any) -> None:
        if made in known:
            known.remove(made)

    def new_texture(
        self, kind: str = "2d", levels: int = 1, format: str = "", of: Any = None
    ) -> Made:
        """`of`: the framebuffer that draws into it."""
        target = "GL.TEXTURE_2D_ARRAY" if kind == "array" else "GL.TEXTURE_2D"
        made = self.new("texture", kind=kind, levels=levels, format=format, of=of, target=target)
        self.texture = self.texture if of else made
        return made

    def readable(self, kind: str) -> Made | None:
        """A texture that a draw may read now: the one that is bound, if it is of this kind."""
        good = [x for x in self.of("texture") if x.kind == kind and x.of is not self.target]
        return self.texture if self.texture in good else self.r.choice(good) if good else None

    def new_program(self, vertex: str, fragment: str) -> Made:
        """One of two stages: `kind` is what its outputs are."""
        made = self.new(
            "program",
            vertex=vertex,
            fragment=fragment,
            capture=vertex != "old" and self.often(0.25),
            kind={"signed": "i", "unsigned": "u"}.get(fragment, "f"),
            reads=_READ.get(fragment, ""),
            dual=fragment == "dual",
        )
        self.use(made)
        return made

    def use(self, program: Made) -> None:
        self.program = program

    @property
    def written(self) -> int:
        """How many colour buffers a draw writes."""
        return min(2 if self.program.fragment == "two" else 1, len(self.target.colors))

    # -- formats -------------------------------------------------------------------------------

    def formats_of(self, kind: str) -> list[str]:
        """Those of the colour buffers of a framebuffer."""
        known = [f for f in _STEPS if self.floats or not f.endswith("F")]
        if kind != "f":
            known = [f for f, its in _pairs("WHOLE") if its == kind]
        return [self.r.choice(known) for _ in range(self.r.choice([1, 1, 1, 2]))]

    def transfer(self, internal: str) -> str:
        """What glTexSubImage is given: format and type."""
        given = [
            (format, type)
            for format, type in _pairs("MOVED")
            if internal not in _FEW_BITS or type not in _OTHER_STEPS
        ]
        format, type = self.r.choice(given)
        return f"GL.{format}, GL.{type}"

    def copied(self) -> list[Any]:
        """The framebuffers whose colours may be copied to the present one: data of a coarser format
        stays coarse in another one, which must have its steps."""
        target = self.target
        finest = min(_STEPS.get(f, 0) for f in target.colors)
        return [
            x
            for x in self.of("target")
            if x is not target and x.kind == target.kind and not target.samples
            and _STEPS.get(x.colors[0], 0) <= finest
        ]  # fmt: skip

    def written_by_copies(self) -> list[Any]:
        """The textures that the present framebuffer may be copied to. Of two steps as near as the
        other either may be taken: half a colour in one bit. Who samples the texture would carry the
        larger steps of either format into finer ones."""
        target = self.target
        if target.samples or target.kind != "f" or _STEPS.get(target.colors[0], 0) > 1:
            return []
        known = [x for x in self.of("texture") if x.of is None and x.kind == "2d"]
        return [x for x in known if _STEPS.get(x.format, 0) <= 1]

    # -- stages --------------------------------------------------------------------------------

    def choose_stages(self) -> None:
        """The shaders of a program of all stages."""
        self.vertex = self.r.choice(["arrays", "arrays", "pulled", "doubles"])
        self.evaluation = self.r.choice(["", "", "", *names("tess_evaluation")])
        self.geometry = ""
        if self.evaluation != "points":
            self.geometry = self.r.choice(["", "", *names("geometry")])
        self.fragment = self.r.choice(["color", *names("fragment")])
        if self.evaluation and self.geometry == "some":  # llvmpipe numbers triangles, not patches
            self.geometry = "layers"
        if self.evaluation and self.samples and self.fragment in ("counted", "early", "summed"):
            self.fragment = "color"  # how often an edge is shaded depends on where the edges are
        if self.fragment == "numbered" and (self.evaluation or not self.geometry):
            self.fragment = "color"  # no other stage writes a layer
        self.reads = SAMPLED.get(self.fragment, "")

    samples = 0
    layers = subroutine = vertex = evaluation = geometry = fragment = reads = ""
