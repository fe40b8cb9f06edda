"""Passes a shader to a driver under the ownership rule that the driver declares.

`create_shader_state` takes over one reference. A driver that counts references clones a shader that
has others, too. One that owns its shaders (`caps.driver_owns_shaders`) modifies the shader itself,
so a state tracker that keeps a reference must clone it before.

Functions that the driver's machine lacks (`caps.machine`) are lowered here, once for all callers.
"""

from __future__ import annotations

from gallette.compiler.nir.ir import Shader, mutable
from gallette.compiler.nir.run.pass_runner import run_pass, run_passes

from .caps import Caps


def shader_for_driver(shader: Shader, caps: Caps) -> Shader:
    """The shader to pass to the driver, for the caller's reference to `shader`."""
    if caps.machine.lacks:
        shader = mutable(shader)
        run_pass(shader, "lower_special_functions", caps.machine.options)
        run_passes(shader, ["constant_folding", "cse", "dce"])
    return mutable(shader) if caps.driver_owns_shaders else shader
