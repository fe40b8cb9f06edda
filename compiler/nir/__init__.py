"""NIR: the SSA shader IR between front ends and drivers."""

from gallette.compiler.nir import analysis as analysis  # registers the analyses for `require`
