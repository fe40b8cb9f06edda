"""Finds drivers in the entry-point group `gallette.drivers`, which any package can extend.

In a source tree gallette's own entries are read from `pyproject.toml`, which declares them: the
tree may not be installed, or may have moved a driver since its installation.
`GALLETTE_LOAD=my_driver.py` adds the drivers of a file.

>>> from gallette.pipe.loader import create_screen
>>> create_screen("noop").name
'noop'
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from gallette.compiler.errors import GalletteError
from gallette.compiler.gc_pause import loading

if TYPE_CHECKING:
    from .interface import Screen

GROUP = "gallette.drivers"
TESTING_GROUP = "gallette.testing_drivers"
"""Drivers that test what uses drivers: made like all others, and not listed among them."""


class DriverError(GalletteError):
    """The requested driver does not exist, or its module cannot be imported."""


# `importlib.metadata` is imported where it is needed: a source tree's own drivers do without.
@cache
def _source_tree() -> dict[str, dict[str, str]] | None:
    """The groups of entries in a source tree's `pyproject.toml`; None if there is none."""
    project = Path(__file__).resolve().parent.parent / "pyproject.toml"
    if not project.is_file():
        return None
    return dict(tomllib.loads(project.read_text())["project"].get("entry-points", {}))


@cache
def _own(group: str) -> dict[str, str]:
    """Gallette's own entries of a group; a source tree's are those of its `pyproject.toml`."""
    groups = _source_tree()
    if groups is not None:
        return groups.get(group, {})
    from importlib import metadata

    own = [each.entry_points for each in metadata.distributions(name="gallette")]
    return {point.name: point.value for points in own for point in points.select(group=group)}


@cache
def _found(group: str) -> dict[str, str]:
    """The entries of a group in all installed packages; of equal names, gallette's own counts."""
    from importlib import metadata

    return {each.name: each.value for each in metadata.entry_points(group=group)} | _own(group)


def _drivers() -> dict[str, str]:
    return _found(GROUP) | _found(TESTING_GROUP)


def _point(name: str) -> str | None:
    """The entry of a driver. Gallette's own come first: reading those of all packages is slow."""
    return (_own(GROUP) | _own(TESTING_GROUP)).get(name) or _drivers().get(name)


def _loaded() -> dict[str, Callable[..., Any]]:
    """The drivers of the files that `GALLETTE_LOAD` names, from their tables `DRIVERS`."""
    found: dict[str, Callable[..., Any]] = {}
    for path in filter(None, os.environ.get("GALLETTE_LOAD", "").split(os.pathsep)):
        from gallette.compiler.nir.outside import load_file

        found.update(getattr(load_file(path), "DRIVERS", {}))
    return found


def driver_names() -> list[str]:
    """The names of all drivers, installed or loaded, that are not for testing, sorted."""
    return sorted({*_drivers(), *_loaded()} - _found(TESTING_GROUP).keys())


def driver_package(name: str) -> str:
    """The package of the driver `name` (of the inner one: `trace:numpipe` is numpipe), or ""."""
    point = _point(name.rpartition(":")[2])
    return point.partition(":")[0] if point is not None else ""


def forget_drivers() -> None:
    """Search for installed drivers again at the next call, after a package was installed or
    removed.
    """
    _found.cache_clear()
    _own.cache_clear()
    _source_tree.cache_clear()


@loading
def create_screen(name: str, **options: Any) -> Screen:
    """Create a screen of the driver `name`; options are the driver's own.

    A name such as `trace:numpipe` passes `inner="numpipe"` to the driver `trace`. Options from
    settings files for this program (see `settings`) are added to those given.
    """
    from .overrides import overridden
    from .settings import settings_for

    base, _, inner = name.partition(":")
    factory = driver_factory(base)
    if inner:
        options["inner"] = inner
    options = {**settings_for(base, factory), **options}
    try:
        screen = cast("Screen", factory(**options))
    except TypeError as error:
        raise DriverError(f"driver {base!r} refuses its options: {error}") from error
    changes = os.environ.get("GALLETTE_CAPS")
    if changes:
        screen.caps = overridden(screen.caps, changes)
    return screen


def driver_factory(base: str) -> Callable[..., Any]:
    """The function that creates screens of a driver; its parameters are the driver's options."""
    loaded = _loaded().get(base)
    if loaded is not None:
        return loaded
    point = _point(base)
    if point is None:
        close = difflib.get_close_matches(base, driver_names(), n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise DriverError(
            f"unknown driver {base!r}{hint} (installed: {', '.join(driver_names()) or 'none'})"
        )
    module, _, attribute = point.partition(":")
    try:
        return cast("Callable[..., Any]", getattr(import_module(module), attribute))
    except (ImportError, AttributeError) as error:
        missing = isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith(
            "gallette"
        )
        advice = f" (pip install gallette[{base}])" if missing and base in _extras() else ""
        raise DriverError(f"driver {base!r} does not load: {error}{advice}") from error


def _extras() -> list[str]:
    """The names of gallette's optional extras."""
    from importlib import metadata

    own = [each.metadata for each in metadata.distributions(name="gallette")]
    return own[0].get_all("Provides-Extra") or [] if own else []
