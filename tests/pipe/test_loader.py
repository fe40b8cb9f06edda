"""Finding drivers: the project's own, a third party's, and what is not there."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from gallette.pipe import loader
from gallette.pipe.loader import (
    DriverError,
    create_screen,
    driver_factory,
    driver_names,
    forget_drivers,
)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder on the path in which distributions can be laid down."""
    monkeypatch.syspath_prepend(str(tmp_path))
    forget_drivers()
    yield tmp_path
    sys.modules.pop("somebodys_driver", None)
    monkeypatch.undo()
    forget_drivers()


def install(folder: Path, name: str, value: str) -> None:
    """Lay down the metadata of a distribution that declares one driver."""
    info = folder / f"{name}_dist-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-dist\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[gallette.drivers]\n{name} = {value}\n")


DRIVER = """
from gallette.drivers.noop import NoopScreen

class TheirScreen(NoopScreen):
    name = "theirs"
    def describe(self):
        return "somebody's driver"

def make(**options):
    assert not options
    return TheirScreen()
"""


def test_the_projects_drivers_are_found_without_installing_it() -> None:
    assert {"noop", "trace", "numpipe"} <= set(driver_names())


def test_what_tests_drivers_is_made_but_not_listed() -> None:
    assert "faulty" not in driver_names()
    assert create_screen("faulty").name == "faulty:numpipe"
    with pytest.raises(DriverError) as caught:
        create_screen("nothing")
    assert "faulty" not in str(caught.value)


def test_a_source_tree_is_right_about_its_own_drivers(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have moved one since it was installed."""

    def installed(group: str) -> list[EntryPoint]:
        old = EntryPoint("noop", "gallette.drivers.long_gone:make", group)
        return [old] if group == loader.GROUP else []

    monkeypatch.setattr(metadata, "entry_points", installed)
    forget_drivers()
    assert create_screen("noop").name == "noop"
    monkeypatch.undo()
    forget_drivers()


def test_a_third_party_ships_a_driver_as_a_package(package: Path) -> None:
    (package / "somebodys_driver.py").write_text(DRIVER)
    install(package, "theirs", "somebodys_driver:make")
    assert "theirs" in driver_names()
    assert create_screen("theirs").describe() == "somebody's driver"
    records: list[object] = []
    traced = create_screen("trace:theirs", sink=records.append)
    assert traced.describe() == "somebody's driver"
    assert traced.name == "trace:theirs"


def test_an_unknown_driver_is_one_clear_message() -> None:
    with pytest.raises(DriverError) as caught:
        create_screen("numpip")
    text = str(caught.value)
    assert text.startswith("unknown driver 'numpip'; did you mean 'numpipe'? (installed: ")
    assert "noop" in text


def test_a_driver_that_does_not_import_says_why(package: Path) -> None:
    install(package, "broken", "no_such_module_anywhere:make")
    with pytest.raises(DriverError, match="'broken' does not load: No module named"):
        create_screen("broken")


def test_a_driver_without_its_factory_says_so(package: Path) -> None:
    (package / "somebodys_driver.py").write_text(DRIVER)
    install(package, "lost", "somebodys_driver:absent")
    with pytest.raises(DriverError, match=r"'lost' does not load: .*absent"):
        create_screen("lost")


def test_without_a_source_tree_only_what_is_installed_is_found(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loader, "__file__", str(package / "pipe" / "loader.py"))
    monkeypatch.setattr(metadata, "entry_points", lambda group: [])
    monkeypatch.setattr(metadata, "distributions", lambda name: [])
    forget_drivers()
    assert driver_names() == []
    with pytest.raises(DriverError, match=r"unknown driver 'numpipe' \(installed: none\)"):
        create_screen("numpipe")
    (package / "pyproject.toml").write_text(
        '[project]\nname = "x"\n[project.entry-points."gallette.drivers"]\nown = "x:make"\n'
        '[project.entry-points."others"]\nother = "x:make"\n'
    )
    forget_drivers()
    assert driver_names() == ["own"]
    (package / "pyproject.toml").write_text('[project]\nname = "x"\n')
    forget_drivers()
    assert driver_names() == []


def test_unknown_options_are_refused() -> None:
    with pytest.raises(DriverError, match="'noop' refuses its options"):
        create_screen("noop", colour="green")


def test_a_driver_with_a_missing_extra_names_the_package(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    for name in [n for n in sys.modules if n.startswith("gallette.drivers.jit")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(DriverError, match=r"pip install gallette\[jit\]"):
        driver_factory("jit")


def test_without_metadata_nothing_is_advised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "distributions", lambda name: [])
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    for name in [n for n in sys.modules if n.startswith("gallette.drivers.jit")]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(DriverError, match=r"driver 'jit' does not load: .*llvmlite") as caught:
        driver_factory("jit")
    assert "pip install" not in str(caught.value)
