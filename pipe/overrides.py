"""GALLETTE_CAPS overrides a driver's caps, to see what the state tracker does for another driver.

    GALLETTE_CAPS=lower_two_sided_color=1,max_samples=4 gallette run ...
    GALLETTE_CAPS=two_sided_color=0,alpha_test=0 gallette explain ...

A pair names a cap and its value. A `lower_*` cap may also be named by the feature that the driver
then lacks: `two_sided_color=0` is `lower_two_sided_color=1`. Either way the same table of switches
(`keys.LOWERINGS`) selects the passes; only whether the driver or the state tracker runs them
changes. Caps are promises: a program may break with a cap that claims more than the driver does.
"""

from __future__ import annotations

import dataclasses
import difflib
from typing import Any

from gallette.compiler.errors import InputError
from gallette.compiler.nir.ir.addresses import AddressModel
from gallette.compiler.nir.lower.target_machine import Machine

from .caps import Caps

_SWITCHES = {"0": False, "1": True, "false": False, "true": True, "no": False, "yes": True}


def overridden(caps: Caps, text: str) -> Caps:
    """The caps with the changes in `name=value,...`."""
    changes: dict[str, Any] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise InputError(f"GALLETTE_CAPS: expected name=value, not {pair!r}")
        known = {f.name: getattr(caps, f.name) for f in dataclasses.fields(caps)}
        if name in known:
            changes[name] = _parsed(name, value, known[name])
        elif f"lower_{name}" in known:
            changes[f"lower_{name}"] = not _parsed(name, value, True)
        else:
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InputError(f"GALLETTE_CAPS: there is no cap {name!r}{hint}")
    return dataclasses.replace(caps, **changes) if changes else caps


def _parsed(name: str, value: str, like: Any) -> Any:
    """A value of the cap's type; stages and functions are joined by `+`."""
    try:
        if isinstance(like, bool):
            return _SWITCHES[value.lower()]
        if isinstance(like, int | float):
            return type(like)(value)
        if isinstance(like, frozenset):
            return frozenset(filter(None, value.split("+")))
        if isinstance(like, str):
            return AddressModel.parse(value) and value
        if isinstance(like, Machine):
            return Machine.of(value)
    except (KeyError, ValueError):
        pass
    raise InputError(f"GALLETTE_CAPS: {value!r} is no value of {name} (it is {like!r})")
