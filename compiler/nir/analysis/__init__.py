"""Questions about whole functions and their answers.

Importing this room makes the analyses known to `FunctionImpl.require`.
"""

from gallette.compiler.nir.analysis import cfg, divergence, dominance, liveness

__all__ = ["cfg", "divergence", "dominance", "liveness"]
