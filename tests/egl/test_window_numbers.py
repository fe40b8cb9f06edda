"""Numbers of GLX and OSMesa: programs that were compiled against them know no names.

The numbers are those of GL/glx.h, GL/glxext.h and GL/osmesa.h, written down by hand; each of GLX's
is asked of a framebuffer config, so that it is its meaning that is compared.
"""

from __future__ import annotations

from typing import Any

import pytest

from gallette.egl import glx, osmesa
from gallette.egl.configs import Config, make_configs
from gallette.egl.constants import EGL

SHOWN = make_configs(8, 4096, 7, {(8, 8, 8, 0): ((0x21, 4),), (8, 8, 8, 8): ((0x50, 4),)})
HIDDEN = make_configs(8, 4096, EGL.PBUFFER_BIT, {})

# Number -> EGL's name of the same.
SAME = {
    2: "BUFFER_SIZE", 3: "LEVEL", 8: "RED_SIZE", 9: "GREEN_SIZE", 10: "BLUE_SIZE",
    11: "ALPHA_SIZE", 12: "DEPTH_SIZE", 13: "STENCIL_SIZE", 100000: "SAMPLE_BUFFERS",
    100001: "SAMPLES", 0x8016: "MAX_PBUFFER_WIDTH", 0x8017: "MAX_PBUFFER_HEIGHT",
    0x8018: "MAX_PBUFFER_PIXELS", 0x800B: "NATIVE_VISUAL_ID", 0x8013: "CONFIG_ID",
}  # fmt: skip
# Number -> what every config answers, with a visual and without.
FIXED = {
    1: (1, 1),  # GLX_USE_GL
    4: (1, 1),  # GLX_RGBA
    6: (0, 0),  # GLX_STEREO
    7: (0, 0),  # GLX_AUX_BUFFERS
    14: (16, 16), 15: (16, 16), 16: (16, 16), 17: (16, 16),  # GLX_ACCUM_RED_SIZE and so on
    0x20: (0x8000, 0x8000),  # GLX_CONFIG_CAVEAT: GLX_NONE
    0x22: (0x8002, 0x8000),  # GLX_X_VISUAL_TYPE: GLX_TRUE_COLOR or GLX_NONE
    0x23: (0x8000, 0x8000),  # GLX_TRANSPARENT_TYPE: GLX_NONE
    0x24: (0, 0), 0x25: (0, 0), 0x26: (0, 0), 0x27: (0, 0), 0x28: (0, 0),
    0x800C: (0, 0),  # GLX_SCREEN
    0x8010: (7, 4),  # GLX_DRAWABLE_TYPE: window, pixmap, pbuffer
    0x8011: (1, 1),  # GLX_RENDER_TYPE: GLX_RGBA_BIT
    0x8012: (1, 0),  # GLX_X_RENDERABLE
}  # fmt: skip
UNKNOWN = [0, 18, 19, 0x1F, 0x21, 0x29, 99999, 100002, 0x8014, 0x8015, 0x8019, 0x801D, -1]


def test_what_configs_say_by_glxs_numbers() -> None:
    for config in SHOWN + HIDDEN:
        for number, name in SAME.items():
            assert glx._value(config, number) == config[getattr(EGL, name)], name
        for number, wanted in FIXED.items():
            seen = config[EGL.NATIVE_VISUAL_ID] != 0
            assert glx._value(config, number) == wanted[not seen], hex(number)
        assert glx._value(config, 5) == (0 if config.single else 1)  # GLX_DOUBLEBUFFER
        assert glx._value(config, 0x20B2) == (1 if config.srgb else 0)
        assert [glx._value(config, number) for number in UNKNOWN] == [None] * len(UNKNOWN)
    assert {config[EGL.NATIVE_VISUAL_ID] for config in SHOWN} >= {0x21, 0x50}
    assert {bool(config.srgb) for config in SHOWN + HIDDEN} == {False, True}


OSMESA = {
    "COLOR_INDEX": 0x1900, "RGBA": 0x1908, "BGRA": 1, "ARGB": 2, "RGB": 0x1907, "BGR": 4,
    "RGB_565": 5, "ROW_LENGTH": 0x10, "Y_UP": 0x11, "WIDTH": 0x20, "HEIGHT": 0x21,
    "FORMAT": 0x22, "TYPE": 0x23, "MAX_WIDTH": 0x24, "MAX_HEIGHT": 0x25, "DEPTH_BITS": 0x30,
    "STENCIL_BITS": 0x31, "ACCUM_BITS": 0x32, "PROFILE": 0x33, "CORE_PROFILE": 0x34,
    "COMPAT_PROFILE": 0x35, "MAJOR": 0x36, "MINOR": 0x37,
}  # fmt: skip


def test_osmesas_numbers() -> None:
    assert {name: getattr(osmesa, name) for name in OSMESA} == OSMESA


class _Display:
    """No more of a display than choosing wants."""

    def __init__(self, configs: list[Config]) -> None:
        self.configs = configs


class _Made(dict[int, int]):
    """A config of these sizes; its number comes last."""

    srgb, single = 0, False

    def __init__(self, sizes: str) -> None:
        names = ("RED_SIZE", "GREEN_SIZE", "BLUE_SIZE", "ALPHA_SIZE", "BUFFER_SIZE", "SAMPLES",
                 "DEPTH_SIZE", "STENCIL_SIZE", "CONFIG_ID")  # fmt: skip
        fixed = {EGL.NATIVE_VISUAL_ID: 1, EGL.COLOR_COMPONENT_TYPE_EXT: 0x333A, EGL.LEVEL: 0}
        given = zip(names, map(int, sizes.split()), strict=True)
        super().__init__(fixed | {getattr(EGL, name): size for name, size in given})


ORDERS = [
    # what is asked for, configs in any order, their numbers as the table of GLX 1.4 sorts them
    ({}, ["8 8 8 8 32 0 24 8 1", "5 6 5 0 16 0 24 8 2"], [2, 1]),  # the smaller buffer first
    ({8: 1}, ["8 0 0 0 32 0 0 0 1", "9 0 0 0 40 0 0 0 2"], [2, 1]),  # the most of what is asked
    ({9: 1}, ["0 8 0 0 32 0 0 0 1", "0 9 0 0 40 0 0 0 2"], [2, 1]),
    ({10: 1}, ["0 0 8 0 32 0 0 0 1", "0 0 9 0 40 0 0 0 2"], [2, 1]),
    ({11: 1}, ["0 0 0 8 32 0 0 0 1", "0 0 0 9 40 0 0 0 2"], [2, 1]),
    ({8: 1, 11: 1}, ["9 9 9 1 28 0 0 0 1", "6 1 1 6 14 0 0 0 2"], [2, 1]),
    ({8: 0}, ["9 0 0 0 32 0 0 0 1", "8 0 0 0 32 0 0 0 2"], [1, 2]),  # 0 asks for nothing
    ({}, ["8 8 8 8 32 4 0 0 1", "8 8 8 8 32 0 24 0 2"], [2, 1]),  # fewer samples
    ({}, ["8 8 8 8 32 0 24 0 1", "8 8 8 8 32 0 16 8 2"], [2, 1]),  # less depth unless asked for
    ({12: 0}, ["8 8 8 8 32 0 24 0 1", "8 8 8 8 32 0 16 8 2"], [2, 1]),
    ({12: 1}, ["8 8 8 8 32 0 16 0 1", "8 8 8 8 32 0 24 8 2"], [2, 1]),  # else more
    ({}, ["8 8 8 8 32 0 24 8 1", "8 8 8 8 32 0 24 0 2"], [2, 1]),  # less stencil
    ({}, ["8 8 8 8 32 0 24 8 3", "8 8 8 8 32 0 24 8 2"], [2, 3]),
]


@pytest.mark.parametrize(("wanted", "configs", "order"), ORDERS)
def test_the_order_of_what_fits(
    wanted: dict[int, int], configs: list[str], order: list[int]
) -> None:
    for way in (1, -1):
        made: Any = _Display([_Made(sizes) for sizes in configs][::way])  # type: ignore[arg-type]
        assert [config[EGL.CONFIG_ID] for config in glx._choose(made, dict(wanted))] == order


def _chosen(**wanted: int) -> list[Config]:
    numbers = {int(name[1:], 0): value for name, value in wanted.items()}
    return glx._choose(_Display(SHOWN + HIDDEN), numbers)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "name", ["RED_SIZE", "GREEN_SIZE", "BLUE_SIZE", "ALPHA_SIZE", "DEPTH_SIZE", "STENCIL_SIZE",
             "SAMPLES", "SAMPLE_BUFFERS", "BUFFER_SIZE"],
)  # fmt: skip
def test_sizes_are_at_least_the_requested_ones(name: str) -> None:
    number = next(n for n, other in SAME.items() if other == name)
    attribute = getattr(EGL, name)
    normal = _chosen()
    sizes = {config[attribute] for config in normal}
    for least in sizes | {size + 1 for size in sizes}:
        kept = [c[EGL.CONFIG_ID] for c in normal if c[attribute] >= least]
        found = [c[EGL.CONFIG_ID] for c in _chosen(**{f"_{number}": least})]
        assert sorted(found) == sorted(kept), least
    assert len(_chosen(**{f"_{number}": -1})) == len(normal)  # GLX_DONT_CARE


def test_what_is_a_mask_has_all_bits_and_the_rest_is_equal() -> None:
    everything = [c for c in SHOWN + HIDDEN if c[EGL.COLOR_COMPONENT_TYPE_EXT] == 0x333A]
    windows = [c for c in everything if c[EGL.NATIVE_VISUAL_ID]]
    assert 0 < len(windows) < len(everything)
    for bits, wanted in ((0, everything), (1, windows), (2, windows), (4, everything),
                         (6, windows), (8, [])):  # fmt: skip
        assert len(_chosen(_0x8010=bits)) == len(wanted), bits
    assert len(_chosen()) == len(windows)  # GLX_WINDOW_BIT unless something else is asked for
    assert _chosen(_0x8011=2) == []  # GLX_COLOR_INDEX_BIT
    assert _chosen(_3=1) == []  # GLX_LEVEL
    assert _chosen(_6=1) == []  # GLX_STEREO
    assert _chosen(_7=1) == []  # GLX_AUX_BUFFERS
    for ignored in (0x800B, 0x8016, 0x8017, 0x8018):
        assert len(_chosen(**{f"_{ignored}": 12345})) == len(windows)
    assert len(_chosen(_0x22=0x8002)) == len(windows) and _chosen(_0x22=0x8003) == []
    assert _chosen(_0x1234=0) == []  # what is unknown fits nothing
    for config in (SHOWN[0], HIDDEN[0]):
        number = config[EGL.CONFIG_ID]
        found = _chosen(_0x8013=number, _8=99)
        assert found and {c[EGL.CONFIG_ID] for c in found} == {number}
