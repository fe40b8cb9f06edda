"""Calls from machine code to Python: for texture operations, images, vertices with a dynamic index,
and for more work units.

A call site describes itself (`shader.call_out.TextureSite` and others). Arguments are in the call
area, a row of lanes each, after a row with the mask of active lanes; results go to the rows from
the first on.

No exception can pass through machine code, so a `Callback` stores it and returns a negative number;
the code then returns at once, and its caller raises the stored exception.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.drivers.common.lanes import ShaderResources
from gallette.drivers.common.work import Work

from .llvm.stack import raise_interruption
from .shader.call_out import CornerSite, OffsetSite, TextureSite
from .shader.storage import ImageSite

Array = npt.NDArray[Any]
_ROWS = 40
_UNBOUND = (0, 0, 0, 1)
_ARGUMENTS = {
    "lod": "lod",
    "bias": "bias",
    "comparator": "compare",
    "ms_index": "sample_index",
    "min_lod": "min_lod",
}


_STOP = -1
_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)


class Callback:
    """A function that machine code calls with a number; it returns a negative number if it raises.

    The exception is added to `failures`. Once there is one, every call returns a negative number;
    callbacks of threads that execute one draw share the list. Each thread needs its own callbacks.
    """

    __slots__ = ("_function", "address", "failures")

    def __init__(self, function: Callable[[int], int], failures: list[BaseException]) -> None:
        self.failures = failures
        answers = _answers(function, failures)
        next(answers)
        self._function = _FUNCTION(answers.send)
        self.address = ctypes.cast(self._function, ctypes.c_void_p).value or 0


def _answers(
    function: Callable[[int], int], failures: list[BaseException]
) -> Generator[int, int, None]:
    """Answer calls one after the other.

    This is a generator because Python handles signals when it enters a function: the
    KeyboardInterrupt of Ctrl-C would be raised where no `try` of that function can catch it. A
    generator resumes inside its `try`.
    """
    result = 0
    while True:
        try:
            asked = yield result
            result = _STOP if failures else function(asked)
        except GeneratorExit:
            return
        except BaseException as error:
            failures.append(error)
            result = _STOP


def clock(work: Work, failures: list[BaseException]) -> Callback:
    """A callback by which machine code asks for more units of work."""

    def grant(_: int) -> int:
        raise_interruption()
        return work.grant()

    return Callback(grant, failures)


def clock_of(work: Work) -> Callback:
    """The callback that all draws of a context use, except those executed by several threads."""
    if work.callback is None:
        work.callback = clock(work, [])
    found: Callback = work.callback
    return found


def raise_failure(failures: list[BaseException]) -> None:
    """Raise the first stored exception, if there is one, and drop the others."""
    if failures:
        error = failures[0]
        failures.clear()
        raise error


def answering(
    sites: Sequence[Any],
    area: CallArea,
    lanes: Any,
    resources: ShaderResources,
    count: int,
    failures: list[BaseException],
) -> Callback:
    """The callback for the call sites of a function.

    Its argument is the number of a site and, in the upper 32 bits, the number of the group's first
    lane.
    """

    def call(number: int) -> int:
        base, site = divmod(number, 1 << 32)
        with np.errstate(all="ignore"):
            answer(sites[site], area, lanes, resources, base, count)
        resources.work.spend(area.w)
        return 0

    return Callback(call, failures)


class CallArea:
    """Memory for the arguments and results of one thread's calls."""

    def __init__(self, w: int) -> None:
        self.memory = np.zeros(_ROWS * w, np.uint64)
        self.w = w

    @property
    def address(self) -> int:
        return int(self.memory.ctypes.data)

    def row(self, index: int, dtype: Any = np.uint32) -> Array:
        """Row `index`, with its lanes packed from the row's beginning."""
        start = index * self.w
        view: Array = self.memory[start : start + self.w].view(dtype)
        return view[: self.w]


def answer(
    site: Any, area: CallArea, lanes: Any, resources: ShaderResources, base: int, count: int
) -> None:
    """Execute a call of machine code into Python: a texture lookup, an image access, ..."""
    mask = area.row(0) != 0
    if isinstance(site, TextureSite):
        results = _texture(site, area, resources, mask)
    elif isinstance(site, ImageSite):
        results = _image(site, area, resources, mask)
    elif isinstance(site, CornerSite):
        results = _corner(site, area, lanes, base, count)
    else:
        assert isinstance(site, OffsetSite)
        results = _offset(site, area, lanes, base, count)
    for i, value in enumerate(results):
        area.row(i)[:] = np.asarray(value).astype(np.uint32, copy=False)


# -- textures ------------------------------------------------------------------------------------


def _bits(value: Any, w: int) -> Array:
    array = np.asarray(value)
    raw = array.view(np.uint32) if array.ndim else array.reshape(1).view(np.uint32)
    return np.broadcast_to(raw, (w,))


def _texture(
    site: TextureSite, area: CallArea, resources: ShaderResources, mask: Array
) -> list[Array]:
    w = area.w
    integer = site.op in ("txf", "txf_ms")
    at = 1
    index: Array = np.full(w, site.texture)
    if site.mixed:
        index = area.row(1, np.int32).copy()
        at = 2
    groups: dict[str, list[Array]] = {}
    for kind, size in site.layout:
        whole = kind in ("offset", "ms_index") or (integer and kind in ("coord", "lod"))
        dtype = np.int32 if whole or (kind == "lod" and site.op == "txs") else np.float32
        groups[kind] = [area.row(at + i, dtype).copy() for i in range(size)]
        at += size
    more: dict[str, Any] = {
        key: groups[kind][0] for kind, key in _ARGUMENTS.items() if kind in groups
    }
    for kind in ("ddx", "ddy", "offset"):
        if kind in groups:
            more[kind] = groups[kind]
    if site.op == "tg4":
        more["gather_component"] = site.component
    if site.op in ("tex", "txb", "lod"):
        more["quads"] = True
    results = [np.full(w, _one(v, site.dest_type), np.uint32) for v in _UNBOUND]
    for unit in np.unique(index[mask]):
        values = _sampled(site, resources.textures, int(unit), groups.get("coord", []), w, more)
        if values is not None:
            mine = index == unit
            for result, value in zip(results, values, strict=False):
                result[mine] = _bits(value, w)[mine]
    return results[: site.results]


def _one(value: int, dest_type: str) -> int:
    return int(np.float32(value).view(np.uint32)) if dest_type.startswith("float") else value


def _sampled(
    site: TextureSite,
    textures: Sequence[Any],
    index: int,
    coords: list[Array],
    w: int,
    more: dict[str, Any],
) -> Sequence[Array] | None:
    unit = textures[index] if 0 <= index < len(textures) else None
    if unit is None:
        return None
    if not site.offsets:
        found: Sequence[Array] = unit.sample(site.op, coords, w, **more)
        return found
    return [
        unit.sample("tg4", coords, w, **{**more, "offset": [np.int32(x), np.int32(y)]})[3]
        for x, y in site.offsets
    ]


# -- images --------------------------------------------------------------------------------------


def _image(site: ImageSite, area: CallArea, resources: ShaderResources, mask: Array) -> list[Array]:
    w = area.w
    index = area.row(1, np.int32).copy()
    coords = [area.row(2 + i, np.int32).copy() for i in range(site.address)]
    at = 2 + site.address
    sample = None
    if site.sample:
        sample = area.row(at, np.int32).copy()
        at += 1
    rest = [area.row(at + i).copy() for i in range(4)]
    results = [np.zeros(w, np.uint32) for _ in range(site.results)]
    for number in np.unique(index[mask]):
        units = resources.images
        unit = units[int(number)] if 0 <= number < len(units) else None
        if unit is None:
            continue
        mine = (index == number) & mask
        found: Sequence[Any] = ()
        if site.name == "image_load":
            found = unit.load(coords, w, sample)
        elif site.name == "image_store":
            unit.store(coords, rest, w, mine, sample)
        elif site.name == "image_size":
            found = [np.asarray(extent, np.int32) for extent in unit.size()]
        elif site.name == "image_samples":
            found = [np.asarray(unit.samples, np.int32)]
        else:
            compare = rest[1] if site.name == "image_atomic_swap" else None
            found = [unit.atomic(site.op, coords, rest[0], w, mine, compare, sample)]
        for result, value in zip(results, found, strict=False):
            result[mine] = _bits(value, w)[mine]
    return results


# -- inputs --------------------------------------------------------------------------------------


def _rows(base: int, w: int, count: int) -> tuple[Array, int]:
    """The numbers of the group's lanes, and how many of them exist."""
    left = min(w, count - base)
    return np.minimum(np.arange(base, base + w), count - 1), left


def _corner(site: CornerSite, area: CallArea, lanes: Any, base: int, count: int) -> list[Array]:
    numbers, _ = _rows(base, area.w, count)
    index = area.row(1, np.int32).copy()
    return [_bits(lanes.corner_at(site.slot, site.component, index, numbers), area.w)]


def _offset(site: OffsetSite, area: CallArea, lanes: Any, base: int, count: int) -> list[Array]:
    numbers, left = _rows(base, area.w, count)
    rows, dtype = ((1,), np.int32) if site.sample else ((1, 2), np.float32)
    given = []
    for row in rows:
        whole = np.zeros(count, dtype)
        whole[numbers[:left]] = area.row(row, dtype)[:left]
        given.append(whole)
    interpolate = lanes.smooth_at_sample if site.sample else lanes.smooth_at
    value = interpolate(site.slot, site.component, *given, perspective=site.perspective)
    return [_bits(np.broadcast_to(value, (count,))[numbers], area.w)]
