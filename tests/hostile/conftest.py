"""A context of each driver for programs that mean no good."""

from __future__ import annotations

import pytest

from gallette.state_tracker import GLInterface, create_context


@pytest.fixture(params=["numpipe", "jit", "simd", "tiler"])
def gl(request: pytest.FixtureRequest) -> GLInterface:
    """The context; a vertex array is bound."""
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    made = create_context(request.param, version=(4, 6), size=(32, 32))
    made.bind_vertex_array(made.gen_vertex_arrays(1)[0])
    return made
