"""Shaders of legal programs that are seldom written."""

from __future__ import annotations

from gallette.state_tracker import GL, GLInterface
from tests.hostile.programs import compute


def test_an_array_of_doubles_that_is_only_written(gl: GLInterface) -> None:
    found = compute(
        gl,
        """uniform int at;
        void main() {
            double a[4];
            for (int k = 0; k < 4; k++) a[at + k & 3] = 1.0e300LF;
            float unused = float(a[gl_LocalInvocationIndex & 3u]);
            found[gl_LocalInvocationIndex] = 7u;
        }""",
    )
    assert found[:16] == [7] * 16
    assert gl.get_error() == GL.NO_ERROR
