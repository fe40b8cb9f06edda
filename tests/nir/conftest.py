"""Collects textual pass tests: every case of every `.nir` file is a test item."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from nir_cases import CheckError, NirCase, read_cases

from gallette.compiler.errors import GalletteError


@pytest.fixture(autouse=True)
def idle_passes_are_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passes that the runner leaves out run all the same, and must find nothing to do."""
    monkeypatch.setenv("GALLETTE_DEBUG", f"{os.environ.get('GALLETTE_DEBUG', '')},nir:idle")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == ".nir":
        return NirFile.from_parent(parent, path=file_path)  # type: ignore[no-any-return]
    return None


class NirFile(pytest.File):
    """A `.nir` file."""

    def collect(self) -> Iterator[pytest.Item]:
        seen: dict[str, int] = {}
        for case in read_cases(self.path):
            count = seen[case.name] = seen.get(case.name, 0) + 1
            name = case.name if count == 1 else f"{case.name}_{count}"
            yield NirItem.from_parent(self, name=name, case=case)


class NirItem(pytest.Item):
    """One case."""

    def __init__(self, *, case: NirCase, **kwargs: object):
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.case = case

    def runtest(self) -> None:
        self.case.check()

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None
    ) -> str:  # type: ignore[override]
        if isinstance(excinfo.value, (CheckError, GalletteError)):
            return f"{self.path}:{self.case.line}: {self.case.title}\n{excinfo.value}"
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.case.line - 1, self.name
