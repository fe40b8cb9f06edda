"""Generated code computes the very bits the reference interpreter computes."""

from __future__ import annotations

import numpy as np
import pytest
from shader_harness import PictureEnvironment, compare

from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.check.validate import validate
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.opcodes import OPCODES
from gallette.compiler.nir.ir.slots import FragResult

VECTORS = {
    name: op
    for name, op in OPCODES.items()
    if not op.per_component and not op.is_vec and len(op.input_sizes) <= 2 and op.output_size == 1
    and all(type.bits in (0, 32) for type in op.input_types) and op.output_type.bits in (0, 1, 32)
    and any(size > 1 for size in op.input_sizes)
}  # fmt: skip


@pytest.mark.parametrize("name", VECTORS)
def test_whole_vectors(name: str) -> None:
    """Sums, products and comparisons of vectors, which optimised code has component by component.

    Half of the lanes compare equal vectors.
    """
    op = VECTORS[name]
    b = Builder.shader_main(Stage.FRAGMENT, name)
    zero = b.imm_int(0)
    sources = []
    for k, size in enumerate(op.input_sizes):
        wide = b.intrinsic("load_input", [zero], num_components=4, location=32 + k)
        sources.append(b.vec(b.channels(wide)[: max(1, size)]))
    found = b.alu(name, *sources)
    if found.bit_size == 1:
        found = b.alu("b2i32", found)
    b.intrinsic(
        "store_output",
        [found, zero],
        location=FragResult.DATA0,
        write_mask=(1 << found.num_components) - 1,
    )
    lanes = 40
    one, other = np.random.default_rng(len(name)).uniform(-4, 4, (2, 4, lanes)).astype(np.float32)
    other[:, ::2] = one[:, ::2]
    other[3, 4] = np.nan
    inputs = {(32 + k, c): rows[c] for k, rows in enumerate((one, other)) for c in range(4)}
    validate(b.shader)
    compare(b.shader, PictureEnvironment(lanes, inputs=inputs))
