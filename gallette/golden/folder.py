"""A folder of golden images."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gallette.compiler.errors import InputError
from gallette.golden.comparing import Comparison, compare_pictures
from gallette.golden.pictures import picture_of, read_picture, write_picture
from gallette.golden.tolerance import Tolerance, read_tolerances

_ODD = re.compile(r"[^\w.+=-]+")


def file_name(name: str) -> str:
    """The file of a picture's golden: letters, digits and a few signs stay, the rest is a dash."""
    stem = _ODD.sub("-", name).strip(".-")
    if not stem:
        raise InputError(f"golden images: {name!r} has no letter or digit for a file's name")
    return f"{stem[:120]}.png"


class Goldens:
    """The golden images in a folder, and the results of comparing pictures with them."""

    def __init__(
        self,
        folder: str | Path,
        *,
        update: bool = False,
        tolerance: Tolerance | float | None = None,
    ) -> None:
        """`update`: write goldens that are missing or differ. `tolerance`: of pictures for which
        the folder's `tolerances.toml` names none."""
        self.folder, self.update = Path(folder), update
        self.results: list[Comparison] = []
        self._given = read_tolerances(self.folder)
        self._default = self._given.pop("default", Tolerance.of(tolerance))
        self._names: dict[str, str] = {}  # of the pictures, by file

    def tolerance(self, name: str) -> Tolerance:
        """The tolerance of a picture."""
        return self._given.get(name, self._default)

    def path(self, name: str) -> Path:
        """The file of a picture's golden image; an error if another picture has the same file."""
        file = file_name(name)
        other = self._names.setdefault(file.lower(), name)
        if other != name:
            raise InputError(f"golden images: {name!r} and {other!r} would both be {file}")
        return self.folder / file

    def check(
        self, name: str, picture: Any, tolerance: Tolerance | float | None = None
    ) -> Comparison:
        """Compare a picture with its golden (see `picture_of` for what a picture may be)."""
        limit = self.tolerance(name) if tolerance is None else Tolerance.of(tolerance)
        path, seen = self.path(name), picture_of(picture)
        if path.is_file():
            found = compare_pictures(seen, read_picture(path), limit, name)
        else:
            found = Comparison(name, "no golden", limit, seen=seen)
        found.golden = path
        if self.update and not found.ok:
            write_picture(path, seen)
            found.status = "written"
        self.results.append(found)
        return found

    def check_rest(self) -> list[Comparison]:
        """Report the goldens of which no picture was checked: the program should have drawn
        them.
        """
        missing = []
        for path in sorted(self.folder.glob("*.png")):
            if path.name.lower() in self._names:
                continue
            status = "not drawn"
            if self.update:
                path.unlink()
                status = "removed"
            missing.append(Comparison(path.stem, status, self._default, golden=path))
        self.results += missing
        return missing

    @property
    def ok(self) -> bool:
        return all(result.ok for result in self.results)
