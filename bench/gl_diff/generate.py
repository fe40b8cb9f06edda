"""Writing random programs: a walk over the state space that keeps to what is defined.

`Writer` remembers what exists (names are Python variables of the program) and what is bound, as far
as validity needs it. Each `_do_*` method writes one step; `STEPS` weighs them.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["generate"]

FACTORS = [
    "ZERO",
    "ONE",
    "SRC_COLOR",
    "ONE_MINUS_SRC_COLOR",
    "DST_COLOR",
    "ONE_MINUS_DST_COLOR",
    "SRC_ALPHA",
    "ONE_MINUS_SRC_ALPHA",
    "DST_ALPHA",
    "ONE_MINUS_DST_ALPHA",
    "CONSTANT_COLOR",
    "ONE_MINUS_CONSTANT_COLOR",
    "CONSTANT_ALPHA",
    "ONE_MINUS_CONSTANT_ALPHA",
    "SRC_ALPHA_SATURATE",
]
DUAL_FACTORS = ["SRC1_COLOR", "ONE_MINUS_SRC1_COLOR", "SRC1_ALPHA", "ONE_MINUS_SRC1_ALPHA"]
EQUATIONS = ["FUNC_ADD", "FUNC_SUBTRACT", "FUNC_REVERSE_SUBTRACT", "MIN", "MAX"]
COMPARES = ["NEVER", "LESS", "EQUAL", "LEQUAL", "GREATER", "NOTEQUAL", "GEQUAL", "ALWAYS"]
STENCIL_OPS = ["KEEP", "ZERO", "REPLACE", "INCR", "DECR", "INVERT", "INCR_WRAP", "DECR_WRAP"]
LOGIC_OPS = [
    "CLEAR",
    "SET",
    "COPY",
    "COPY_INVERTED",
    "NOOP",
    "INVERT",
    "AND",
    "NAND",
    "OR",
    "NOR",
    "XOR",
    "EQUIV",
    "AND_REVERSE",
    "AND_INVERTED",
    "OR_REVERSE",
    "OR_INVERTED",
]
PRIMITIVES = [
    "TRIANGLES",
    "TRIANGLE_STRIP",
    "TRIANGLE_FAN",
    "POINTS",
    "LINES",
    "LINE_STRIP",
    "LINE_LOOP",
]
WRAPS = ["REPEAT", "MIRRORED_REPEAT", "CLAMP_TO_EDGE", "CLAMP_TO_BORDER"]
# Colour formats, and one step of their coarsest channel in 255ths.
COLOR_FORMATS = {
    "RGBA8": 1,
    "RGB8": 1,
    "RGBA4": 17,
    "RGB565": 9,
    "RGBA16F": 1,
    "RGBA32F": 1,
    "RG8": 1,
    "R8": 1,
    "RGB10_A2": 85,
    "SRGB8_ALPHA8": 1,
}
DEPTH_FORMATS = [
    "DEPTH24_STENCIL8",
    "DEPTH_COMPONENT24",
    "DEPTH_COMPONENT16",
    "DEPTH_COMPONENT32F",
    "DEPTH32F_STENCIL8",
]
TEXTURE_FORMATS = ["RGBA8", "RGB8", "RGBA4", "RG8", "R8", "SRGB8_ALPHA8", "RGB5_A1"]
MODES = ["FILL", "FILL", "LINE", "POINT"]
PROVOKING = ["FIRST_VERTEX_CONVENTION", "LAST_VERTEX_CONVENTION"]
CLAMPS = ["TRUE", "FALSE", "FIXED_ONLY"]
SIDES = ["FRONT", "BACK", "FRONT_AND_BACK"]


@dataclass(slots=True)
class Target:
    name: str
    colors: list[str]
    depth: bool
    stencil: bool
    samples: int


@dataclass(slots=True)
class Program:
    name: str
    outputs: int
    dual: bool
    clips: bool


@dataclass(slots=True)
class Writer:
    """One program being written."""

    r: random.Random
    core: bool
    lines: list[str] = field(default_factory=list)
    made: int = 0
    targets: list[Target] = field(default_factory=list)
    programs: list[Program] = field(default_factory=list)
    buffers: list[tuple[str, int]] = field(default_factory=list)  # name, vertices
    arrays: list[tuple[str, int]] = field(default_factory=list)
    textures: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)
    program: Program | None = None
    target: Target | None = None
    array: tuple[str, int] | None = None
    dual_factors: bool = False
    # llvmpipe takes polygons drawn as lines or points for front-facing ones, so a program has
    # either these or two-sided stencil and facing.
    unfilled: bool = False
    # Sums of products with what is stored grow out of any float: no such factors with these.
    floats: bool = False

    def side(self) -> str:
        return "GL.FRONT_AND_BACK" if self.unfilled else self.pick(SIDES)

    # -- small things --------------------------------------------------------------------------

    def say(self, line: str) -> None:
        self.lines.append(line)

    def fresh(self, kind: str) -> str:
        self.made += 1
        return f"{kind}{self.made}"

    def pick(self, names: list[str] | tuple[str, ...]) -> str:
        return "GL." + self.r.choice(names)

    def quarter(self) -> float:
        return self.r.randrange(5) / 4

    def quarters(self) -> str:
        return ", ".join(str(self.quarter()) for _ in range(4))

    def flag(self) -> str:
        return str(self.r.randrange(2))

    def often(self, chance: float) -> bool:
        return self.r.random() < chance

    def switch(self, cap: str, chance: float = 0.6) -> None:
        self.say(f"gl.{'enable' if self.often(chance) else 'disable'}(GL.{cap})")

    # -- objects -------------------------------------------------------------------------------

    def new_program(self) -> None:
        r = self.r
        pairs = [("plain", f) for f in ("color", "textured", "fetched", "discarding", "facing")]
        if self.unfilled:
            pairs.remove(("plain", "facing"))
        pairs += [("plain", "deep"), ("plain", "two"), ("plain", "dual"), ("flat", "flat")]
        pairs += [("clipped", "color"), ("instanced", "color"), ("instanced", "textured")]
        if not self.core:
            pairs += [("old", "old")] * 2
        vertex, fragment = r.choice(pairs)
        name = self.fresh("program")
        made = Program(name, 2 if fragment == "two" else 1, fragment == "dual", vertex == "clipped")
        capture = ", True" if vertex != "old" and self.often(0.2) else ""
        self.say(f"{name} = w.program({vertex!r}, {fragment!r}{capture})")
        self.programs.append(made)
        self.use(made)
        self.say(f"w.uniform({name}, 'tint', {self.quarters()})")

    def use(self, program: Program) -> None:
        self.program = program
        self.say(f"gl.use_program({program.name})")

    def draw(self, call: str) -> None:
        """A draw, and on the same line (the reducer takes lines away) what makes it defined.

        Nobody may read a second colour or keep an output that the program does not write.
        """
        assert self.program is not None and self.target is not None
        before = ["see.blended()", f"gl.use_program({self.program.name})"]
        if self.dual_factors and (not self.program.dual or len(self.target.colors) > 1):
            self.dual_factors = False
            before.append("gl.blend_func(GL.ONE, GL.ONE_MINUS_SRC_ALPHA)")
        if self.program.clips:
            # llvmpipe applies every distance that is written if none is enabled.
            before.append("gl.enable(GL.CLIP_DISTANCE0)")
        if self.target.samples:
            # llvmpipe lets multisampled lines out of the scissor.
            before.append("gl.disable(GL.SCISSOR_TEST)")
        if len(self.target.colors) > 1:
            written = min(self.program.outputs, len(self.target.colors))
            points = ", ".join(f"GL.COLOR_ATTACHMENT{i}" for i in range(written))
            if written > 1 and self.often(0.3):
                points = "GL.NONE, GL.COLOR_ATTACHMENT1"
            before.append(f"gl.draw_buffers({written}, np.array([{points}], 'u4'))")
        self.say("; ".join([*before, call]))

    def new_buffer(self) -> None:
        name, seed = self.fresh("buffer"), self.r.randrange(1 << 16)
        count = self.r.choice([3, 6, 9, 12, 24])
        what = f"w.vertices({seed}, {count})" if self.often(0.5) else f"w.quad({seed})"
        count = count if "vertices" in what else 6
        self.say(f"({name},) = gl.gen_buffers(1)")
        self.say(f"gl.bind_buffer(GL.ARRAY_BUFFER, {name})")
        self.say(f"gl.buffer_data(GL.ARRAY_BUFFER, {count * 40}, {what}, GL.STATIC_DRAW)")
        self.buffers.append((name, count))

    def new_array(self) -> None:
        buffer, count = self.r.choice(self.buffers)
        name = self.fresh("array")
        self.say(f"{name} = w.array({buffer})")
        self.array = (name, count)
        self.arrays.append(self.array)

    def new_texture(self) -> None:
        name = self.fresh("texture")
        size, levels = self.r.choice([(8, 1), (8, 4), (4, 1), (16, 5), (8, 2)])
        format, seed = self.pick(TEXTURE_FORMATS), self.r.randrange(1 << 16)
        self.say(f"{name} = w.texture({format}, {seed}, {size}, {levels})")
        if self.often(0.4):
            self.say(
                f"gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MIN_FILTER, "
                f"{self.pick(['NEAREST', 'LINEAR', 'NEAREST_MIPMAP_NEAREST'])})"
            )
        self.textures.append(name)

    def new_target(self) -> None:
        samples = 0 if self.unfilled else self.r.choice([0, 0, 0, 4])
        colors = self.r.choice([1, 1, 1, 2])
        known = [f for f in COLOR_FORMATS if self.floats or not f.endswith("F")]
        formats = [self.r.choice(known) for _ in range(colors)]
        depth = self.r.choice([None, *DEPTH_FORMATS])
        name = self.fresh("target")
        self.say(f"gl.clear_color({self.quarters()})")
        text = f"GL.{depth}" if depth else "None"
        self.say(f"{name} = w.target([{', '.join('GL.' + f for f in formats)}], {text}, {samples})")
        stencil = bool(depth and "STENCIL" in depth)
        self.target = Target(name, formats, bool(depth), stencil, samples)
        self.targets.append(self.target)

    # -- steps ---------------------------------------------------------------------------------

    def do_draw(self) -> None:
        assert self.array is not None
        count = self.array[1]
        assert self.target is not None
        # The corners of a multisampled line lie on sample positions: a tie, decided by rounding.
        modes = PRIMITIVES[:4] if self.target.samples else PRIMITIVES
        mode = self.pick(modes) if self.often(0.3) else "GL.TRIANGLES"
        first = self.r.choice([0, 0, 3])
        many = max(count - first, 0)
        if self.often(0.2):
            instances = self.r.randrange(1, 4)
            self.draw(f"gl.draw_arrays_instanced({mode}, {first}, {many}, {instances})")
        elif self.often(0.2):
            order = [self.r.randrange(count) for _ in range(self.r.choice([3, 6, 12]))]
            name = self.fresh("indices")
            self.say(f"({name},) = gl.gen_buffers(1)")
            self.say(f"gl.bind_buffer(GL.ELEMENT_ARRAY_BUFFER, {name})")
            kind = self.r.choice(["UNSIGNED_BYTE", "UNSIGNED_SHORT", "UNSIGNED_INT"])
            dtype = {"B": "u1", "S": "u2", "I": "u4"}[kind[9]]
            self.say(
                f"gl.buffer_data(GL.ELEMENT_ARRAY_BUFFER, {len(order) * int(dtype[1])}, "
                f"np.array({order}, {dtype!r}), GL.STATIC_DRAW)"
            )
            self.draw(f"gl.draw_elements({mode}, {len(order)}, GL.{kind}, 0)")
            if self.often(0.5):  # the draw may still wait; its indices must not
                self.say(f"gl.delete_buffers(1, np.array([{name}], 'u4'))")
        else:
            self.draw(f"gl.draw_arrays({mode}, {first}, {many})")

    def do_burst(self) -> None:
        """Small draws that differ in uniforms: what a queue merges."""
        assert self.program is not None and self.array is not None
        for _ in range(self.r.randrange(2, 6)):
            x, y = self.r.randrange(-12, 13) / 16, self.r.randrange(-12, 13) / 16
            self.say(f"w.uniform({self.program.name}, 'offset', {x}, {y}, 0.0, 0.0)")
            if self.often(0.5):
                self.say(f"w.uniform({self.program.name}, 'tint', {self.quarters()})")
            self.draw(f"gl.draw_arrays(GL.TRIANGLES, 0, {self.array[1]})")
            if self.often(0.15):
                self.change_something()

    def change_something(self) -> None:
        """Between two draws that could be merged."""
        self.r.choice([self.do_buffer, self.do_state, self.do_texture, self.do_bind])()

    def do_uniform(self) -> None:
        assert self.program is not None
        what = self.r.choice(["tint", "offset"])
        values = (
            self.quarters() if what == "tint" else f"{self.r.randrange(-8, 9) / 16}, 0.0, 0.0, 0.0"
        )
        self.say(f"w.uniform({self.program.name}, {what!r}, {values})")

    def do_blend(self) -> None:
        self.switch("BLEND", 0.75)
        dual = self.program is not None and self.program.dual
        factors = [f for f in FACTORS if not (self.floats and "DST" in f)]
        factors += DUAL_FACTORS * 2 if dual else []
        self.dual_factors = dual
        if self.often(0.5):
            self.say(f"gl.blend_func({self.pick(factors)}, {self.pick(factors)})")
        else:
            chosen = ", ".join(self.pick(factors) for _ in range(4))
            self.say(f"gl.blend_func_separate({chosen})")
        if self.often(0.5):
            self.say(f"gl.blend_equation_separate({self.pick(EQUATIONS)}, {self.pick(EQUATIONS)})")
        if self.often(0.4):
            self.say(f"gl.blend_color({self.quarters()})")

    def do_depth(self) -> None:
        self.switch("DEPTH_TEST", 0.75)
        self.say(f"gl.depth_func({self.pick(COMPARES)})")
        self.say(f"gl.depth_mask({self.flag()})")
        if self.often(0.3):
            near, far = self.r.choice([(0, 1), (0.25, 0.75), (1, 0), (0.5, 0.5)])
            self.say(f"gl.depth_range({near}, {far})")
        if self.often(0.3):
            self.switch("DEPTH_CLAMP", 0.5)

    def do_stencil(self) -> None:
        self.switch("STENCIL_TEST", 0.8)
        side, mask = self.side(), self.r.choice([255, 15, 1, 170])
        reference = self.r.choice([0, 1, 5, 255])
        self.say(f"gl.stencil_func_separate({side}, {self.pick(COMPARES)}, {reference}, {mask})")
        chosen = ", ".join(self.pick(STENCIL_OPS) for _ in range(3))
        self.say(f"gl.stencil_op_separate({self.side()}, {chosen})")
        if self.often(0.3):
            self.say(f"gl.stencil_mask_separate({self.side()}, {self.r.choice([255, 15, 240])})")

    def do_state(self) -> None:
        r = self.r

        modes = MODES if self.unfilled else MODES[:1]

        def low() -> int:
            return r.randrange(16)

        def edge() -> int:
            return r.choice([32, 32, 16, 64])

        options: list[Callable[[], None]] = [
            lambda: self.say(f"gl.color_mask({', '.join(self.flag() for _ in range(4))})"),
            lambda: self.say("gl.color_mask(1, 1, 1, 1)"),
            lambda: self.say(
                f"gl.color_maski({self.flag()}, {', '.join(self.flag() for _ in range(4))})"
            ),
            lambda: self.say(f"gl.enablei(GL.BLEND, {self.flag()})"),
            lambda: self.switch("CULL_FACE", 0.4),
            lambda: self.say(f"gl.cull_face({self.pick(SIDES[:2])})"),
            lambda: self.say(f"gl.front_face({self.pick(['CW', 'CCW'])})"),
            lambda: self.say(f"gl.polygon_mode(GL.FRONT_AND_BACK, {self.pick(modes)})"),
            lambda: self.switch("SCISSOR_TEST", 0.5),
            lambda: self.say(
                f"gl.scissor({low()}, {low()}, {r.randrange(4, 32)}, {r.randrange(4, 32)})"
            ),
            lambda: self.say(
                f"gl.viewport({r.choice([0, 0, 8, -8])}, {r.choice([0, 4])}, {edge()}, {edge()})"
            ),
            lambda: self.say("gl.viewport(0, 0, 32, 32)"),
            lambda: self.switch("PROGRAM_POINT_SIZE", 0.5),
            lambda: self.say(f"gl.point_size({r.choice([1.0, 3.0, 4.0])})"),
            lambda: self.say(f"gl.provoking_vertex({self.pick(PROVOKING)})"),
            lambda: self.switch("COLOR_LOGIC_OP", 0.2),
            lambda: self.say(f"gl.logic_op({self.pick(LOGIC_OPS)})"),
            lambda: self.switch("RASTERIZER_DISCARD", 0.1),
            lambda: self.say("gl.disable(GL.RASTERIZER_DISCARD)"),
            lambda: self.switch("CLIP_DISTANCE0", 0.4),
            lambda: self.switch("CLIP_DISTANCE1", 0.3),
            lambda: self.switch("SAMPLE_MASK", 0.3),
            lambda: self.say(f"gl.sample_maski(0, {r.choice([15, 1, 5, 10])})"),
            lambda: self.switch("FRAMEBUFFER_SRGB", 0.3),
            lambda: self.say(f"gl.primitive_restart_index({r.choice([0, 2, 255])})"),
            lambda: self.switch("PRIMITIVE_RESTART", 0.2),
            lambda: self.say("gl.disable(GL.DITHER)"),
        ]
        if not self.core:
            options += [
                lambda: self.switch("ALPHA_TEST", 0.5),
                lambda: self.say(f"gl.alpha_func({self.pick(COMPARES)}, {self.quarter() + 0.1})"),
                lambda: self.say(f"gl.shade_model({self.pick(['FLAT', 'SMOOTH'])})"),
                lambda: self.switch("VERTEX_PROGRAM_TWO_SIDE", 0.5),
                lambda: self.say(
                    f"gl.clip_plane(GL.CLIP_PLANE0, np.array([1.0, 0.0, 0.0, {self.quarter()}]))"
                ),
                lambda: self.say(f"gl.clamp_color(GL.CLAMP_FRAGMENT_COLOR, {self.pick(CLAMPS)})"),
            ]
        r.choice(options)()

    def do_clear(self) -> None:
        if self.often(0.6):
            self.say(f"gl.clear_color({self.quarters()})")
            self.say(f"gl.clear_depth({self.r.choice([1.0, 0.5, 0.75])})")
            self.say(f"gl.clear_stencil({self.r.choice([0, 1, 5, 128])})")
            bits = self.r.choice(
                [
                    "GL.COLOR_BUFFER_BIT",
                    "GL.DEPTH_BUFFER_BIT",
                    "GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT",
                    "GL.STENCIL_BUFFER_BIT",
                    "GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT",
                ]
            )
            self.say(f"gl.clear({bits})")
        else:
            assert self.target is not None
            index = self.r.randrange(len(self.target.colors))
            self.say(f"gl.clear_bufferfv(GL.COLOR, {index}, np.array([{self.quarters()}], 'f4'))")

    def do_bind(self) -> None:
        kind = self.r.randrange(4)
        if kind == 0 and self.programs:
            self.use(self.r.choice(self.programs))
        elif kind == 1 and self.arrays:
            self.array = self.r.choice(self.arrays)
            self.say(f"gl.bind_vertex_array({self.array[0]})")
        elif kind == 2 and self.targets:
            self.target = self.r.choice(self.targets)
            self.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {self.target.name})")
        elif self.textures:
            self.say(f"gl.bind_texture(GL.TEXTURE_2D, {self.r.choice(self.textures)})")

    def do_texture(self) -> None:
        if not self.textures:
            return
        name, seed = self.r.choice(self.textures), self.r.randrange(1 << 16)
        self.say(f"gl.bind_texture(GL.TEXTURE_2D, {name})")
        kind = self.r.randrange(4)
        if kind == 0:
            x, y = self.r.randrange(2), self.r.randrange(2)
            self.say(
                f"gl.tex_sub_image2d(GL.TEXTURE_2D, 0, {x}, {y}, 2, 2, GL.RGBA, GL.UNSIGNED_BYTE, "
                f"w.texels({seed}, 2, 2))"
            )
        elif kind == 1:
            axis = self.r.choice(["S", "T"])
            self.say(
                f"gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_WRAP_{axis}, {self.pick(WRAPS)})"
            )
            self.say(
                f"gl.tex_parameterfv(GL.TEXTURE_2D, GL.TEXTURE_BORDER_COLOR, "
                f"np.array([{self.quarters()}], 'f4'))"
            )
        elif kind == 2:
            channel = self.r.choice("RGBA")
            source = self.pick(["RED", "GREEN", "BLUE", "ALPHA", "ZERO", "ONE"])
            self.say(f"gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_SWIZZLE_{channel}, {source})")
        else:
            self.say("gl.tex_parameteri(GL.TEXTURE_2D, GL.TEXTURE_MAX_LEVEL, 0)")

    def do_buffer(self) -> None:
        if not self.buffers:
            return
        (name, count), seed = self.r.choice(self.buffers), self.r.randrange(1 << 16)
        self.say(f"gl.bind_buffer(GL.ARRAY_BUFFER, {name})")
        kind = self.r.randrange(3)
        if kind == 0:
            self.say(f"gl.buffer_sub_data(GL.ARRAY_BUFFER, 0, 120, w.vertices({seed}, 3))")
        elif kind == 1:
            self.say(
                f"gl.buffer_data(GL.ARRAY_BUFFER, {count * 40}, w.vertices({seed}, {count}), "
                f"GL.DYNAMIC_DRAW)"
            )
        else:
            self.say(
                "gl.copy_buffer_sub_data(GL.ARRAY_BUFFER, GL.ARRAY_BUFFER, 0, 120, 0)"
                if count < 6
                else "gl.copy_buffer_sub_data(GL.ARRAY_BUFFER, GL.ARRAY_BUFFER, 120, 0, 120)"
            )

    def do_delete(self) -> None:
        kind = self.r.randrange(3)
        if kind == 0 and len(self.textures) > 1:
            name = self.textures.pop(self.r.randrange(len(self.textures)))
            self.say(f"gl.delete_textures(1, np.array([{name}], 'u4'))")
        elif kind == 1 and len(self.programs) > 1:
            gone = self.programs.pop(self.r.randrange(len(self.programs)))
            self.say(f"gl.delete_program({gone.name})")
            if gone is self.program:  # it stays in use until another one is
                self.use(self.r.choice(self.programs))
        elif len(self.buffers) > 1:
            place = self.r.randrange(len(self.buffers))
            name, _ = self.buffers.pop(place)
            # An array object that is not bound keeps the buffer; the bound one loses it.
            self.say(f"gl.delete_buffers(1, np.array([{name}], 'u4'))")
            if self.array in self.arrays:
                self.arrays.remove(self.array)
            self.new_array()

    def do_copy(self) -> None:
        usable = [t for t in self.targets if not t.samples or t is not self.target]
        if len(self.targets) > 1 and usable and self.target is not None and not self.target.samples:
            source = self.r.choice([t for t in self.targets if t is not self.target] or usable)
            if source is self.target:
                return
            self.say(f"gl.bind_framebuffer(GL.READ_FRAMEBUFFER, {source.name})")
            self.say("gl.read_buffer(GL.COLOR_ATTACHMENT0)")
            box = (
                "0, 0, 32, 32, 0, 0, 32, 32"
                if source.samples
                else self.r.choice(
                    [
                        "0, 0, 32, 32, 0, 0, 32, 32",
                        "0, 0, 16, 16, 8, 8, 24, 24",
                        "0, 0, 32, 32, 32, 0, 0, 32",
                    ]
                )
            )
            self.say(f"gl.blit_framebuffer({box}, GL.COLOR_BUFFER_BIT, GL.NEAREST)")
            self.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {self.target.name})")
        elif self.textures and self.target is not None and not self.target.samples:
            self.say(f"gl.bind_texture(GL.TEXTURE_2D, {self.r.choice(self.textures)})")
            self.say("gl.read_buffer(GL.COLOR_ATTACHMENT0)")
            self.say("gl.copy_tex_sub_image2d(GL.TEXTURE_2D, 0, 0, 0, 4, 4, 4, 4)")

    def do_query(self) -> None:
        name = self.fresh("query")
        what = self.pick(["SAMPLES_PASSED", "ANY_SAMPLES_PASSED", "PRIMITIVES_GENERATED"])
        self.say(f"({name},) = gl.gen_queries(1)")
        self.say(f"gl.begin_query({what}, {name})")
        for _ in range(self.r.randrange(1, 3)):
            self.do_draw()
        self.say(f"gl.end_query({what})")
        if self.often(0.5):
            self.say(f"see.query({name})")
        else:
            self.queries.append(name)

    def do_look(self) -> None:
        target = self.target
        assert target is not None
        if target.samples:
            resolve = self.fresh("resolve")
            self.say("gl.disable(GL.SCISSOR_TEST)")
            self.say(f"{resolve} = w.target([GL.RGBA8], None)")
            self.say(f"gl.bind_framebuffer(GL.READ_FRAMEBUFFER, {target.name})")
            self.say("gl.read_buffer(GL.COLOR_ATTACHMENT0)")
            self.say(
                "gl.blit_framebuffer(0, 0, 32, 32, 0, 0, 32, 32, GL.COLOR_BUFFER_BIT, GL.NEAREST)"
            )
            self.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {resolve})")
            self.say(f"see.color(0, {COLOR_FORMATS[target.colors[0]]})")
            self.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {target.name})")
            return
        for index, format in enumerate(target.colors):
            self.say(f"see.color({index}, {COLOR_FORMATS[format]})")
        if target.depth:
            self.say("see.depth()")
        if target.stencil:
            self.say("see.stencil()")


STEPS: tuple[tuple[str, int], ...] = (
    ("do_draw", 12),
    ("do_burst", 5),
    ("do_uniform", 5),
    ("do_blend", 5),
    ("do_depth", 4),
    ("do_stencil", 3),
    ("do_state", 12),
    ("do_clear", 2),
    ("do_bind", 6),
    ("do_texture", 4),
    ("do_buffer", 4),
    ("do_delete", 2),
    ("do_copy", 2),
    ("do_query", 1),
    ("do_look", 1),
    ("new_program", 2),
    ("new_buffer", 1),
    ("new_array", 1),
    ("new_texture", 2),
    ("new_target", 1),
)


def generate(seed: int, steps: int = 40, core: bool | None = None) -> tuple[list[str], str]:
    """A program of a seed, and the profile it is for."""
    r = random.Random(seed)
    core = r.random() < 0.4 if core is None else core
    w = Writer(r, core, unfilled=r.random() < 0.25, floats=r.random() < 0.25)
    w.say("gl.viewport(0, 0, 32, 32)")
    w.say("gl.disable(GL.DITHER)")
    w.say("gl.pixel_storei(GL.PACK_ALIGNMENT, 1)")
    for make in (w.new_target, w.new_texture, w.new_program, w.new_buffer, w.new_array):
        make()
    names, weights = zip(*STEPS, strict=True)
    for name in r.choices(names, weights, k=steps):
        getattr(w, name)()
    for target in w.targets:
        w.target = target
        w.say(f"gl.bind_framebuffer(GL.FRAMEBUFFER, {target.name})")
        w.do_look()
    for query in w.queries:
        w.say(f"see.query({query})")
    return w.lines, "core" if core else "compat"
