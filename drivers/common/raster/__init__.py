"""From primitives to fragments: setup, coverage, interpolation."""
