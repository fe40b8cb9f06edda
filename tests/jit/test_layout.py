"""The blocks that compiled code and Python share: every word has a place of its own."""

from __future__ import annotations

import pytest

from gallette.drivers.jit.shader import layout

BLOCKS = {
    name: block
    for name, block in vars(layout).items()
    if isinstance(block, type) and block.__module__ == layout.__name__
}
WIDE = {
    "Words": {"CONSTANTS": 2 * 16, "BUFFERS": 2 * 32, "TEXTURES": 32, "IMAGES": 32}
    | {"OUTPUTS": 512, "INPUTS": 256},
    "TileWords": {"TARGET": 4, "DEPTH": 2, "COLORS": 2 * 8, "BLEND": 8 * 2, "COLOR_PLANES": 8}
    | {"OFFSET": 2, "COLOR_LAYERS": 8},
    "Record": {"VERTEX": 3, "BOUNDS": 4, "DX": 3, "DY": 3, "C": 3 * 2},
    "ClipWords": {"CUTS": 4, "SCALE": 3},
    "PlaceWords": {"CLIP": 4, "SCALE": 3},
    "DrawWords": {"MERGED": 3},
}
"""What takes more than one word, and how many."""
LIMITS = {"DrawWords": {"MOST_TRIANGLES", "MOST_PIECES"}}
"""Numbers beside them that are no places."""


@pytest.mark.parametrize("name", BLOCKS)
def test_no_two_things_share_a_word(name: str) -> None:
    wide = WIDE.get(name, {})
    places = {
        key: place
        for key, place in vars(BLOCKS[name]).items()
        if key.isupper() and key not in LIMITS.get(name, ())
    }
    assert wide.keys() <= places.keys()
    end = layout.Words.OUTPUTS if name == "TileWords" else 0
    for key, place in places.items():
        assert place >= end, key
        end = place + wide.get(key, 1)
    assert end <= layout.Words.SIZE or "SIZE" in places


def test_words_of_tiles_lie_where_a_shader_has_its_outputs() -> None:
    """Fragments have none: the tile function is given the block of its shader."""
    places = [place for key, place in vars(layout.TileWords).items() if key.isupper()]
    assert min(places) >= layout.Words.OUTPUTS and max(places) + 2 <= layout.Words.INPUTS
