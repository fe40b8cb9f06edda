"""Fixtures of the SPIR-V tests; `conversions` beside this file is importable as it is."""
