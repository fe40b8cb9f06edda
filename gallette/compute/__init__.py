"""Kernels and compute shaders on NumPy arrays: `gallette.compute`.

    import numpy as np
    from gallette import compute

    program = compute.Program.from_file("saxpy.spv")  # OpenCL's SPIR-V
    y, x = np.ones(64, np.float32), np.arange(64, dtype=np.float32)
    program.kernel("saxpy")(y, x, np.float32(2.0), np.int32(64), grid=1, block=64)
    # y is now 2 x + 1

    scale = compute.ComputeShader.from_file("scale.comp")  # GLSL
    scale(y, 2.0, grid=1)

Arrays are arguments for pointers to global memory, `compute.Local(bytes)` for those to a
workgroup's memory, `compute.Image(array)` for images, NumPy scalars for values. A kernel writes to
the arrays in place.
"""

from gallette.compute.images import Image, Sampler
from gallette.compute.kernels import Kernel, Program
from gallette.compute.local import Local
from gallette.compute.shaders import ComputeShader

__all__ = ["ComputeShader", "Image", "Kernel", "Local", "Program", "Sampler"]
