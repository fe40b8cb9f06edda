"""The permitted difference between a picture and its golden."""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gallette.compiler.errors import InputError
from gallette.compiler.lazy_dataclass import lazy_dataclass

FILE = "tolerances.toml"


@lazy_dataclass(frozen=True)
class Tolerance:
    """The condition for a picture to pass.

    A pixel is the same if none of its channels differs by more than `steps` of 1/255; a picture is
    the same if at most a `share` (0 to 1) of its pixels differ. With `perceptual`, the mean error
    that FLIP finds decides instead: 0 is equal, 1 is as different as black and white, and people
    seldom see 0.02. (FLIP is NVIDIA's measure for rendered images: `pip install
    'gallette[perceptual]'`.)
    """

    steps: float = 1.0
    share: float = 0.0
    perceptual: float | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.steps <= 255:
            raise InputError(f"steps: 0 to 255 steps of 1/255, not {self.steps:g}")
        if not 0 <= self.share <= 1:
            raise InputError(f"share: a share of the pixels from 0 to 1, not {self.share:g}")
        if self.perceptual is not None and not 0 <= self.perceptual <= 1:
            raise InputError(f"perceptual: a FLIP error from 0 to 1, not {self.perceptual:g}")

    @classmethod
    def of(cls, value: Tolerance | float | Mapping[str, Any] | None) -> Tolerance:
        """A tolerance from what people write: a number of steps, or fields by name."""
        if value is None:
            return cls()
        if isinstance(value, Tolerance):
            return value
        if not isinstance(value, Mapping):
            return cls(float(value))
        known = [field.name for field in dataclasses.fields(cls)]
        for name, number in value.items():
            if name not in known:
                raise InputError(f"a tolerance has {', '.join(known)}, not {name!r}")
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise InputError(f"{name}: a number, not {number!r}")
        return cls(**{name: float(number) for name, number in value.items()})

    def __str__(self) -> str:
        if self.perceptual is not None:
            return f"FLIP error {self.perceptual:g}"
        share = f" in {100 * self.share:g} % of the pixels" if self.share else ""
        return f"{self.steps:g}/255{share}"


def read_tolerances(folder: Path) -> dict[str, Tolerance]:
    """The tolerances in a folder's file, by the name of the picture; `default` is for all others.

    A value is a number of steps, or a table: `glow = {steps = 4, share = 0.001}`.
    """
    path = folder / FILE
    if not path.is_file():
        return {}
    try:
        with open(path, "rb") as file:
            return {name: Tolerance.of(value) for name, value in tomllib.load(file).items()}
    except (
        tomllib.TOMLDecodeError,
        UnicodeDecodeError,
        InputError,
        TypeError,
        ValueError,
    ) as error:
        raise InputError(f"{path}: {error}") from None
