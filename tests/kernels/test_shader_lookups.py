"""How samplers of compute shaders look images up: linearly, and at the edge beyond it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.compute import ComputeShader, Image
from gallette.pipe.enums import Filter, MipFilter, Wrap

SOURCE = """#version 460
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer Out {{ float found[]; }};
layout(std430, binding = 1) buffer At {{ float at[]; }};
uniform sampler{dimensions}D image;
void main() {{
    uint i = gl_GlobalInvocationID.x;
    found[i] = {lookup};
}}
"""
PLACES = [-0.4, 0.0, 0.125, 0.25, 0.3125, 0.5, 0.75, 0.9375, 1.0, 1.4]
VALUES = np.array([1.0, 5.0, 3.0, 11.0], np.float32)  # texels' middles are at 1/8, 3/8, 5/8, 7/8
WANTED = np.interp(np.array(PLACES) * 4 - 0.5, np.arange(4), VALUES)


def _lookups(dimensions: int, axis: int, texels: np.ndarray, lookup: str) -> list[float]:
    at = ", ".join("at[i]" if k == axis else "0.5" for k in range(dimensions))
    place = at if dimensions == 1 else f"vec{dimensions}({at})"
    found, places = np.zeros(len(PLACES), np.float32), np.array(PLACES, np.float32)
    source = SOURCE.format(dimensions=dimensions, lookup=lookup.format(place=place))
    with ComputeShader(source) as shader:
        shader(found, places, Image(texels, dimensions=dimensions), grid=len(PLACES))
    return found.tolist()


def _along(dimensions: int, axis: int) -> np.ndarray:
    """Texels that differ along one axis (x is 0), repeated along the others."""
    shape = [1] * dimensions
    shape[dimensions - 1 - axis] = 4
    return np.ascontiguousarray(np.broadcast_to(VALUES.reshape(shape), [4] * dimensions))


CASES = [(dimensions, axis) for dimensions in (1, 2, 3) for axis in range(dimensions)]


@pytest.mark.parametrize(("dimensions", "axis"), CASES)
def test_between_texels_is_their_mean_and_beyond_is_the_edge(dimensions: int, axis: int) -> None:
    found = _lookups(dimensions, axis, _along(dimensions, axis), "texture(image, {place}).x")
    assert found == pytest.approx(WANTED, rel=1e-3)


@pytest.mark.parametrize("level", [-3, 0, 3], ids=["magnified", "as it is", "minified"])
def test_lookups_are_as_linear_when_minified(level: int) -> None:
    lookup = f"textureLod(image, {{place}}, {level}.0).x"
    assert _lookups(2, 0, _along(2, 0), lookup) == pytest.approx(WANTED, rel=1e-3)


def test_components_that_an_image_lacks_are_those_of_black() -> None:
    """One component: green and blue are 0, alpha is 1; bytes are 0..1, or -1..1 with a sign."""
    for texels, wanted in (
        (np.full((2, 2), 0.5, np.float32), 0.5),
        (np.full((2, 2), 51, np.uint8), 0.2),
        (np.full((2, 2), -127, np.int8), -1.0),
        (np.full((2, 2), 0xFFFF, np.uint16), 1.0),
    ):
        for letter, value in zip("xyzw", (wanted, 0.0, 0.0, 1.0), strict=True):
            found = _lookups(2, 0, texels, f"texture(image, {{place}}).{letter}")
            assert found == pytest.approx([value] * len(PLACES), abs=1e-6), (texels.dtype, letter)


def test_drivers_sample_linearly_at_one_level(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A driver is spared to look for levels that images do not have."""
    asked: list[Any] = []
    with ComputeShader(SOURCE.format(dimensions=2, lookup="texture(image, vec2(0.5)).x")) as made:
        monkeypatch.setattr(made.device, "run", lambda handle, launch: asked.append(launch))
        made(*np.zeros((2, 1), np.float32), np.zeros((1, 1), np.float32), grid=1)
    ((image, state),) = asked[0].textures.values()
    assert image.extent == (1, 1, 1)
    assert {state.wrap_s, state.wrap_t, state.wrap_r} == {Wrap.CLAMP_TO_EDGE}
    assert (state.min_img_filter, state.mag_img_filter) == (Filter.LINEAR, Filter.LINEAR)
    assert state.min_mip_filter is MipFilter.NONE
    assert not state.unnormalized_coords and not state.compare_enabled
