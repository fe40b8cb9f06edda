"""Pictures and their golden images: what is the same, what is kept, what is reported."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from gallette.compiler.errors import GalletteError
from gallette.golden import Goldens, Tolerance, compare_pictures, picture_of
from gallette.golden.folder import file_name
from gallette.piglit_subset.junit import Case, write_cases

GREY = np.full((10, 20, 4), 100, np.uint8)


def changed(count: int, by: int, channel: int = 0) -> Any:
    """The grey picture with `count` pixels, from the third row on, that differ by so much."""
    picture = GREY.copy()
    picture.reshape(-1, 4)[40 : 40 + count, channel] += np.uint8(by)
    return picture


@pytest.mark.parametrize(
    ("seen", "tolerance", "status", "differing"),
    [
        (GREY, Tolerance(0), "identical", 0),
        (changed(1, 1), Tolerance(), "close", 0),
        (changed(1, 2), Tolerance(), "different", 1),
        (changed(1, 2, channel=3), Tolerance(), "different", 1),  # alpha counts
        (changed(3, 9), Tolerance(8), "different", 3),
        (changed(3, 9), Tolerance(9), "close", 0),
        (changed(4, 9), Tolerance(1, 0.02), "close", 4),  # 4 of 200 pixels
        (changed(5, 9), Tolerance(1, 0.02), "different", 5),
        (GREY[:, 1:], Tolerance(255, 1.0), "other size", 0),
    ],
)
def test_what_is_the_same(seen: Any, tolerance: Tolerance, status: str, differing: int) -> None:
    found = compare_pictures(seen, GREY, tolerance)
    assert (found.status, found.differing) == (status, differing)
    assert found.first == ((0, 2) if differing else None)
    assert found.ok == (status in ("identical", "close"))


def test_perceptual_comparison_ignores_invisible_differences() -> None:
    """FLIP judges in place of steps: one pixel is seldom seen, a new background always."""
    pytest.importorskip("flip_evaluator")
    large = np.full((64, 64, 4), 100, np.uint8)
    speck, lighter = large.copy(), large + np.uint8(40)
    lighter[..., 3] = large[..., 3]
    speck[3, 3, :3] = 110
    limit = Tolerance(perceptual=0.02)
    assert compare_pictures(speck, large, Tolerance()).status == "different"
    assert compare_pictures(speck, large, limit).status == "close"
    found = compare_pictures(lighter, large, limit)
    assert found.status == "different" and found.perceptual is not None and found.perceptual > 0.05


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "0 to 255"),
        ({"share": 2}, "a share of the pixels"),
        ({"perceptual": 1.5}, "a FLIP error"),
        ({"stepps": 1}, "not 'stepps'"),
        ({"steps": "many"}, "a number, not 'many'"),
    ],
)
def test_tolerances_that_make_no_sense(value: Any, message: str) -> None:
    with pytest.raises(GalletteError, match=message):
        Tolerance.of(value)


def test_anything_that_is_a_picture(tmp_path: Path) -> None:
    opaque = GREY.copy()
    opaque[..., 3] = 255
    path = tmp_path / "a.png"
    Image.fromarray(opaque).save(path)
    halves = np.linspace(0, 1, 5).reshape(1, 5, 1)
    for what in (opaque, opaque[..., :3], opaque[..., 0], Image.fromarray(opaque), path, str(path)):
        assert (picture_of(what) == opaque).all()
    assert picture_of(halves)[0, :, 1].tolist() == [0, 64, 128, 191, 255]
    for wrong in (np.zeros((2, 2, 5)), np.zeros((2, 2, 3), np.int32), "x.png", object()):
        with pytest.raises(GalletteError):
            picture_of(wrong)


def test_a_folder_of_golden_images(tmp_path: Path) -> None:
    """What is missing fails, is written by an update, and is compared from then on."""
    folder = tmp_path / "goldens"
    assert Goldens(folder).check("a b/c", GREY).status == "no golden"
    assert not folder.exists()
    first = Goldens(folder, update=True)
    assert [first.check(name, GREY).status for name in ("a b/c", "old")] == ["written"] * 2
    assert sorted(path.name for path in folder.iterdir()) == ["a-b-c.png", "old.png"]
    second = Goldens(folder)
    assert second.check("a b/c", GREY).status == "identical"
    assert second.check("a b/c", changed(1, 3)).status == "different"
    assert [result.status for result in second.check_rest()] == ["not drawn"]
    assert not second.ok
    third = Goldens(folder, update=True)
    assert third.check("a b/c", changed(1, 1)).status == "close"  # and the golden stays
    assert [result.status for result in third.check_rest()] == ["removed"]
    assert Goldens(folder).check("a b/c", GREY).status == "identical"


def test_the_tolerances_of_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "tolerances.toml"
    path.write_text('default = 2\nglow = {steps = 4, share = 0.5}\n"a b" = 0\n')
    goldens = Goldens(tmp_path, tolerance=9)
    assert [goldens.tolerance(name) for name in ("x", "glow", "a b")] == [
        Tolerance(2), Tolerance(4, 0.5), Tolerance(0),
    ]  # fmt: skip
    path.write_text("glow = {stepps = 4}")
    with pytest.raises(GalletteError, match=r"tolerances.toml: .*stepps"):
        Goldens(tmp_path)
    path.write_text("glow = ")
    with pytest.raises(GalletteError, match=r"tolerances.toml"):
        Goldens(tmp_path)


def test_two_pictures_do_not_share_a_file(tmp_path: Path) -> None:
    goldens = Goldens(tmp_path, update=True)
    goldens.check("a b", GREY)
    goldens.check("a b", GREY)
    with pytest.raises(GalletteError, match=r"would both be A-b\.png"):
        goldens.check("A/b", GREY)
    with pytest.raises(GalletteError, match="no letter or digit"):
        goldens.check("../", GREY)
    assert file_name("../../etc/passwd") == "etc-passwd.png"


def test_junit_holds_any_text(tmp_path: Path) -> None:
    path = tmp_path / "out" / "junit.xml"
    cases = [
        Case("g", "good"),
        Case("g", "a\x1b<b>\uffff", "failure", "why", "why\nmore"),
        Case("g", "c", "error", "e"),
    ]
    write_cases("suite", cases, path)
    suite = ElementTree.parse(path).getroot()[0]
    counts = {"tests": "3", "failures": "1", "errors": "1", "skipped": "0"}
    assert suite.attrib == {"name": "suite", **counts}
    assert [case.attrib["name"] for case in suite] == ["good", "a?<b>?", "c"]
    assert suite[1][0].attrib["message"] == "why" and suite[1][0].text == "why\nmore"
