"""Passes for what fixed-function hardware does, before and after, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.interpreter import Environment, Result, interpret
from gallette.compiler.nir.ir.instrs import Tex
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import FragResult, VaryingSlot
from gallette.compiler.nir.ir.types import Dim
from gallette.compiler.nir.run.pass_runner import run_passes

Array = npt.NDArray[Any]
VALUES = np.array([-0.5, 0.0, 0.25, 0.2501, 0.5, 0.75, 1.0, 3.0], np.float32)
COLOURS = np.stack([VALUES * 2, 1 - VALUES, VALUES - 1, VALUES]).astype(np.float32)
COMPARED = {
    "never": lambda a, r: np.zeros(a.shape, bool),
    "less": lambda a, r: a < r,
    "equal": lambda a, r: a == r,
    "lequal": lambda a, r: a <= r,
    "greater": lambda a, r: a > r,
    "notequal": lambda a, r: a != r,
    "gequal": lambda a, r: a >= r,
    "always": lambda a, r: np.ones(a.shape, bool),
}


def outputs(stage: Stage, *stores: tuple[int, int, int, int]) -> Builder:
    """A shader that stores components of input 0: slot, first component, count, mask."""
    b = Builder.shader_main(stage, "outputs")
    zero = b.imm_int(0)
    given = b.intrinsic("load_input", [zero], num_components=4, location=VaryingSlot.VAR0)
    for slot, first, count, mask in stores:
        parts = b.channels(given)[first : first + count]
        b.intrinsic(
            "store_output", [b.vec(parts), zero], location=slot, component=first, write_mask=mask
        )
    return b


def changed(shader: Shader, name: str, **options: Any) -> bool:
    return run_passes(shader, [(name, options)])


def ran(b: Builder, colours: Array = COLOURS, **system: Any) -> Result:
    inputs = {(int(VaryingSlot.VAR0), c): row for c, row in enumerate(colours)}
    values = {name: np.asarray(value, np.float32) for name, value in system.items()}
    found = interpret(b.shader, Environment(colours.shape[1], inputs=inputs, system_values=values))
    b.shader.unref()
    return found


@pytest.mark.parametrize("func", list(COMPARED))
@pytest.mark.parametrize("bits", [0, 2, 8])
@pytest.mark.parametrize("ref", [0.0, 0.25, 0.75, 1.0])
def test_the_alpha_test_discards(func: str, bits: int, ref: float) -> None:
    """With bits, both numbers are what a buffer of so many would hold."""
    b = outputs(Stage.FRAGMENT, (FragResult.DATA0, 0, 4, 15), (FragResult.DATA1, 0, 4, 15))
    assert changed(b.shader, "lower_alpha_test", func=func, bits=bits) == (func != "always")
    assert b.shader.info.uses_discard == (func != "always")
    alpha, limit = VALUES, np.float32(ref)
    if bits:
        alpha = np.rint(np.clip(alpha, 0, 1) * np.float32((1 << bits) - 1))
        limit = np.rint(limit * np.float32((1 << bits) - 1))
    assert ran(b, alpha_ref=ref).alive.tolist() == COMPARED[func](alpha, limit).tolist()


@pytest.mark.parametrize(
    ("store", "alpha"),
    [
        ((FragResult.COLOR, 0, 4, 15), VALUES),
        ((FragResult.DATA0, 2, 2, 3), VALUES),
        ((FragResult.DATA0, 3, 1, 1), VALUES),
        ((FragResult.DATA0, 0, 3, 7), np.ones(8)),
        ((FragResult.DATA0, 0, 4, 7), np.ones(8)),
        ((FragResult.DATA0, 2, 2, 1), np.ones(8)),
    ],
)
def test_the_alpha_that_is_tested(store: tuple[int, int, int, int], alpha: Array) -> None:
    """That of the first colour; where none is written, it is one."""
    b = outputs(Stage.FRAGMENT, store)
    assert changed(b.shader, "lower_alpha_test", func="gequal")
    assert ran(b, alpha_ref=0.5).alive.tolist() == (alpha >= 0.5).tolist()


@pytest.mark.parametrize("slot", [FragResult.DATA1, FragResult.DEPTH])
def test_other_outputs_have_no_alpha_test(slot: FragResult) -> None:
    b = outputs(Stage.FRAGMENT, (slot, 0, 4, 15))
    assert not changed(b.shader, "lower_alpha_test", func="less")
    b.shader.unref()
    b = outputs(Stage.FRAGMENT, (FragResult.DATA0, 0, 4, 15))
    for store in intrinsics_of(b.impl, "store_output"):
        store["dual_source"] = True
    assert not changed(b.shader, "lower_alpha_test", func="less")
    b.shader.unref()
    b = outputs(Stage.VERTEX, (VaryingSlot.POS, 0, 4, 15))
    assert not changed(b.shader, "lower_alpha_test", func="less")
    b.shader.unref()


PLANES = np.array([[1, 0, 0, 0.5], [0, 2, 0, 0], [0, 0, -1, 1], [0.5, 0.5, 0.5, 0.5],
                   [1, 1, 0, 0], [0, 0, 0, 1]], np.float32)  # fmt: skip


@pytest.mark.parametrize("written", [(0, 4, 15), (0, 2, 3), (1, 2, 2), (0, 4, 5)])
@pytest.mark.parametrize("slot", [VaryingSlot.POS, VaryingSlot.CLIP_VERTEX])
def test_distances_from_planes(slot: VaryingSlot, written: tuple[int, int, int]) -> None:
    """Of what is written; what is not counts as 0, 0, 0, 1."""
    first, count, mask = written
    b = outputs(Stage.VERTEX, (slot, first, count, mask))
    assert changed(b.shader, "lower_user_clip_planes", mask=0b110111)
    left = {s["location"] for s in intrinsics_of(b.impl, "store_output")}
    assert (slot in left) == (slot is VaryingSlot.POS)
    vertex = np.tile(np.array([[0], [0], [0], [1]], np.float32), 8)
    for k in range(count):
        if mask >> k & 1:
            vertex[first + k] = COLOURS[first + k]

    class Planes(Environment):
        def system_value(self, name: str, components: int, bit_size: int, index: int = 0) -> Array:
            if name != "user_clip_plane":
                return super().system_value(name, components, bit_size, index)
            return np.repeat(PLANES[index][:, None], 8, 1).view(np.uint32)

    inputs = {(int(VaryingSlot.VAR0), c): row for c, row in enumerate(COLOURS)}
    found = interpret(b.shader, Planes(8, inputs=inputs))
    b.shader.unref()
    for plane in (0, 1, 2, 4, 5):
        distance = found.floats(VaryingSlot.CLIP_DIST0 + plane // 4, plane % 4)
        assert np.allclose(distance, PLANES[plane] @ vertex, atol=1e-6), plane


@pytest.mark.parametrize(
    ("stage", "mask", "slot"),
    [
        (Stage.FRAGMENT, 3, VaryingSlot.POS),
        (Stage.VERTEX, 0, VaryingSlot.POS),
        (Stage.VERTEX, 3, VaryingSlot.CLIP_DIST0),
        (Stage.VERTEX, 3, VaryingSlot.VAR1),
    ],
)
def test_shaders_without_user_planes(stage: Stage, mask: int, slot: VaryingSlot) -> None:
    b = outputs(stage, (slot, 0, 4, 15))
    assert not changed(b.shader, "lower_user_clip_planes", mask=mask)
    b.shader.unref()


class Looking(Environment):
    """Rectangles are 6 by 3; a lookup shows its coordinates."""

    def texture(self, tex: Tex, unit: Array, srcs: dict[str, Array]) -> Array:
        if tex.op == "txs":
            assert (tex.texture_index, tex.sampler_index) == (2, 1)
            return np.array([[6] * self.lanes, [3] * self.lanes], np.int32)
        rows = [*srcs["coord"], *[np.zeros(self.lanes)] * 4]
        return np.stack(rows[:4]).astype(np.float32)


@pytest.mark.parametrize("dim", [Dim.D2, Dim.RECT, Dim.CUBE, Dim.D3])
@pytest.mark.parametrize("axes", [(), (0,), (1,), (0, 1, 2)])
def test_coordinates_are_saturated(dim: Dim, axes: tuple[int, ...]) -> None:
    count = dim.coordinates
    b = outputs(Stage.FRAGMENT)
    given = b.channels(
        b.intrinsic("load_input", [b.imm_int(0)], num_components=4, location=VaryingSlot.VAR0)
    )
    options = {"texture_index": 2, "sampler_index": 1}
    coord = b.vec(given[:count])
    texel = b.tex("tex", [("coord", coord)], dim, num_components=4, dest_type="float32", **options)
    b.intrinsic("store_output", [texel, b.imm_int(0)], location=FragResult.DATA0, write_mask=15)
    masks = {name: 2 * (k in axes) for k, name in enumerate("str")}
    changes = dim is not Dim.CUBE and bool(axes)
    assert changed(b.shader, "lower_tex_saturate", **masks) == changes
    inputs = {(int(VaryingSlot.VAR0), c): 4 * row for c, row in enumerate(COLOURS)}
    found = interpret(b.shader, Looking(8, inputs=inputs))
    b.shader.unref()
    limits = (6, 3) if dim is Dim.RECT else (1, 1, 1)
    for k in range(count):
        row = 4 * COLOURS[k]
        wanted = np.clip(row, 0, limits[k]) if changes and k in axes else row
        assert found.floats(FragResult.DATA0, k).tolist() == wanted.tolist()


@pytest.mark.parametrize("flip", [False, True])
@pytest.mark.parametrize(("first", "count"), [(0, 4), (1, 2), (3, 1)])
def test_coordinates_of_sprites(flip: bool, first: int, count: int) -> None:
    """Those of the units that the mask names are the place in the point."""
    b = Builder.shader_main(Stage.FRAGMENT, "sprites")
    zero = b.imm_int(0)
    for unit in (2, 3):
        given = b.intrinsic(
            "load_input",
            [zero],
            num_components=count,
            location=VaryingSlot.TEX0 + unit,
            component=first,
        )
        b.intrinsic("store_output", [given, zero], location=FragResult.DATA0 + unit - 2,
                    write_mask=(1 << count) - 1)  # fmt: skip
    assert changed(b.shader, "lower_sprite_coord", mask=0b100, flip_y=flip)
    place = np.stack([VALUES, VALUES[::-1]])
    own = {(int(VaryingSlot.TEX3), c): COLOURS[c] for c in range(4)}
    found = interpret(b.shader, Environment(8, inputs=own, system_values={"point_coord": place}))
    b.shader.unref()
    x, y = place
    wanted = [x, 1 - y if flip else y, np.zeros(8), np.ones(8)]
    for k in range(count):
        assert found.floats(FragResult.DATA0, k).tolist() == wanted[first + k].tolist()
        assert found.floats(FragResult.DATA1, k).tolist() == COLOURS[first + k].tolist()


def test_depths_of_a_rectangle_take_the_place_of_others() -> None:
    """A shader that writes a depth of its own does so no more."""
    b = outputs(Stage.FRAGMENT, (FragResult.DEPTH, 0, 1, 1), (FragResult.DATA0, 0, 4, 15))
    assert changed(b.shader, "lower_pixel_rectangle", what="depth", texture=3)
    stores = [s["location"] for s in intrinsics_of(b.impl, "store_output")]
    assert stores == [FragResult.DATA0, FragResult.DEPTH]
    b.shader.unref()
    b = outputs(Stage.VERTEX, (VaryingSlot.POS, 0, 4, 15))
    assert not changed(b.shader, "lower_pixel_rectangle", what="depth")
    b.shader.unref()
