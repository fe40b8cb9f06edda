"""Handing a shader to a driver, whichever way the driver wants to have it.

`create_shader_state` takes over one reference. A driver that counts references clones a shader that
somebody else holds, too. One that owns what it gets (`caps.driver_owns_shaders`) changes the very
shader it was given, so whoever wants to keep one must have cloned it before.

What the driver's machine lacks (`caps.machine`) is lowered on the way, so nobody forgets it.
"""

from __future__ import annotations

from gallette.compiler.nir.ir import Shader, mutable
from gallette.compiler.nir.run.pass_runner import run_pass, run_passes

from .caps import Caps

__all__ = ["shader_for_driver"]


def shader_for_driver(shader: Shader, caps: Caps) -> Shader:
    """What to give to the driver, for the caller's reference to `shader`."""
    if caps.machine.lacks:
        shader = mutable(shader)
        run_pass(shader, "lower_special_functions", caps.machine.options)
        run_passes(shader, ["constant_folding", "cse", "dce"])
    return mutable(shader) if caps.driver_owns_shaders else shader
