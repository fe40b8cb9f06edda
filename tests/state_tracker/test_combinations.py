"""State and key fields in combination: a covering array of choices, each row drawn by both GLs.

Every pair of choices below meets in some row, so what goes wrong only where two features meet (the
alpha test under clamping, flat colours on back faces, clip planes in line mode, a sample mask after
another framebuffer) is met here. Coordinates and colours are such that rounding decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gallette.state_tracker import GL, create_context
from tests.conftest import native_context
from tests.covering import covering, meetings

SIZE = 32
Choice = Callable[[Any], None]


def calls(*items: tuple[Any, ...]) -> Choice:
    """A choice that makes these calls: (method, arguments...)."""

    def apply(gl: Any) -> None:
        for name, *arguments in items:
            getattr(gl, name)(*arguments)

    return apply


def on(cap: int, *items: tuple[Any, ...]) -> Choice:
    return calls(("enable", cap), *items)


NOTHING = calls()


def texture(gl: Any) -> None:
    """A texture that modulates, wrapped with GL_CLAMP at nearest texels."""
    (name,) = gl.gen_textures(1)
    gl.bind_texture(GL.TEXTURE_2D, name)
    data = np.random.default_rng(5).integers(0, 2, (4, 4, 4), np.uint8) * 255
    gl.tex_image2d(GL.TEXTURE_2D, 0, GL.RGBA8, 4, 4, 0, GL.RGBA, GL.UNSIGNED_BYTE, data)
    for pname in (GL.TEXTURE_MIN_FILTER, GL.TEXTURE_MAG_FILTER):
        gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.NEAREST)
    for pname in (GL.TEXTURE_WRAP_S, GL.TEXTURE_WRAP_T):
        gl.tex_parameteri(GL.TEXTURE_2D, pname, GL.CLAMP)
    gl.enable(GL.TEXTURE_2D)


def lights(gl: Any) -> None:
    """Two-sided lighting: the front's colour and the back's."""
    gl.enable(GL.LIGHTING)
    gl.light_modeli(GL.LIGHT_MODEL_TWO_SIDE, 1)
    gl.light_modelfv(GL.LIGHT_MODEL_AMBIENT, np.ones(4, np.float32))
    for side, color in ((GL.FRONT, (1.0, 0.5, 0.0, 1.0)), (GL.BACK, (0.0, 0.5, 1.0, 0.5))):
        gl.materialfv(side, GL.AMBIENT, np.array(color, np.float32))


def planes(*equations: tuple[float, float, float, float]) -> Choice:
    def apply(gl: Any) -> None:
        for index, equation in enumerate(equations):
            gl.clip_plane(GL.CLIP_PLANE0 + index, np.array(equation))
            gl.enable(GL.CLIP_PLANE0 + index)

    return apply


FOG = on(
    GL.FOG,
    ("fogi", GL.FOG_MODE, GL.LINEAR),
    ("fogf", GL.FOG_START, -1.0),
    ("fogf", GL.FOG_END, 1.0),
    ("fogfv", GL.FOG_COLOR, np.array([0.0, 1.0, 0.0, 1.0], np.float32)),
)
FACTORS: dict[str, dict[str, Any]] = {
    "format": {
        "rgba8": GL.RGBA8,
        "rgb565": GL.RGB565,
        "float": GL.RGBA16F,
        "srgb": GL.SRGB8_ALPHA8,
    },
    "samples": {"one": 0, "four": 4},
    "primitive": {
        "triangles": GL.TRIANGLES,
        "strip": GL.TRIANGLE_STRIP,
        "fan": GL.TRIANGLE_FAN,
        "quads": GL.QUADS,
        "points": GL.POINTS,
    },
    "mode": {
        "fill": NOTHING,
        "line": calls(("polygon_mode", GL.FRONT_AND_BACK, GL.LINE)),
        "back line": calls(("polygon_mode", GL.BACK, GL.LINE)),
    },
    "alpha": {
        "off": NOTHING,
        "greater": on(GL.ALPHA_TEST, ("alpha_func", GL.GREATER, 0.6)),
        "equal": on(GL.ALPHA_TEST, ("alpha_func", GL.EQUAL, 1.0)),
        "less": on(GL.ALPHA_TEST, ("alpha_func", GL.LEQUAL, 0.6)),
    },
    "clamping": {
        "fixed": NOTHING,
        "on": calls(("clamp_color", GL.CLAMP_FRAGMENT_COLOR, GL.TRUE)),
        "off": calls(
            ("clamp_color", GL.CLAMP_FRAGMENT_COLOR, GL.FALSE),
            ("clamp_color", GL.CLAMP_VERTEX_COLOR, GL.FALSE),
        ),
    },
    "shading": {"smooth": NOTHING, "flat": calls(("shade_model", GL.FLAT))},
    "provoking": {
        "last": NOTHING,
        "first": calls(("provoking_vertex", GL.FIRST_VERTEX_CONVENTION)),
    },
    "light": {"off": NOTHING, "two sides": lights},
    "texture": {"off": NOTHING, "clamped": texture},
    "fog": {"off": NOTHING, "linear": FOG},
    "planes": {
        "none": NOTHING,
        "one": planes((1.0, 0.0, 0.0, 0.375)),
        "two": planes((1.0, 0.0, 0.0, 0.375), (0.0, -1.0, 0.0, 0.625)),
    },
    "culling": {
        "off": NOTHING,
        "back": on(GL.CULL_FACE),
        "front": on(GL.CULL_FACE, ("cull_face", GL.FRONT)),
    },
    "winding": {"ccw": NOTHING, "cw": calls(("front_face", GL.CW))},
    "depth": {
        "off": NOTHING,
        "less": on(GL.DEPTH_TEST),
        "greater": on(GL.DEPTH_TEST, ("depth_func", GL.GEQUAL), ("clear_depth", 0.0)),
        "kept": on(GL.DEPTH_TEST, ("depth_mask", 0)),
    },
    "stencil": {
        "off": NOTHING,
        "counts": on(
            GL.STENCIL_TEST,
            ("stencil_op_separate", GL.FRONT, GL.KEEP, GL.DECR_WRAP, GL.INCR_WRAP),
            ("stencil_op_separate", GL.BACK, GL.KEEP, GL.INVERT, GL.REPLACE),
        ),
        "keeps out": on(
            GL.STENCIL_TEST,
            ("stencil_func", GL.EQUAL, 0, 3),
            ("stencil_op", GL.KEEP, GL.KEEP, GL.INCR),
        ),
    },
    "blending": {
        "off": NOTHING,
        "alpha": on(GL.BLEND, ("blend_func", GL.SRC_ALPHA, GL.ONE_MINUS_SRC_ALPHA)),
        "saturate": on(GL.BLEND, ("blend_func", GL.SRC_ALPHA_SATURATE, GL.ONE)),
        "least": on(
            GL.BLEND,
            ("blend_equation_separate", GL.MIN, GL.FUNC_REVERSE_SUBTRACT),
            ("blend_func", GL.ONE, GL.ONE),
        ),
    },
    "logic": {"off": NOTHING, "invert": on(GL.COLOR_LOGIC_OP, ("logic_op", GL.COPY_INVERTED))},
    "mask": {
        "all": NOTHING,
        "some": calls(("color_mask", 1, 0, 1, 1)),
        "none": calls(("color_mask", 0, 0, 0, 0)),
    },
    "scissor": {"off": NOTHING, "on": on(GL.SCISSOR_TEST, ("scissor", 5, 3, 20, 24))},
    "sample mask": {"off": NOTHING, "two": on(GL.SAMPLE_MASK, ("sample_maski", 0, 0b0101))},
    "again": {"one framebuffer": 1, "another between": 2},
    "srgb": {"off": NOTHING, "on": on(GL.FRAMEBUFFER_SRGB)},
}
STATE = [name for name in FACTORS if callable(next(iter(FACTORS[name].values())))]


def rows() -> list[dict[str, str]]:
    """The covering array, with names."""
    sizes = [len(choices) for choices in FACTORS.values()]
    named = [(name, list(choices)) for name, choices in FACTORS.items()]
    return [
        {name: choices[i] for (name, choices), i in zip(named, row, strict=True)}
        for row in covering(sizes)
    ]


def framebuffer(gl: Any, format: int, samples: int) -> int:
    """Colour of `format`, depth and stencil; bound, cleared."""
    (name,) = gl.gen_framebuffers(1)
    gl.bind_framebuffer(GL.FRAMEBUFFER, name)
    for point, kind in (
        (GL.COLOR_ATTACHMENT0, format),
        (GL.DEPTH_STENCIL_ATTACHMENT, GL.DEPTH24_STENCIL8),
    ):
        (buffer,) = gl.gen_renderbuffers(1)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage_multisample(GL.RENDERBUFFER, samples, kind, SIZE, SIZE)
        gl.framebuffer_renderbuffer(GL.FRAMEBUFFER, point, GL.RENDERBUFFER, buffer)
    return int(name)


# Three batches that overlap, one of them clockwise; convex, for nobody defines other quads.
BATCHES = (
    ((-12, -12), (12, -12), (12, 12), (-12, 12)),
    ((-14, 2), (-10, -14), (14, -2), (10, 14)),
    ((-15, 0), (2, 15), (15, 4), (0, -15)),
)
COLORS = ((1.0, 0.0, 0.5, 1.0), (0.0, 1.0, 0.0, 0.5), (1.5, 0.5, 1.0, 1.5), (0.5, 0.5, 0.0, 0.25))


def draw(gl: Any, primitive: int) -> None:
    for number, corners in enumerate(BATCHES):
        gl.begin(primitive)
        for index, (x, y) in enumerate((*corners, *corners[:2])):
            if primitive == GL.QUADS and index >= 4:
                break
            # Flat within a batch: a gradient would put pixels beside a threshold.
            gl.color4f(*COLORS[(number + (index // 3 if primitive == GL.TRIANGLES else 0)) % 4])
            gl.tex_coord2f(0.375 + number / 4, 0.625)
            gl.vertex3f(x / 16, y / 16, (number - 1) / 2)
        gl.end()


def picture(gl: Any, row: dict[str, str]) -> tuple[Any, Any]:
    """(colours, stencil) after drawing a row, resolved."""
    chosen = {name: FACTORS[name][choice] for name, choice in row.items()}
    gl.viewport(0, 0, SIZE, SIZE)
    gl.point_size(4.0)
    targets = [framebuffer(gl, chosen["format"], chosen["samples"]) for _ in range(chosen["again"])]
    for name in STATE:
        chosen[name](gl)
    gl.color_mask(1, 1, 1, 1)
    gl.disable(GL.SCISSOR_TEST)
    for target in targets:
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        gl.depth_mask(1)
        gl.clear(GL.COLOR_BUFFER_BIT | GL.DEPTH_BUFFER_BIT | GL.STENCIL_BUFFER_BIT)
    for name in ("mask", "scissor", "depth"):
        chosen[name](gl)
    for target in (*targets[::-1], *targets):
        gl.bind_framebuffer(GL.FRAMEBUFFER, target)
        draw(gl, chosen["primitive"])
    gl.disable(GL.SCISSOR_TEST)
    resolved = framebuffer(gl, chosen["format"], 0)
    gl.bind_framebuffer(GL.READ_FRAMEBUFFER, targets[0])
    bits = GL.COLOR_BUFFER_BIT | GL.STENCIL_BUFFER_BIT
    gl.blit_framebuffer(0, 0, SIZE, SIZE, 0, 0, SIZE, SIZE, bits, GL.NEAREST)
    gl.bind_framebuffer(GL.FRAMEBUFFER, resolved)
    gl.pixel_storei(GL.PACK_ALIGNMENT, 1)
    colors = gl.read_pixels(0, 0, SIZE, SIZE, GL.RGBA, GL.UNSIGNED_BYTE)
    stencil = gl.read_pixels(0, 0, SIZE, SIZE, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
    assert gl.get_error() == 0
    shape = (SIZE, SIZE, -1)
    return (
        np.frombuffer(bytes(colors), np.uint8).reshape(shape).astype(int),
        np.frombuffer(bytes(stencil), np.uint8).reshape(shape).astype(int),
    )


def undecided(row: dict[str, str]) -> str:
    """Why a row may look different on llvmpipe; empty where it may not."""
    if row["samples"] == "four" and row["mode"] != "fill":
        return "corners of multisampled lines lie on samples"
    if row["mode"] != "fill" and (row["stencil"] == "counts" or row["light"] != "off"):
        return "llvmpipe takes polygons drawn as lines for front-facing ones"
    if row["samples"] == "four" and row["scissor"] == "on":
        return "llvmpipe lets multisampled primitives out of the scissor"
    return ""


ROWS = rows()
STEPS = {"rgb565": 9, "rgba8": 2, "float": 2, "srgb": 2}


@pytest.mark.native
@pytest.mark.parametrize("number", range(len(ROWS)))
def test_every_pair_of_choices_looks_as_on_the_native_gl(number: int) -> None:
    row = ROWS[number]
    if undecided(row):
        row = row | {"mode": "fill", "scissor": "off"}
    options: Any = {"profile": "compat", "version": (3, 3)}
    ours, theirs = create_context("numpipe", **options), native_context(**options)
    ours.make_current()
    mine = picture(ours, row)
    theirs.make_current()
    other = picture(theirs, row)
    wrong = np.abs(mine[0] - other[0]).max(axis=2) > STEPS[row["format"]]
    assert not wrong.any(), f"{wrong.sum()} pixels of {row}"
    assert (mine[1] == other[1]).all(), f"stencil of {row}"


@pytest.mark.parametrize("strength", [2, 3])
def test_a_covering_array_covers(strength: int) -> None:
    sizes = [3, 2, 4, 2, 3]
    met = set().union(*(meetings(row, strength) for row in covering(sizes, strength)))
    want = set().union(
        *(
            meetings(
                tuple(
                    index // stride % size
                    for stride, size in zip([1, 3, 6, 24, 48], sizes, strict=True)
                ),
                strength,
            )
            for index in range(144)
        )
    )
    assert met == want
    assert len(covering(sizes, 2)) < 20
