"""The lesson's scene: wrong under naive live ranges, exact under each remedy."""

from __future__ import annotations

import numpy as np

from gallette.compiler.nir.run.optimize import OptimizeOptions, optimize
from gallette.drivers.machines.register_picture import map_picture
from gallette.drivers.machines.simd.backend.register_map import register_map
from gallette.drivers.machines.simd.compile import BackendOptions, compile_shader
from gallette.lessons.experiments import link
from gallette.lessons.live_ranges import wrong_pixels
from gallette.scenes.common import COMMON
from gallette.scenes.waiting_lanes import GLSL


def test_naive_live_ranges_lose_waiting_values() -> None:
    assert wrong_pixels("naive")[0] > 10_000


def test_extended_ranges_are_exact() -> None:
    """The other remedy is the driver's own: it draws every scene in `test_like_numpipe.py`."""
    assert wrong_pixels("loop_extended")[0] == 0


def test_the_register_map_shows_waiting_values() -> None:
    shader = link({"vertex": COMMON["full_screen"], **GLSL})["fragment"]
    optimize(shader, OptimizeOptions(scalar=True))
    made = compile_shader(shader, BackendOptions(record=True))
    assert made.allocation.virtual is not None
    table = register_map(made.allocation.virtual, made.allocation.places, "mask_aware")
    assert (table < 0).any(), "nothing waits in the loop"
    for at, instr in enumerate(made.allocation.virtual.instrs):
        if instr.no_mask and instr.dst.file == "v":
            rows = table[made.allocation.places[instr.dst.nr]]
            assert rows[at] == instr.dst.nr + 1
            assert not (rows[at - 1] < 0), "an instruction without a mask overwrites what waits"
    picture = map_picture(table, 2)
    assert picture.dtype == np.uint8 and picture.shape[2] == 3
