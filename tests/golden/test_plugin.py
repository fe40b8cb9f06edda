"""The pytest plugin, in test suites of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from gallette.golden.programs import run_program

pytest_plugins = ["pytester"]

DRAWING = """
import numpy as np
import pytest

def square(ctx):
    ctx.fbo.clear(0.25, 0.5, 0.75, 1.0)
    ctx.fbo.clear(1.0, 1.0, 1.0, 1.0, viewport=(4, 4, 8, 8))
"""


@pytest.fixture(autouse=True)
def _no_driver_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GALLETTE_DRIVER", "numpipe")


def test_goldens_are_written_and_compared(pytester: pytest.Pytester) -> None:
    path = pytester.makepyfile(
        test_it=DRAWING
        + """
@pytest.mark.gallette(size=(16, 12))
@pytest.mark.parametrize("kind", ["a", "b"])
def test_square(gallette_context, image_regression, kind):
    square(gallette_context)
    image_regression(gallette_context.fbo)
    image_regression(np.zeros((2, 2, 3)), "black")
"""
    )
    missing = pytester.runpytest("-p", "no:cacheprovider")
    missing.assert_outcomes(failed=2)
    missing.stdout.fnmatch_lines(["*square*: there is no golden image yet", "*--gallette-update*"])
    pytester.runpytest("--gallette-update").assert_outcomes(passed=2)
    folder = pytester.path / "goldens" / "test_it"
    names = sorted(file.name for file in folder.iterdir())
    assert names == ["black.png", "square-a.png", "square-b.png"]
    picture = Image.open(folder / "square-a.png")
    assert picture.size == (16, 12) and picture.mode == "RGB"
    assert picture.getpixel((4, 11)) == (64, 128, 191)  # the square begins above the lowest rows
    assert picture.getpixel((4, 7)) == (255, 255, 255)
    good = pytester.runpytest("--gallette-driver", "numpipe,noop")
    good.assert_outcomes(passed=2, failed=2)  # noop draws nothing
    good.stdout.fnmatch_lines(["*drawn by noop, numpipe"])
    path.write_text(path.read_text().replace("(4, 4, 8, 8)", "(4, 4, 8, 7)"))
    bad = pytester.runpytest()
    bad.assert_outcomes(failed=2)
    bad.stdout.fnmatch_lines(
        ["square[[]a[]]: 8 of 192 pixels differ by more than 1/255, the first at 4,0;*",
         "*page: *square-a.html"]
    )  # fmt: skip
    page = next(line.split()[1] for line in bad.outlines if line.startswith("  page:"))
    text = Path(page).read_text()
    assert 'data-role="heat"' in text and "expected" in text and "lookCloser" in text


def test_tolerances_of_single_pictures(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
import numpy as np

def test_steps(image_regression):
    picture = np.full((4, 4, 3), 100, np.uint8)
    image_regression(picture, "grey")
    picture[0, 0] += 5
    image_regression(picture, "grey", tolerance=5)
    image_regression(picture, "grey", tolerance={"steps": 1, "share": 0.1})
    image_regression(picture, "grey", tolerance=4)
"""
    )
    pytester.path.joinpath("goldens/test_tolerances_of_single_pictures").mkdir(parents=True)
    Image.new("RGB", (4, 4), (100, 100, 100)).save(
        pytester.path / "goldens/test_tolerances_of_single_pictures/grey.png"
    )
    found = pytester.runpytest()
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["grey: 1 of 16 pixels differ by more than 4/255*"])


def test_programs_run_in_processes_of_their_own(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        draws="""
import moderngl, sys
ctx = moderngl.create_context(standalone=True)
fbo = ctx.simple_framebuffer((8, 6))
for red in range(int(sys.argv[1])):
    fbo.clear(red / 255, 0.0, 0.0, 1.0)
    fbo.read()
print("done")
raise SystemExit(int(sys.argv[2]))
""",
        test_run="""
import sys
import pytest

def test_frames(gallette_run):
    run = gallette_run(["draws.py", "3", "0"])
    assert run.stdout == "done\\n" and len(run.frames) == 3
    assert run.picture.shape == (6, 8, 4) and run.picture[0, 0].tolist() == [2, 0, 0, 255]
    assert len(gallette_run(["draws.py", "3", "0"], frames=2).frames) == 2
    assert gallette_run(["draws.py", "1", "3"], check=False).returncode == 3

def test_status(gallette_run):
    gallette_run(["draws.py", "1", "3"])

def test_endless(gallette_run):
    gallette_run([sys.executable, "-c", "print('begun', flush=True)\\nwhile True: pass"], timeout=2)
""",
    )
    found = pytester.runpytest()
    found.assert_outcomes(passed=1, failed=2)
    found.stdout.fnmatch_lines_random(
        ["*draws.py ended with status 3; it wrote", "*ran for longer than 2 s; it wrote"]
    )


def test_programs_that_a_script_has_started_end_with_it(tmp_path: Path) -> None:
    script, left = tmp_path / "start.sh", tmp_path / "process"
    script.write_text(f"#!/bin/sh\nsleep 60 &\necho $! > {left}\nwait\n")
    script.chmod(0o755)
    assert run_program([str(script)], "numpipe", timeout=1).timed_out
    state = Path("/proc", left.read_text().strip(), "stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_marker_that_makes_no_sense(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
import pytest

@pytest.mark.gallette(sise=(1, 1))
def test_it(gallette_context): ...
"""
    )
    found = pytester.runpytest()
    found.assert_outcomes(errors=1)
    found.stdout.fnmatch_lines(["*@pytest.mark.gallette: *'sise'*"])


def test_nothing_is_imported_unless_a_fixture_is_used() -> None:
    code = """
import pytest, sys, gallette.pytest_plugin
print("numpy" in sys.modules, "moderngl" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]
