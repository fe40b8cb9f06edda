"""NIR: the SSA shader IR everything above and below meets in."""
