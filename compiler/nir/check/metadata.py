"""Checks that valid metadata is correct, after each pass in the debug mode `nir:metadata`."""

from __future__ import annotations

from gallette.compiler.nir.check.errors import metadata_error
from gallette.compiler.nir.ir.metadata import ANALYSES
from gallette.compiler.nir.ir.shader import FunctionImpl


def check_metadata(impl: FunctionImpl, where: str) -> None:
    """Recompute all metadata that is marked valid and report differences."""
    for analysis in ANALYSES:
        if impl.valid & analysis.fact:
            claimed = analysis.describe(impl)
            analysis.compute(impl)
            if analysis.describe(impl) != claimed:
                raise metadata_error(where, str(analysis.fact.name).lower())
