"""Which configs match a request, and in which order: EGL's and GLX's rules, written down again."""

from __future__ import annotations

import ctypes
import random
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.egl import glx
from gallette.egl.configs import Config, choose, make_configs
from gallette.egl.constants import EGL, Error
from gallette.egl.errors import EglError

WINDOWS = EGL.WINDOW_BIT | EGL.PIXMAP_BIT | EGL.PBUFFER_BIT
VISUALS = {(8, 8, 8, 0): ((0x21, 4),), (8, 8, 8, 8): ((0x21, 4), (0x50, 4))}
EVERY = make_configs(8, 4096, WINDOWS, VISUALS)
CONFIGS = [c for c in EVERY if not c.single]  # EGL's

# attribute -> how it is compared, and what a request means that does not say it
RULES: dict[str, tuple[str, int]] = {
    "BUFFER_SIZE": (">=", 0),
    "RED_SIZE": (">=", 0),
    "GREEN_SIZE": (">=", 0),
    "BLUE_SIZE": (">=", 0),
    "ALPHA_SIZE": (">=", 0),
    "LUMINANCE_SIZE": (">=", 0),
    "ALPHA_MASK_SIZE": (">=", 0),
    "DEPTH_SIZE": (">=", 0),
    "STENCIL_SIZE": (">=", 0),
    "SAMPLE_BUFFERS": (">=", 0),
    "SAMPLES": (">=", 0),
    "SURFACE_TYPE": ("bits", EGL.WINDOW_BIT),
    "RENDERABLE_TYPE": ("bits", EGL.OPENGL_ES_BIT),
    "CONFORMANT": ("bits", 0),
    "BIND_TO_TEXTURE_RGB": ("==", EGL.DONT_CARE),
    "BIND_TO_TEXTURE_RGBA": ("==", EGL.DONT_CARE),
    "COLOR_BUFFER_TYPE": ("==", EGL.RGB_BUFFER),
    "COLOR_COMPONENT_TYPE_EXT": ("==", EGL.COLOR_COMPONENT_TYPE_FIXED_EXT),
    "CONFIG_CAVEAT": ("==", EGL.DONT_CARE),
    "LEVEL": ("==", 0),
    "MIN_SWAP_INTERVAL": ("==", EGL.DONT_CARE),
    "MAX_SWAP_INTERVAL": ("==", EGL.DONT_CARE),
    "NATIVE_RENDERABLE": ("==", EGL.DONT_CARE),
    "NATIVE_VISUAL_TYPE": ("==", EGL.DONT_CARE),
    "TRANSPARENT_TYPE": ("==", EGL.NONE),
    "TRANSPARENT_RED_VALUE": ("==", EGL.DONT_CARE),
    "TRANSPARENT_GREEN_VALUE": ("==", EGL.DONT_CARE),
    "TRANSPARENT_BLUE_VALUE": ("==", EGL.DONT_CARE),
    "MAX_PBUFFER_WIDTH": ("never", 0),
    "MAX_PBUFFER_HEIGHT": ("never", 0),
    "MAX_PBUFFER_PIXELS": ("never", 0),
    "NATIVE_VISUAL_ID": ("never", 0),
}
SIZES = ["RED_SIZE", "GREEN_SIZE", "BLUE_SIZE", "ALPHA_SIZE"]
SMALLEST_FIRST = ["BUFFER_SIZE", "SAMPLE_BUFFERS", "SAMPLES", "DEPTH_SIZE", "STENCIL_SIZE"]


def number(name: str) -> int:
    return int(getattr(EGL, name))


def is_met(have: int, rule: str, value: int) -> bool:
    if value == EGL.DONT_CARE:
        return True
    compared = {">=": have >= value, "==": have == value, "bits": have | value == have}
    return compared.get(rule, True)


def expected(wanted: dict[str, int]) -> list[Config]:
    found = [
        config
        for config in CONFIGS
        if all(
            is_met(config[number(name)], rule, wanted.get(name, default))
            for name, (rule, default) in RULES.items()
        )
    ]
    asked = [number(name) for name in SIZES if wanted.get(name, 0) not in (0, EGL.DONT_CARE)]
    for name in reversed(SMALLEST_FIRST):
        found.sort(key=lambda config: config[number(name)])
    found.sort(key=lambda config: sum(config[size] for size in asked), reverse=True)
    return sorted(found, key=lambda c: c[EGL.COLOR_COMPONENT_TYPE_EXT])


def found_by(wanted: dict[str, int]) -> list[Config]:
    return choose(CONFIGS, {number(name): value for name, value in wanted.items()})


def test_every_attribute_of_a_config_can_be_queried() -> None:
    every = {number(name) for name in RULES} | {EGL.CONFIG_ID}
    assert set(CONFIGS[0].attributes) == every
    for name in RULES:
        for value in {config[number(name)] for config in CONFIGS}:
            for asked in (value, value + 1, value - 1, EGL.DONT_CARE):
                wanted = {name: asked}
                assert found_by(wanted) == expected(wanted), wanted


@pytest.mark.parametrize("seed", range(4))
def test_requests_of_several_attributes(seed: int) -> None:
    rng = random.Random(f"configs {seed}")
    some = 0
    for _ in range(100):
        names = rng.sample(list(RULES), rng.randrange(5))
        if rng.random() < 0.5:
            names += rng.sample([*SIZES, *SMALLEST_FIRST], 2)
        like = rng.choice(CONFIGS)
        wanted = {name: like[number(name)] for name in names}
        found = found_by(wanted)
        assert found == expected(wanted), wanted
        some += bool(found)
    assert some > 50


@pytest.mark.parametrize("attribute", [0, 0x3038, 0x1234, EGL.WIDTH, EGL.CONTEXT_FLAGS_KHR, -1])
@pytest.mark.parametrize("others", [{}, {EGL.CONFIG_ID: 3}, {EGL.RED_SIZE: 99}])
def test_what_is_no_attribute_of_a_config_is_refused(
    attribute: int, others: dict[int, int]
) -> None:
    for value in (0, 1, EGL.DONT_CARE):
        for wanted in ({attribute: value, **others}, {**others, attribute: value}):
            with pytest.raises(EglError) as caught:
                choose(CONFIGS, wanted)
            assert caught.value.code == Error.BAD_ATTRIBUTE


def test_what_is_made_by_the_platform_is_no_attribute_but_ignored() -> None:
    assert choose(CONFIGS, {EGL.MATCH_NATIVE_PIXMAP: 5}) == choose(CONFIGS, {})


def test_a_number_selects_one_config_whatever_else_is_requested() -> None:
    for config in CONFIGS:
        assert choose(CONFIGS, {EGL.CONFIG_ID: config[EGL.CONFIG_ID], EGL.RED_SIZE: 99}) == [config]
    assert choose(CONFIGS, {EGL.CONFIG_ID: len(CONFIGS) + 1}) == []
    assert choose(CONFIGS, {EGL.CONFIG_ID: EGL.DONT_CARE}) == choose(CONFIGS, {})


@pytest.mark.parametrize("samples", [0, 3, 4, 8])
def test_configs_have_four_samples_or_none(samples: int) -> None:
    made = make_configs(samples, 64, EGL.PBUFFER_BIT, {})
    assert {c[EGL.SAMPLES] for c in made} == {n for n in (0, 4) if n <= samples}
    assert [c[EGL.CONFIG_ID] for c in made] == list(range(1, len(made) + 1))
    for config in made:
        assert config[EGL.SAMPLE_BUFFERS] == min(config[EGL.SAMPLES], 1)
        assert config[EGL.BUFFER_SIZE] == sum(config[number(name)] for name in SIZES)
        assert config[EGL.MAX_PBUFFER_PIXELS] == 64 * 64


def test_windows_need_a_visual() -> None:
    for config in CONFIGS:
        colors = tuple(config[number(name)] for name in SIZES)
        visual = config[EGL.NATIVE_VISUAL_ID]
        known = VISUALS.get(colors, ((0, EGL.NONE),))
        assert (visual, config[EGL.NATIVE_VISUAL_TYPE]) in known
        drawn = WINDOWS if visual else EGL.PBUFFER_BIT
        assert config[EGL.SURFACE_TYPE] == drawn | EGL.SWAP_BEHAVIOR_PRESERVED_BIT


def test_colours_of_two_visuals_have_all_configs_of_each() -> None:
    """Those of the second come last, so that requests prefer the first."""
    by_visual: dict[int, list[tuple[int, ...]]] = {0x21: [], 0x50: []}
    for config in CONFIGS:
        if config[EGL.ALPHA_SIZE] == 8:
            told = {k: v for k, v in config.attributes.items() if k != EGL.CONFIG_ID}
            visual = told.pop(EGL.NATIVE_VISUAL_ID)
            by_visual[visual].append(tuple(sorted(told.items())))  # type: ignore[arg-type]
    assert by_visual[0x21] == by_visual[0x50]
    assert [c[EGL.CONFIG_ID] for c in CONFIGS] == list(range(1, len(CONFIGS) + 1))
    assert max(c[EGL.CONFIG_ID] for c in CONFIGS if c[EGL.NATIVE_VISUAL_ID] == 0x21) < min(
        c[EGL.CONFIG_ID] for c in CONFIGS if c[EGL.NATIVE_VISUAL_ID] == 0x50
    )


# -- GLX -------------------------------------------------------------------------------------------


class Answers:
    """Calls of GLX on a display that has the configs above."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        by_number = {config[EGL.CONFIG_ID]: config for config in EVERY}
        display = SimpleNamespace(configs=EVERY, config=by_number.__getitem__)
        monkeypatch.setattr(glx, "_display", lambda native: display)

    def configs(self, *wanted: int) -> list[Config]:
        given = (ctypes.c_int32 * (len(wanted) + 1))(*wanted, 0)
        count = ctypes.c_int(-1)
        found = glx.glXChooseFBConfig(1, 0, ctypes.addressof(given), ctypes.addressof(count))
        return self.listed(found, count.value)

    def every(self) -> list[Config]:
        count = ctypes.c_int(-1)
        return self.listed(glx.glXGetFBConfigs(1, 0, ctypes.addressof(count)), count.value)

    def listed(self, found: int, count: int) -> list[Config]:
        assert bool(found) == (count > 0)
        if not found:
            return []
        numbers = list((ctypes.c_uint64 * count).from_address(found))
        free = ctypes.CDLL(None).free
        free.argtypes = [ctypes.c_void_p]
        free(found)
        return [EVERY[n - 1] for n in numbers]

    def attribute(self, config: Config, attribute: int) -> int | None:
        value = ctypes.c_int(-77)
        error = glx.glXGetFBConfigAttrib(
            1, config[EGL.CONFIG_ID], attribute, ctypes.addressof(value)
        )
        if error:
            assert (error, value.value) == (2, -77)
            return None
        return value.value


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Answers:
    return Answers(monkeypatch)


def stored(call: Any, *first: Any) -> tuple[int, list[int]]:
    """What a call answers, and the two numbers it leaves."""
    numbers = (ctypes.c_int * 2)(-5, -5)
    at = ctypes.addressof(numbers)
    return call(*first, at, at + 4), list(numbers)


def test_the_extension_is_there_in_its_version() -> None:
    assert stored(glx.glXQueryExtension, 1) == (1, [0, 0])
    assert stored(glx.glXQueryVersion, 1) == (1, [1, 4])
    assert glx.glXIsDirect(1, 1) == 1
    assert glx.glXQueryExtension(1, 0, 0) == 1  # nobody wants the numbers


def test_texts_of_client_and_server() -> None:
    def text(address: int) -> str:
        return (ctypes.cast(address, ctypes.c_char_p).value or b"").decode()

    extensions = text(glx.glXQueryExtensionsString(1, 0)).split()
    assert "GLX_ARB_create_context_profile" in extensions
    assert all(name.startswith("GLX_") for name in extensions)
    for ask in (
        lambda n: glx.glXGetClientString(1, n),
        lambda n: glx.glXQueryServerString(1, 0, n),
    ):
        assert [text(ask(n)) for n in (1, 2, 3, 4)] == [
            "gallette",
            "1.4",
            " ".join(extensions),
            "",
        ]


def test_every_attribute_of_a_framebuffer_config(answers: Answers) -> None:
    assert answers.every() == EVERY
    for config in EVERY:
        drawable = config[EGL.NATIVE_VISUAL_ID] != 0
        wanted = {
            1: 1, 2: config[EGL.BUFFER_SIZE], 3: 0, 4: 1, 5: int(not config.single), 6: 0, 7: 0,
            8: config[EGL.RED_SIZE], 9: config[EGL.GREEN_SIZE], 10: config[EGL.BLUE_SIZE],
            11: config[EGL.ALPHA_SIZE], 12: config[EGL.DEPTH_SIZE], 13: config[EGL.STENCIL_SIZE],
            14: 16, 15: 16, 16: 16, 17: 16, 18: None, 0x20: 0x8000,
            0x22: 0x8002 if drawable else 0x8000, 0x23: 0x8000, 0x24: 0, 0x25: 0, 0x26: 0,
            0x27: 0, 0x28: 0, 0x29: None, 0x800B: config[EGL.NATIVE_VISUAL_ID], 0x800C: 0,
            0x8010: 7 if drawable else 4, 0x8011: 1, 0x8012: int(drawable),
            0x8013: config[EGL.CONFIG_ID], 0x8016: 4096, 0x8017: 4096, 0x8018: 4096 * 4096,
            100000: config[EGL.SAMPLE_BUFFERS], 100001: config[EGL.SAMPLES],
            0x20B2: int(config[EGL.RED_SIZE] == 8), 0x1234: None,
        }  # fmt: skip
        assert {a: answers.attribute(config, a) for a in wanted} == wanted


AT_LEAST = {2: "BUFFER_SIZE", 8: "RED_SIZE", 9: "GREEN_SIZE", 10: "BLUE_SIZE", 11: "ALPHA_SIZE",
            12: "DEPTH_SIZE", 13: "STENCIL_SIZE", 100000: "SAMPLE_BUFFERS",
            100001: "SAMPLES"}  # fmt: skip


def glx_expected(wanted: dict[int, int]) -> list[Config]:
    found = [
        config
        for config in EVERY
        if config[EGL.NATIVE_VISUAL_ID]
        and config[EGL.COLOR_COMPONENT_TYPE_EXT] == EGL.COLOR_COMPONENT_TYPE_FIXED_EXT
        and all(config[number(AT_LEAST[a])] >= value for a, value in wanted.items())
    ]
    asked = [number(AT_LEAST[a]) for a in (8, 9, 10, 11) if wanted.get(a, 0) > 0]
    deepest = -1 if wanted.get(12, 0) > 0 else 1
    found.sort(key=lambda c: c[EGL.STENCIL_SIZE])
    found.sort(key=lambda c: deepest * c[EGL.DEPTH_SIZE])
    found.sort(key=lambda c: c[EGL.SAMPLES])
    found.sort(key=lambda c: c.single)
    found.sort(key=lambda c: c[EGL.BUFFER_SIZE])
    return sorted(found, key=lambda c: -sum(c[size] for size in asked))


def test_framebuffer_configs_are_chosen_and_ordered(answers: Answers) -> None:
    rng = random.Random("framebuffer configs")
    for attribute, name in AT_LEAST.items():
        for value in {config[number(name)] for config in EVERY}:
            for asked in (value, value + 1):
                found = answers.configs(attribute, asked)
                assert found == glx_expected({attribute: asked}), (name, asked)
    for _ in range(100):
        like = rng.choice(EVERY)
        names = rng.sample(list(AT_LEAST), rng.randrange(5))
        wanted = {a: like[number(AT_LEAST[a])] for a in names}
        flat = [n for pair in wanted.items() for n in pair]
        assert answers.configs(*flat) == glx_expected(wanted), wanted


def test_the_first_config_of_a_visual_has_a_back_buffer(answers: Answers) -> None:
    """SFML requests nothing, and takes it."""
    seen: set[int] = set()
    for config in answers.configs():
        visual = config[EGL.NATIVE_VISUAL_ID]
        assert visual in seen or not config.single
        seen.add(visual)
    assert any(config.single for config in answers.configs())


OTHERS = [
    # attribute, value, does some config meet it?
    (0x8010, 1, True),  # windows
    (0x8010, 7, True),  # pixmaps and pbuffers as well
    (0x8010, 8, False),
    (0x8011, 1, True),  # colours
    (0x8011, 2, False),  # indices
    (0x8011, -1, True),
    (6, 0, True),  # one eye
    (6, 1, False),
    (3, 0, True),  # no overlay
    (3, 1, False),
    (5, 0, True),  # a front buffer alone
    (5, 1, True),
    (0x22, 0x8002, True),
    (0x22, 0x8003, False),
    (0x20, 0x8000, True),
    (0x20, 0x8001, False),
    (0x20, -1, True),
    (7, 1, False),  # auxiliary buffers
    (14, 17, False),  # accumulation buffers
    (0x8012, 1, True),
    (0x8012, 0, False),  # of those for windows
    (0x20B2, 1, True),
    (0x8013, 1, True),
    (0x8016, 1 << 20, True),  # ignored
    (0x1234, 1, False),  # no such attribute
    (0x1234, -1, True),
]


@pytest.mark.parametrize(("attribute", "value", "some"), OTHERS)
def test_other_attributes_of_framebuffer_configs(
    answers: Answers, attribute: int, value: int, some: bool
) -> None:
    assert bool(answers.configs(attribute, value)) is some


def test_pbuffers_need_no_visual(answers: Answers) -> None:
    found = answers.configs(0x8010, 4)
    assert {c[EGL.NATIVE_VISUAL_ID] for c in found} == {0, 0x21, 0x50}


def test_a_number_selects_one_framebuffer_config_whatever_else_is_requested(
    answers: Answers,
) -> None:
    for config in EVERY:
        assert answers.configs(8, 99, 0x8013, config[EGL.CONFIG_ID]) == [config]
    assert answers.configs(0x8013, len(EVERY) + 1) == []
    assert answers.configs(0x8013, 0) == []
    assert answers.configs(0x8013, -1) == answers.configs()
