"""The sampler: texture operations, executed by the shared texture units.

The payload is coordinates, then parameters in the order of `PARAMS`. The header's word 2 has
constant texel offsets, words 2 to 5 the four offsets of a gather with one per texel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.machines.isa.messages import PARAMS, TEX_OPS
from gallette.drivers.machines.simulator.threads import Threads

from .port import Port, Step

Array = npt.NDArray[Any]
_NAMES = {
    "lod": "lod",
    "bias": "bias",
    "comparator": "compare",
    "ms_index": "sample_index",
    "min_lod": "min_lod",
}
_IMPLICIT = frozenset({"tex", "txb", "lod"})
_UNBOUND = (0, 0, 0, 1)


def sampler_step(port: Port) -> Step:
    """Execute a `sampler` message."""
    op = TEX_OPS[port["op"]]
    integer = op in ("txf", "txf_ms", "txs")
    coords = port["coords"]
    groups = [
        (name, _extent(port, name, coords))
        for k, name in enumerate(PARAMS)
        if port["params"] >> k & 1
    ]
    texture, dynamic = port["texture"], port["dynamic"]
    one = 1 if port["integer"] else int(np.float32(1).view(np.uint32))

    def step(m: Threads) -> None:
        mask = port.channels(m)
        quads = op in _IMPLICIT and m.launch.quads
        chosen = _chosen(mask, quads)
        at = 0

        def take(dtype: Any) -> Array:
            nonlocal at
            value = port.value(m, at, dtype).reshape(-1)
            at += 1
            return value if chosen is None else value.take(chosen)

        index = take(np.int32) + texture if dynamic else None
        where = [take(np.int32 if integer else np.float32) for _ in range(coords)]
        more: dict[str, Any] = {}
        for name, extent in groups:
            whole = name in ("offset", "ms_index") or (name == "lod" and integer)
            values = [take(np.int32 if whole else np.float32) for _ in range(extent)]
            if name == "ddx":
                half = extent // 2
                more["ddx"], more["ddy"] = values[:half], values[half:]
            elif name == "offset":
                more["offset"] = values
            else:
                more[_NAMES[name]] = values[0]
        if op == "tg4":
            more["gather_component"] = port["channel"]
        if quads:
            more["quads"] = True
        offsets = _offsets(port, m)
        everybody = port.halves * m.count * m.launch.channels
        count = everybody if chosen is None else chosen.size
        if index is None:
            found = _sampled(m, texture, op, where, count, more, offsets)
            results = [np.asarray(v) for v in found] if found is not None else None
        else:
            results = _each(m, index, op, where, count, more, offsets, one, quads)
        if results is None:
            results = [np.asarray(np.uint32(one * v)) for v in _UNBOUND]
        shape = (port.halves, m.count, m.launch.channels)
        for k in range(min(port.result // port.halves, len(results))):
            value = _bits(results[k])
            if value.ndim:
                if chosen is not None:
                    spread = np.zeros(everybody, np.uint32)
                    spread[chosen] = value
                    value = spread
                value = value.reshape(shape)
            port.answer(m, k, value, mask)

    return step


def _bits(value: Array) -> Array:
    if value.dtype.itemsize != 4:
        value = value.astype(np.int32)
    return value.view(np.uint32)


def _extent(port: Port, name: str, coords: int) -> int:
    if name == "ddx":
        return 2 * (port["extent"] + 1)
    return port["extent"] + 1 if name == "offset" else 1


def _chosen(mask: Array | None, quads: bool) -> Array | None:
    """Channels to sample for: the active ones, or all channels of each quad with an active one."""
    if mask is None:
        return None
    flat = mask.reshape(-1)
    if not quads:
        return np.flatnonzero(flat)
    rows = np.flatnonzero(flat.reshape(-1, 4).any(axis=1))
    found: Array = (rows[:, None] * 4 + np.arange(4)).reshape(-1)
    return found


def _offsets(port: Port, m: Threads) -> list[list[Any]]:
    """Constant texel offsets of the header: none, one set, or four."""
    if not port["offsets"]:
        return []
    words = [port.word(m, 2 + k) for k in range(1 if port["offsets"] == 1 else 4)]
    extent = port["extent"] + 1 if port["offsets"] == 1 else 2
    thread = 0
    running = m.threads()
    if running is not None:
        thread = int(np.argmax(running))
    found = []
    for word in words:
        bits = int(word[thread])
        parts = [bits >> 8 * k & 0xFF for k in range(extent)]
        found.append([np.int32(p - 256 if p & 0x80 else p) for p in parts])
    return found


def _sampled(
    m: Threads,
    texture: int,
    op: str,
    coords: list[Array],
    count: int,
    more: dict[str, Any],
    offsets: list[list[Any]],
) -> Any:
    textures = m.launch.resources.textures
    unit = textures[texture] if 0 <= texture < len(textures) else None
    if unit is None or not count:
        return None
    if len(offsets) == 4:
        return [
            unit.sample(op, coords, count, **{**more, "offset": offset})[3] for offset in offsets
        ]
    if offsets:
        more = {**more, "offset": offsets[0]}
    return unit.sample(op, coords, count, **more)


def _each(
    m: Threads,
    index: Array,
    op: str,
    coords: list[Array],
    count: int,
    more: dict[str, Any],
    offsets: list[list[Any]],
    one: int,
    quads: bool,
) -> list[Array]:
    """Sample once per texture that a channel uses; derivatives come from whole quads."""
    results = [np.full(count, one * v, np.uint32) for v in _UNBOUND]

    def run(number: int, mine: Array) -> None:
        lanes = mine
        if quads:
            rows = np.unique(mine // 4)
            lanes = (rows[:, None] * 4 + np.arange(4)).reshape(-1)
        part: dict[str, Any] = {}
        for key, value in more.items():
            if isinstance(value, list):
                part[key] = [v[lanes] for v in value]
            else:
                part[key] = value[lanes] if isinstance(value, np.ndarray) else value
        found = _sampled(m, number, op, [c[lanes] for c in coords], lanes.size, part, offsets)
        if found is None:
            return
        asked = np.isin(lanes, mine)
        for result, value in zip(results, found, strict=False):
            bits = np.broadcast_to(_bits(np.asarray(value)), lanes.size)
            result[lanes[asked]] = bits[asked]

    for number in np.unique(index).tolist():
        run(number, np.flatnonzero(index == number))
    return results
