"""Packing and unpacking by routines is that of the codecs, for every format and awkward numbers."""

from __future__ import annotations

import numpy as np
import pytest

from gallette.drivers.common.fixed.arrays import evaluate
from gallette.drivers.common.fixed.formats import packed, unpacked
from gallette.pipe.codecs import pack_planes, unpack_planes
from gallette.pipe.formats import FORMATS, Format
from tests.drivers.common.fixed.random_output import LANES, STORED, colors, texels, words_of

DECODED = [*STORED, FORMATS["R9G9B9E5_FLOAT"]]


@pytest.mark.parametrize("format", STORED, ids=str)
def test_every_format_is_packed_as_by_its_codec(format: Format) -> None:
    planes = colors(format)
    found = evaluate(packed(format), planes)
    wanted = words_of(pack_planes(format, planes))
    for one, other in zip(found, wanted, strict=True):
        assert np.broadcast_to(one, LANES).tolist() == np.broadcast_to(other, LANES).tolist()


@pytest.mark.parametrize("format", DECODED, ids=str)
def test_every_format_is_unpacked_as_by_its_codec(format: Format) -> None:
    there = texels(format)
    found = evaluate(unpacked(format), words_of(there))
    for one, other in zip(found, unpack_planes(format, there), strict=True):
        values = np.broadcast_to(one, LANES).view(format.rgba_dtype)
        np.testing.assert_array_equal(values, np.broadcast_to(other, LANES))
