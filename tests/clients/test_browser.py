"""Chromium's WebGL 1 and 2, through ANGLE, on gallette: pages look as they do on llvmpipe.

The browser is found as `chromium`, and npm's packages in the folder that `GALLETTE_NODE_MODULES`
names or in a `node_modules` above these tests. Starting a browser so often takes as long as 400
other tests, so pages are opened by `make clients` (`GALLETTE_REQUIRE_CLIENTS=1`), which wants a
browser, and the packages where `GALLETTE_NODE_MODULES` is set.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.clients.test_clients import DRIVER, NATIVE, load

PAGES = Path(__file__).parent / "pages"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--in-process-gpu",
    "--use-gl=angle",
    "--use-angle=gl-egl",
    "--ignore-gpu-blocklist",
    "--allow-file-access-from-files",
    "--hide-scrollbars",
    "--window-size=320,240",
    "--virtual-time-budget=8000",
    "--enable-logging=stderr",
)
# page: the package that it uses, the files of it that have to lie beside the page, its scenes
LIBRARIES = {
    "three": ("three", "build/three*.js", "lights shadows textures instancing targets post"),
    "babylon": ("babylonjs", "babylon.js", "physical shadows instances bones effects"),
    "pixi": ("pixi.js", "dist/pixi.js", "shapes sprites filters masks"),
    "deck": ("deck.gl", "dist.min.js", "points polygons paths arcs"),
}
SCENES = [f"{page}#{scene}" for page, (*_, names) in LIBRARIES.items() for scene in names.split()]


pytestmark = pytest.mark.skipif(
    os.environ.get("GALLETTE_REQUIRE_CLIENTS") != "1", reason="`make clients` opens pages"
)


def find_files(page: str) -> list[Path]:
    """The files of the package that a page uses; none if it is not installed."""
    package, pattern, _ = LIBRARIES[page]
    named = os.environ.get("GALLETTE_NODE_MODULES")
    folders = [Path(named)] if named else [p / "node_modules" for p in PAGES.parents]
    found = next((f for f in (sorted(g.glob(f"{package}/{pattern}")) for g in folders) if f), [])
    assert found or not named, f"GALLETTE_NODE_MODULES={named} has no {package}/{pattern}"
    return found


def shoot(url: str, picture: Path, launcher: list[str], extra: dict[str, str]) -> str:
    """The picture of a page; what the page said."""
    browser = shutil.which("chromium")
    if browser is None:
        pytest.fail("required here, and missing: chromium")
    kept = ("LD_LIBRARY_PATH", "EGL", "__EGL", "GALLETTE", "DISPLAY")
    env = {k: v for k, v in os.environ.items() if not k.startswith(kept)} | extra
    profile = picture.with_suffix(".profile")
    done = subprocess.run(
        [*launcher, str(browser), *FLAGS, f"--user-data-dir={profile}", f"--screenshot={picture}",
         url],
        env=env, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert picture.is_file(), done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.mark.native
@pytest.mark.parametrize("page", ["webgl1", "webgl2", *SCENES])
def test_pages_look_as_they_do_on_llvmpipe(page: str, tmp_path: Path) -> None:
    name, _, scene = page.partition("#")
    shutil.copy(PAGES / f"{name}.html", tmp_path)
    if scene:
        files = find_files(name)
        if not files:
            pytest.skip(f"needs npm's package {LIBRARIES[name][0]}")
        for file in files:
            shutil.copy(file, tmp_path)
    url = f"file://{tmp_path}/{name}.html#{scene}"
    ours, native = tmp_path / "ours.png", tmp_path / "native.png"
    launcher = [sys.executable, "-m", "gallette", "run", "--driver", DRIVER]
    said = shoot(url, ours, launcher, {})
    assert "drawn" in said, said
    assert 'error 0"' in said, said
    assert scene or f"gallette {DRIVER}" in said, said
    shoot(url, native, [], NATIVE)
    found, expected = load(ours), load(native)
    assert found.shape == expected.shape
    assert len(np.unique(expected.reshape(-1, 4), axis=0)) > 5, "the reference is empty"
    wrong = int((np.abs(found - expected).max(axis=-1) > 2).sum())
    assert wrong <= 0.001 * found.shape[0] * found.shape[1], f"{wrong} pixels differ"
