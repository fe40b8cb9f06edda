"""NIR: the SSA shader IR everything above and below meets in."""

from gallette.compiler.nir import analysis as analysis  # makes them known to `require`
