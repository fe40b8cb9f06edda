"""Folders that code is loaded from belong to the user alone, and files appear there whole."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from gallette.compiler import private_folder as folders
from gallette.compiler.output_files import atomic_write
from gallette.compiler.private_folder import private_folder
from gallette.egl import libraries

STRANGER = os.getuid() + 1


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _owned(monkeypatch: pytest.MonkeyPatch, owners: dict[Path, int]) -> None:
    """Let folders seem to belong to other users: only root can give files away."""

    def seen(look: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def stat_of(path: Any) -> Any:
            found = look(path)
            uid = owners.get(Path(path), found.st_uid)
            return SimpleNamespace(st_uid=uid, st_gid=found.st_gid, st_mode=found.st_mode)

        return stat_of

    names = {**vars(os), "stat": seen(os.stat), "lstat": seen(os.lstat)}
    monkeypatch.setattr(folders, "os", SimpleNamespace(**names))


def test_folders_that_are_missing_are_made_for_the_user_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert private_folder(tmp_path / "a" / "b" / "c") == tmp_path / "a" / "b" / "c"
    finally:
        os.umask(before)
    assert [_mode(p) for p in (tmp_path / "a", tmp_path / "a/b", tmp_path / "a/b/c")] == [0o700] * 3


def test_a_folder_that_others_could_only_read_is_closed(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o755)
    private_folder(tmp_path / "a")
    assert _mode(tmp_path / "a") == 0o700


# What must not be used: how it comes about, and what is said.
def _writable(place: Path) -> None:
    place.mkdir()
    place.chmod(0o777)


def _of_the_group(place: Path) -> None:
    place.mkdir()
    place.chmod(0o770)


def _link(place: Path) -> None:
    (place.parent / "target").mkdir(mode=0o700)
    place.symlink_to("target")


def _file(place: Path) -> None:
    place.write_text("")


def _below_writable(place: Path) -> None:
    place.mkdir(mode=0o700)
    place.parent.chmod(0o777)


FOREIGN: dict[str, tuple[Callable[[Path], None], str]] = {
    "others may write": (_writable, "others may write in .*/mine"),
    "the group may write": (_of_the_group, "others may write in .*/mine"),
    "a link": (_link, "mine is no folder"),
    "a file": (_file, "mine is no folder"),
    "others may exchange it": (_below_writable, "others may write in .*/above"),
}


@pytest.mark.parametrize("case", FOREIGN)
def test_a_folder_that_others_can_change_is_refused(case: str, tmp_path: Path) -> None:
    make, message = FOREIGN[case]
    place = tmp_path / "above" / "mine"
    place.parent.mkdir(mode=0o700)
    make(place)
    with pytest.raises(OSError, match=message):
        private_folder(place)


@pytest.mark.parametrize("whose", ["mine", "above"])
def test_a_folder_of_another_user_is_refused(
    whose: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "above" / "mine"
    place.mkdir(parents=True, mode=0o700)
    _owned(
        monkeypatch, {tmp_path / "above" / "mine" if whose == "mine" else place.parent: STRANGER}
    )
    with pytest.raises(PermissionError, match="belongs to another user"):
        private_folder(place)


def test_sticky_folders_may_be_shared(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    assert private_folder(tmp_path / "mine").is_dir()


# -- the libraries that programs load --------------------------------------------------------------


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that cannot be written to, and a folder for temporary files that all share."""
    shared = tmp_path / "tmp"
    shared.mkdir()
    shared.chmod(0o1777)
    (tmp_path / "no-folder").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "no-folder"))
    monkeypatch.setattr(tempfile, "tempdir", str(shared))
    return shared


def _made() -> Path:
    return libraries.folder.__wrapped__()


def test_libraries_are_in_the_users_folder_for_temporary_files(places: Path) -> None:
    found = _made()
    assert found.parent == places / f"gallette-{os.getuid()}"
    assert (found / "libEGL.so.1").stat().st_size > 1000
    assert {_mode(found), _mode(found.parent)} == {0o700}
    assert _made() == found


@pytest.mark.parametrize("case", [*FOREIGN, "another user's"])
def test_libraries_that_another_user_has_placed_are_not_loaded(
    case: str, places: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = _made()
    for file in expected.iterdir():
        file.unlink()
        file.write_text("foreign")
    theirs = expected.parent
    if case == "another user's":
        _owned(monkeypatch, {theirs: STRANGER})
    elif case == "others may exchange it":
        places.chmod(0o777)
        with pytest.raises(Exception, match="finds no folder"):
            _made()
        return
    else:
        theirs.rename(places / "target")
        if case in ("a link", "a file"):
            theirs.symlink_to("target") if case == "a link" else theirs.write_text("")
        else:
            (places / "target").rename(theirs)
            theirs.chmod(0o777 if case == "others may write" else 0o770)
    found = _made()
    assert found.parent != theirs
    assert found.parent.parent == places
    assert _mode(found.parent) == 0o700
    assert (found / "libEGL.so.1").read_bytes() != b"foreign"


def test_modules_are_not_looked_for_below_the_working_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(libraries.sys, "path", ["site-packages", "/usr/lib/site-packages", ""])
    assert libraries._places()[1:] == ["/usr/lib/site-packages"]


# -- files -----------------------------------------------------------------------------------------


def test_a_file_appears_when_all_of_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("before")
    before = os.umask(0o027)
    try:
        with atomic_write(path) as file:
            file.write(b"after")
            assert path.read_text() == "before"
    finally:
        os.umask(before)
    assert path.read_text() == "after"
    assert _mode(path) == 0o640
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "full"), KeyboardInterrupt()])
def test_a_file_that_could_not_be_written_is_as_before(
    error: BaseException, tmp_path: Path
) -> None:
    path = tmp_path / "a"
    path.write_text("before")
    with pytest.raises(type(error)), atomic_write(path) as file:
        file.write(b"half")
        raise error
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_links_stay_links_and_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("before")
    (tmp_path / "link").symlink_to("target")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"after")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "after"
    reader, writer = os.pipe()
    with atomic_write(f"/dev/fd/{writer}") as file:
        file.write(b"piped")
    assert os.read(reader, 9) == b"piped"
    os.close(reader)
    os.close(writer)
