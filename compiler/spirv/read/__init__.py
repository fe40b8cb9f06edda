"""SPIR-V to NIR, by `translate.spirv_to_nir`.

The modules imported here register how instructions and entry points of their kinds are read.
"""

from gallette.compiler.spirv.read import kernels, spec_constants

__all__ = ["kernels", "spec_constants"]
