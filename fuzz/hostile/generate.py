"""A program of a seed: objects, shaders, and calls of any function with arguments of any kind."""

from __future__ import annotations

import random
from functools import cache

from fuzz.calls.arguments import Arguments, Menu, group
from fuzz.programs import Program
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.functions import FUNCTIONS
from gallette.state_tracker.entry_points.registry import implementations

from . import stages
from .tables import FORMATS, IMAGE_FORMATS, TARGETS, kind_of

__all__ = ["generate", "menu"]

_MODES = {
    "points": ("POINTS",),
    "lines": ("LINES", "LINE_STRIP", "LINE_LOOP"),
    "lines_adjacency": ("LINES_ADJACENCY", "LINE_STRIP_ADJACENCY"),
    "triangles": ("TRIANGLES", "TRIANGLE_STRIP", "TRIANGLE_FAN"),
    "triangles_adjacency": ("TRIANGLES_ADJACENCY", "TRIANGLE_STRIP_ADJACENCY"),
}
"""what may be drawn with a geometry shader, by its inputs"""
_LIKELY = ("RGBA8", "DEPTH_COMPONENT24", "DEPTH24_STENCIL8", "RGBA32F", "R32UI", "RGBA16F")
_NORMAL = (
    "gl.viewport(0, 0, 32, 32); gl.disable(GL.SCISSOR_TEST); gl.disable(GL.RASTERIZER_DISCARD); "
    "gl.disable(GL.CULL_FACE); gl.color_mask(1, 1, 1, 1); gl.disable(GL.STENCIL_TEST); "
    "gl.pixel_storei(GL.UNPACK_ROW_LENGTH, 0); h.whole()"
)
"""lets draws be seen again"""


@cache
def menu(profile: str) -> Menu:
    """The functions of a profile."""
    context = Context("numpipe", profile=profile, version=(4, 6), size=(1, 1))
    known = [n for n in implementations() if context.has_function(FUNCTIONS.method(n))]
    context.release()
    return Menu(known)


def generate(seed: int, steps: int = 60) -> Program:
    """Lines: what a program begins with, and so many steps after it."""
    r = random.Random(seed)
    return _Writer(r, "compat" if r.random() < 0.15 else "core").program(steps)


class _Writer:
    """A program being written; names of objects are its variables."""

    def __init__(self, r: random.Random, profile: str) -> None:
        self.r, self.profile = r, profile
        self.lines: list[str] = []
        self.names: dict[str, list[str]] = {}
        self.looked_at: list[tuple[str, str, str]] = []  # target, kind and format of textures
        self.programs: dict[str, stages.Program] = {}
        self.kernels: dict[str, stages.Program] = {}
        self.used = ""
        self.arguments = Arguments(r, self.name)
        self.menu = menu(profile)

    def program(self, steps: int) -> Program:
        """All of it."""
        for kind in ("buffer", "buffer", "buffer", "texture", "texture", "framebuffer"):
            self.make(kind)
        self.new_program()
        self.make("array")
        choices = (self.draw, self.call, self.another, self.new_program, self.use, self.dispatch,
                   self.uniforms, self.normal)  # fmt: skip
        for _ in range(steps):
            self.r.choices(choices, (45, 50, 14, 3, 5, 8, 5, 8))[0]()
        samples = self.r.choice((0, 0, 0, 4))
        return Program(self.lines, self.profile, samples)

    # -- objects -------------------------------------------------------------------------------

    def seed(self) -> int:
        return self.r.randrange(100_000)

    def fresh(self, kind: str) -> str:
        """The name of a new object."""
        known = self.names.setdefault(kind, [])
        known.append(f"{kind}{len(known) + 1}")
        return known[-1]

    def name(self, kind: str) -> str:
        """That of some object: few are none, or deleted."""
        if self.r.random() < 0.03:
            return "0"
        if not self.names.get(kind) or self.r.random() < 0.03:
            if kind in ("program", "pipeline"):
                return self.used or "0"
            self.make(kind)
        return self.r.choice(self.names[kind])

    def make(self, kind: str) -> None:
        """A line that makes an object."""
        r, name, seed = self.r, self.fresh(kind), self.seed()
        if kind == "texture":
            target = r.choice([*TARGETS])
            formats = [*IMAGE_FORMATS] if target == "TEXTURE_BUFFER" else [*FORMATS]
            format = r.choice(formats if r.random() < 0.5 else [*_LIKELY, *IMAGE_FORMATS])
            self.looked_at.append((target, kind_of(FORMATS[format]), format))
            made = f"h.texture({target!r}, {format!r}, {seed})"
        elif kind == "array":
            program = self.programs.get(self.used)
            made = f"h.vertex_array({program.attributes if program else []}, {seed})"
        elif kind == "query":
            made = f"gl.create_queries(GL.{r.choice(group('QUERY'))}, 1)[0]"
        elif kind == "sync":
            made = "gl.fence_sync(GL.SYNC_GPU_COMMANDS_COMPLETE, 0)"
        elif kind == "handle":
            made = f"gl.get_texture_handle_arb({self.name('texture')})"
        elif kind in ("buffer", "framebuffer"):
            made = f"h.{kind}({seed})"
        else:
            plural = {"feedback": "transform_feedbacks"}.get(kind, f"{kind}s")
            made = f"gl.create_{plural}(1)[0]"
        self.lines.append(f"{name} = {made}")

    def another(self) -> None:
        kinds = ("buffer", "texture", "framebuffer", "array", "sampler", "renderbuffer", "query",
                 "feedback", "sync")  # fmt: skip
        self.make(self.r.choices(kinds, (4, 5, 3, 4, 1, 1, 1, 1, 1))[0])

    # -- programs ------------------------------------------------------------------------------

    def _linked(self, kind: str, program: stages.Program, call: str) -> str:
        name, r = self.fresh(kind), self.r
        captured = ""
        if program.captured and call == "program":
            joined = any(n.startswith(("gl_Skip", "gl_Next")) for n in program.captured)
            mode = "INTERLEAVED" if joined or r.random() < 0.5 else "SEPARATE"
            captured = f"{program.captured!r}, GL.{mode}_ATTRIBS, "
        sources = ",\n    ".join(f'{s}="""{text}"""' for s, text in program.sources.items())
        self.lines.append(f"{name} = h.{call}({captured}{sources})")
        return name

    def new_program(self) -> None:
        """A program to draw with, or a pipeline, in use."""
        program = stages.graphics(self.r, self.looked_at)
        kind = "pipeline" if self.r.random() < 0.08 else "program"
        name = self._linked(kind, program, kind)
        self.programs[name] = program
        self._use(name)

    def use(self) -> None:
        self._use(self.r.choice([*self.programs]))

    def _use(self, name: str) -> None:
        self.used = name
        pipeline = name.startswith("pipeline")
        bind = f"gl.use_program(0); gl.bind_program_pipeline({name})"
        self.lines.append(bind if pipeline else f"gl.use_program({name})")
        self._ready(name, self.programs[name])

    def _ready(self, name: str, program: stages.Program) -> None:
        """Uniforms, and most of the resources that its shaders name."""
        if not name.startswith("pipeline"):
            for letter in program.uniforms:
                self.lines.append(f"h.uniforms({name}, {letter!r}, {self.seed()})")
        if program.patches and self.r.random() < 0.9:
            count = self.r.choice((1, 2, 3, 3, 4, 32))
            self.lines.append(f"gl.patch_parameteri(GL.PATCH_VERTICES, {count})")
        for need in program.needs:
            if self.r.random() < 0.85:
                self.lines.append(f"h.bind({tuple(need)}, {self.seed()})")

    def uniforms(self) -> None:
        """Other uniforms."""
        if not self.used.startswith("pipeline"):
            letter = self.r.choice(self.programs[self.used].uniforms)
            self.lines.append(f"h.uniforms({self.used}, {letter!r}, {self.seed()})")

    def dispatch(self) -> None:
        r = self.r
        if len(self.kernels) < 1 + r.randrange(3):
            program = stages.kernel(r, self.looked_at)
            name = self._linked("kernel", program, "program")
            self.kernels[name] = program
            self._ready(name, program)
        name = r.choice([*self.kernels])
        groups = [r.choice((1, 1, 2, 3)) for _ in range(3)]
        if r.random() < 0.01:
            groups[r.randrange(3)] = r.choice((0, 65535, 65536, 1 << 31))
        text = ", ".join(map(str, groups))
        if "local_size_variable" in self.kernels[name].sources["COMPUTE"] and r.random() < 0.9:
            size = ", ".join(str(r.choice((1, 2, 4, 7))) for _ in range(3))
            call = f"gl.dispatch_compute_group_size_arb({text}, {size})"
        elif r.random() < 0.25:
            at = r.choice((0, 4, 20, 52, 56, 2, 1 << 20))
            call = f"h.groups({self.seed()}); gl.dispatch_compute_indirect({at})"
        else:
            call = f"gl.dispatch_compute({text})"
        barrier = "gl.memory_barrier(GL.ALL_BARRIER_BITS); " if r.random() < 0.5 else ""
        back = 0 if self.used.startswith("pipeline") else self.used
        self.lines.append(f"gl.use_program({name}); {call}; {barrier}gl.use_program({back})")

    # -- calls ---------------------------------------------------------------------------------

    def _mode(self) -> str:
        """One that the program takes."""
        program, r = self.programs[self.used], self.r
        if r.random() < 0.03:
            return "GL." + r.choice(["PATCHES", "QUADS", "POLYGON", *group("MODE")])
        if program.patches:
            return "GL.PATCHES"
        if program.primitive:
            return f"GL.{r.choice(_MODES[program.primitive])}"
        modes = ["QUADS", "QUAD_STRIP", "POLYGON"] if self.profile == "compat" else []
        return f"GL.{r.choice([*modes, *['TRIANGLES'] * 8, *group('MODE')])}"

    def draw(self) -> None:
        """A draw of any kind, perhaps more than once: draws in a row are merged."""
        function = self.menu.choose(self.r, "draw")
        call = self._call(function.method)
        for _ in range(self.r.choice((1, 1, 2, 3, 5))):
            self.lines.append(call)
            if self.r.random() < 0.4:
                call = self._call(function.method)

    def _call(self, method: str) -> str:
        given = self.arguments.of(FUNCTIONS.method(method))
        before = ""
        if "draw" in method:
            given[0] = self._mode()
            if method.endswith(("indirect", "indirect_count")) and self.r.random() < 0.9:
                before = f"h.commands({self.seed()}, {int('elements' in method)}); "
        return f"{before}gl.{method}({', '.join(given)})"

    def call(self) -> None:
        """Any other function."""
        function = self.menu.choose(self.r, "call")
        self.lines.append(self._call(function.method))
        if self.r.random() < 0.6 and function.method.startswith("map_"):
            self.lines.append(f"gl.un{function.method.removesuffix('_range')}"
                              f"({self.arguments.of(function)[0]})")  # fmt: skip

    def normal(self) -> None:
        self.lines.append(_NORMAL)
