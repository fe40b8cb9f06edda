"""EGL configs: the formats that a surface can have, and those that match a request."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from gallette.egl.constants import EGL, Error
from gallette.egl.errors import check
from gallette.state_tracker.entry_points.enums import GL

Visuals = dict[tuple[int, ...], tuple[tuple[int, int], ...]]
"""Numbers and classes by bits of red, green, blue and alpha, the usual one first."""

# colour: red, green, blue, alpha bits, internal format, sRGB twin, is it floating point
_COLORS = (
    (8, 8, 8, 8, GL.RGBA8, GL.SRGB8_ALPHA8, False),
    (8, 8, 8, 0, GL.RGB8, GL.SRGB8, False),
    (5, 6, 5, 0, GL.RGB565, 0, False),
    (10, 10, 10, 2, GL.RGB10_A2, 0, False),
    (10, 10, 10, 0, GL.RGB10, 0, False),
    (16, 16, 16, 16, GL.RGBA16F, 0, True),
)
_DEPTHS = (
    (24, 8, GL.DEPTH24_STENCIL8),
    (0, 0, GL.NONE),
    (24, 0, GL.DEPTH_COMPONENT24),
    (16, 0, GL.DEPTH_COMPONENT16),
    (0, 8, GL.STENCIL_INDEX8),
    (32, 0, GL.DEPTH_COMPONENT32),
)
_APIS = EGL.OPENGL_BIT | EGL.OPENGL_ES2_BIT | EGL.OPENGL_ES3_BIT | EGL.OPENGL_ES_BIT
_MASKS = (EGL.SURFACE_TYPE, EGL.RENDERABLE_TYPE, EGL.CONFORMANT)
_AT_LEAST = (
    EGL.BUFFER_SIZE, EGL.RED_SIZE, EGL.GREEN_SIZE, EGL.BLUE_SIZE, EGL.ALPHA_SIZE, EGL.DEPTH_SIZE,
    EGL.STENCIL_SIZE, EGL.SAMPLES, EGL.SAMPLE_BUFFERS, EGL.LUMINANCE_SIZE, EGL.ALPHA_MASK_SIZE,
)  # fmt: skip
_IGNORED = (
    EGL.MAX_PBUFFER_WIDTH, EGL.MAX_PBUFFER_HEIGHT, EGL.MAX_PBUFFER_PIXELS, EGL.NATIVE_VISUAL_ID,
    EGL.MATCH_NATIVE_PIXMAP,
)  # fmt: skip
# What a request means that does not mention them.
_DEFAULTS = {
    EGL.COLOR_BUFFER_TYPE: EGL.RGB_BUFFER,
    EGL.LEVEL: 0,
    EGL.RENDERABLE_TYPE: EGL.OPENGL_ES_BIT,
    EGL.SURFACE_TYPE: EGL.WINDOW_BIT,
    EGL.TRANSPARENT_TYPE: EGL.NONE,
    EGL.COLOR_COMPONENT_TYPE_EXT: EGL.COLOR_COMPONENT_TYPE_FIXED_EXT,
}


@dataclass(frozen=True)
class Config:
    """One config: its attributes, and the buffers of a surface made with it."""

    attributes: dict[int, int]
    color: int
    srgb: int
    depth_stencil: int
    single: bool = False  # GLX alone has these: no back buffer; EGL asks so of a surface

    def __getitem__(self, attribute: int) -> int:
        return self.attributes[attribute]

    def __hash__(self) -> int:
        return self.attributes[EGL.CONFIG_ID]


def make_configs(max_samples: int, edge: int, surfaces: int, visuals: Visuals) -> list[Config]:
    """Every config, preferred ones first.

    `surfaces` are the kinds of surface that can be made with them; windows need a visual. A config
    has one visual, so formats with several visuals have further configs, after all others. Those
    of windows follow once more, with a single buffer.
    """
    found: list[Config] = []
    # Windows have the samples that Mesa's have: Panda3D takes the config with the most of them.
    counts = [0, 4] if max_samples >= 4 else [0]
    numbers = range(max([1, *map(len, visuals.values())]))
    for single, number, samples, color, depth in product(
        (False, True), numbers, counts, _COLORS, _DEPTHS
    ):
        red, green, blue, alpha, internal, srgb, floats = color
        bits, stencil, depth_format = depth
        known = visuals.get((red, green, blue, alpha), ())
        if number and number >= len(known):
            continue
        visual = known[number] if known else None
        if single and visual is None:
            continue
        kinds = surfaces if visual else surfaces & ~(EGL.WINDOW_BIT | EGL.PIXMAP_BIT)
        attributes = {
            EGL.BUFFER_SIZE: red + green + blue + alpha,
            EGL.RED_SIZE: red, EGL.GREEN_SIZE: green, EGL.BLUE_SIZE: blue, EGL.ALPHA_SIZE: alpha,
            EGL.LUMINANCE_SIZE: 0, EGL.ALPHA_MASK_SIZE: 0,
            EGL.BIND_TO_TEXTURE_RGB: int(alpha == 0), EGL.BIND_TO_TEXTURE_RGBA: int(alpha > 0),
            EGL.COLOR_BUFFER_TYPE: EGL.RGB_BUFFER, EGL.CONFIG_CAVEAT: EGL.NONE,
            EGL.CONFIG_ID: len(found) + 1, EGL.CONFORMANT: _APIS, EGL.RENDERABLE_TYPE: _APIS,
            EGL.DEPTH_SIZE: bits, EGL.STENCIL_SIZE: stencil, EGL.LEVEL: 0,
            EGL.MAX_PBUFFER_WIDTH: edge, EGL.MAX_PBUFFER_HEIGHT: edge,
            EGL.MAX_PBUFFER_PIXELS: edge * edge,
            EGL.MIN_SWAP_INTERVAL: 0, EGL.MAX_SWAP_INTERVAL: 1,
            EGL.NATIVE_RENDERABLE: 0, EGL.NATIVE_VISUAL_ID: visual[0] if visual else 0,
            EGL.NATIVE_VISUAL_TYPE: visual[1] if visual else EGL.NONE,
            EGL.SAMPLES: samples, EGL.SAMPLE_BUFFERS: int(samples > 0),
            EGL.SURFACE_TYPE: kinds | EGL.SWAP_BEHAVIOR_PRESERVED_BIT,
            EGL.TRANSPARENT_TYPE: EGL.NONE, EGL.TRANSPARENT_RED_VALUE: 0,
            EGL.TRANSPARENT_GREEN_VALUE: 0, EGL.TRANSPARENT_BLUE_VALUE: 0,
            EGL.COLOR_COMPONENT_TYPE_EXT: EGL.COLOR_COMPONENT_TYPE_FLOAT_EXT if floats
            else EGL.COLOR_COMPONENT_TYPE_FIXED_EXT,
        }  # fmt: skip
        found.append(Config(attributes, internal, srgb, depth_format, single))
    return found


def _matches(config: Config, attribute: int, value: int) -> bool:
    have = config[attribute]
    if attribute in _MASKS:
        return have & value == value
    if attribute in _AT_LEAST:
        return have >= value
    return have == value


def choose(configs: list[Config], wanted: dict[int, int]) -> list[Config]:
    """The configs that satisfy a request, in the order the specification demands."""
    for attribute in wanted:
        known = attribute in configs[0].attributes or attribute in _IGNORED
        check(known, Error.BAD_ATTRIBUTE, f"0x{attribute:04X} is not an attribute of a config")
    number = wanted.get(EGL.CONFIG_ID, EGL.DONT_CARE)
    if number != EGL.DONT_CARE:
        return [c for c in configs if c[EGL.CONFIG_ID] == number]
    configs = [c for c in configs if not c.single]
    asked = _DEFAULTS | wanted
    tests = [(a, v) for a, v in asked.items() if v != EGL.DONT_CARE and a not in _IGNORED]
    found = [c for c in configs if all(_matches(c, a, v) for a, v in tests)]
    counted = [
        size
        for size in (EGL.RED_SIZE, EGL.GREEN_SIZE, EGL.BLUE_SIZE, EGL.ALPHA_SIZE)
        if wanted.get(size, EGL.DONT_CARE) not in (0, EGL.DONT_CARE)
    ]

    def order(config: Config) -> tuple[int, ...]:
        return (
            config[EGL.COLOR_COMPONENT_TYPE_EXT],
            -sum(config[size] for size in counted),
            config[EGL.BUFFER_SIZE],
            config[EGL.SAMPLE_BUFFERS],
            config[EGL.SAMPLES],
            config[EGL.DEPTH_SIZE],
            config[EGL.STENCIL_SIZE],
            config[EGL.CONFIG_ID],
        )

    return sorted(found, key=order)
