"""Where reductions and scans begin changes nothing they meet."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.compiler.nir.ir.opcodes import OPCODES, numpy_dtype
from gallette.compiler.nir.ir.reduction_identities import identity

OPERATIONS = ["iadd", "imul", "imin", "imax", "umin", "umax", "iand", "ior", "ixor"]
FLOATS = ["fadd", "fmul", "fmin", "fmax"]


def neutral(op: str, bits: int, values: np.ndarray) -> bool:
    """Is `value op identity` the value, whichever stands first?"""
    kind = OPCODES[op].input_types[0].base
    first = np.array([identity(op, bits)], numpy_dtype("uint", bits)).view(numpy_dtype(kind, bits))
    values = values.view(numpy_dtype(kind, bits))
    both = OPCODES[op].semantics(first, values), OPCODES[op].semantics(values, first)
    return all(np.array_equal(found, values) for found in both)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("op", OPERATIONS)
def test_integers_stay_as_they_are(op: str, bits: int) -> None:
    edges = [0, 1, 2, 1 << (bits - 1), (1 << (bits - 1)) - 1, (1 << bits) - 1, (1 << bits) - 2]
    assert 0 <= identity(op, bits) < 1 << bits
    assert neutral(op, bits, np.array(edges, numpy_dtype("uint", bits)))


@pytest.mark.parametrize("bits", [16, 32, 64])
@pytest.mark.parametrize("op", FLOATS)
def test_floats_stay_as_they_are(op: str, bits: int) -> None:
    most = np.finfo(numpy_dtype("float", bits)).max
    values = [0.0, 1.0, -1.0, 0.5, -7.25, float(most), -float(most), np.inf, -np.inf]
    given = np.array(values, numpy_dtype("float", bits))
    assert neutral(op, bits, given.view(numpy_dtype("uint", bits)))


@pytest.mark.parametrize("op", ["iand", "ior", "ixor"])
def test_booleans_stay_as_they_are(op: str) -> None:
    assert neutral(op, 1, np.array([False, True]))
