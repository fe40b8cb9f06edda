"""The sample project of the documentation, as people use it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

SAMPLE = Path(__file__).resolve().parents[2] / "docs" / "ci" / "sample"


def run_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def copied(folder: Path) -> Path:
    return Path(shutil.copytree(SAMPLE, folder / "sample"))


@pytest.mark.parametrize("driver", ["jit", "numpipe"])
def test_the_sample_project(tmp_path: Path, driver: str) -> None:
    good = run_in(copied(tmp_path), f"--gallette-driver={driver}")
    assert good.returncode == 0, good.stdout + good.stderr
    passed, skipped = (re.search(rf"(\d+) {word}", good.stdout) for word in ("passed", "skipped"))
    assert int(passed.group(1)) >= 14 if passed else False, good.stdout
    assert sum(int(found.group(1)) for found in (passed, skipped) if found) in (17, 18, 20)


def test_a_pixel_that_changes_is_found_and_shown(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    golden = folder / "tests" / "goldens" / "test_shapes" / "triangle.png"
    picture = np.array(Image.open(golden))
    picture[40, 30] ^= 0x40
    Image.fromarray(picture).save(golden)
    words = ("tests/test_shapes.py", "-k", "triangle", f"--basetemp={tmp_path / 't'}")
    bad = run_in(folder, "--gallette-driver=numpipe", *words)
    assert bad.returncode == 1
    assert "triangle: 1 of 4096 pixels differ by more than 1/255, the first at 30,40" in bad.stdout
    page = re.search(r"page: +(\S+)", bad.stdout)
    assert page is not None and "the first at 30,40" in Path(page.group(1)).read_text()
