"""Analyses of functions.

Importing this package registers the analyses for `FunctionImpl.require`.
"""

from gallette.compiler.nir.analysis import cfg, divergence, dominance, liveness

__all__ = ["cfg", "divergence", "dominance", "liveness"]
