"""The table of texture operations and of what their sources are."""

from __future__ import annotations

TEX_OPS = {
    "tex": "sample with implicit level of detail",
    "txb": "sample with a bias added to the implicit level",
    "txl": "sample at an explicit level",
    "txd": "sample with explicit derivatives",
    "txf": "fetch one texel by integer coordinate",
    "txf_ms": "fetch one sample of a multisample texel",
    "txs": "size of a level",
    "lod": "the level a sample would use: (clamped, unclamped)",
    "tg4": "gather one component of the four texels of the footprint",
    "query_levels": "number of levels",
    "texture_samples": "number of samples",
}

TEX_SRCS = {
    "coord": "texture coordinates, the array layer last",
    "projector": "divides the coordinates (not the layer) and the comparator",
    "comparator": "reference value of a shadow lookup",
    "offset": "constant or dynamic texel offset",
    "bias": "added to the level of detail",
    "lod": "level of detail",
    "min_lod": "lower clamp of the level of detail",
    "ms_index": "sample index",
    "ddx": "derivative of the coordinates along x",
    "ddy": "derivative of the coordinates along y",
    "texture_deref": "deref of the texture variable",
    "sampler_deref": "deref of the sampler variable",
    "texture_offset": "dynamic index added to texture_index",
    "sampler_offset": "dynamic index added to sampler_index",
}
