"""Separable programs in a pipeline: outputs and inputs meet by name, or by location."""

from __future__ import annotations

import pytest

from gallette.compiler.glsl import Varying
from gallette.compiler.nir.ir import Stage
from gallette.compiler.nir.ir.slots import VaryingSlot
from gallette.compiler.nir.ir.types import VOID
from gallette.state_tracker.shading.pipeline_varyings import _moves

_HEAD = "#version 330\n#extension GL_ARB_separate_shader_objects : require\n"
_PER_VERTEX = "out gl_PerVertex { vec4 gl_Position; };\n"
_CORNERS = """
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
    gl_Position = vec4(corner, 0.0, 1.0);
"""
VERTEX = f"""{_HEAD}{_PER_VERTEX}
out vec4 unread; out float first; flat out int second; out vec2 third[2]; out vec2 fourth;
void main() {{ {_CORNERS}
    unread = vec4(0.9); first = 0.2; second = 102;
    third[0] = vec2(0.6); third[1] = fourth = vec2(0.8, 1.0);
}}"""


def varying(text: str) -> Varying:
    """`name location [slots] [explicit] [patch]`."""
    name, location, *rest = text.split()
    slots = next((int(w) for w in rest if w.isdigit()), 1)
    explicit, patch = "explicit" in rest, "patch" in rest
    return Varying(name, VOID, int(location), 0, Stage.VERTEX, slots, explicit, patch)


V, P = int(VaryingSlot.VAR0), int(VaryingSlot.PATCH0)


@pytest.mark.parametrize(
    ("outputs", "inputs", "expected"),
    [
        ([], ["a 3"], []),
        (["a 0", "b 1"], ["a 0", "b 1"], []),
        (["a 0", "b 1"], ["b 0"], [(V, V + 1)]),
        (["a 0", "b 1"], ["b 0", "a 1"], [(V, V + 1), (V + 1, V)]),
        # Both ends given: matched by location, whatever the names.
        (["a 0 explicit", "b 1"], ["b 0 explicit", "a 1 explicit"], []),
        # An input without a partner leaves where something else is written.
        (["a 0", "b 1"], ["c 0", "b 1"], []),
        (["a 0", "b 1"], ["b 0", "c 1"], [(V, V + 1), (V + 1, V + 2)]),
        (["a 0 3", "b 3"], ["c 0", "d 1", "b 2"], [(V, V + 4), (V + 1, V + 5), (V + 2, V + 3)]),
        # What explicit locations of inputs take is not free either.
        (["a 0", "b 1"], ["b 0", "x 2 explicit", "c 1"], [(V, V + 1), (V + 1, V + 3)]),
        # Several slots move together, and fit where that many are free.
        (["a 0", "b 1 2"], ["b 0 2"], [(V, V + 1), (V + 1, V + 2)]),
        (["a 0", "x 2 explicit", "b 3"], ["c 0 2", "b 2"],
         [(V, V + 4), (V + 1, V + 5), (V + 2, V + 3)]),
        (["a 0 30", "b 30"], ["c 0", "b 1"], [(V, V + 31), (V + 1, V + 30)]),
        (["a 0 30", "b 30"], ["c 0 2", "b 2"], [(V + 2, V + 30)]),  # no two are free
        # Of a patch: slots of its own, and another variable than one of vertices.
        (["a 0 patch", "b 1 patch"], ["b 0 patch"], [(P, P + 1)]),
        (["a 0 patch", "a 1"], ["a 0", "z 1"], [(V, V + 1), (V + 1, V + 2)]),
        # Built-in variables have no location.
        (["p -1", "a 1"], ["p -1", "a 0"], [(V, V + 1)]),
    ],
)  # fmt: skip
def test_where_inputs_move(
    outputs: list[str], inputs: list[str], expected: list[tuple[int, int]]
) -> None:
    found = _moves([varying(t) for t in outputs], [varying(t) for t in inputs])
    assert list(found) == expected
