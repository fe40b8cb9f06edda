"""Inputs are read from other slots, to match the outputs of a separately linked program."""

from __future__ import annotations

from gallette.compiler.nir.ir.metadata import Metadata
from gallette.compiler.nir.ir.queries import intrinsics_of
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.run.pass_runner import nir_pass

_LOADS = ("load_input", "load_interpolated_input", "load_per_vertex_input")


@nir_pass("move_inputs", preserves=Metadata.VALUES)
def move_inputs(shader: Shader, *, slots: tuple[tuple[int, int], ...] = ()) -> bool:
    """Varyings in the first slot of a pair of `slots` are read from the second.

    A separable program assigns slots to its inputs without knowing the producer. Before, with
    `slots` pairing VAR0 with VAR1: `load_input (%0) (location=VARYING.VAR0)`; after: `load_input
    (%0) (location=VARYING.VAR1)`. A vertex shader's inputs are attributes, and not changed.
    """
    moved = dict(slots)
    progress = False
    for impl in shader.impls():
        for name in _LOADS:
            for load in intrinsics_of(impl, name):
                target = moved.get(int(load["location"]))
                if target is not None:
                    load["location"] = VaryingSlot(target)
                    progress = True
    return progress
