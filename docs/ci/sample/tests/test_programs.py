import shutil
import subprocess
from pathlib import Path

import pytest

import gallette

SOURCE = Path(__file__).parent.parent / "spin.c"


@pytest.fixture
def spin(tmp_path):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    program = tmp_path / "spin"
    libraries = ["-L", gallette.library_folder(), "-lEGL", "-lGL"]
    subprocess.run([compiler, SOURCE, "-o", program, *libraries], check=True)
    return program


def test_frames(gallette_run, image_regression, spin):
    run = gallette_run(spin, frames=3)
    for number, frame in enumerate(run.frames):
        image_regression(frame, f"spin {number}")


def test_a_script(gallette_run, image_regression, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import moderngl\n"
        "ctx = moderngl.create_context(standalone=True)\n"
        "target = ctx.simple_framebuffer((32, 32))\n"
        "target.clear(0.8, 0.2, 0.4)\n"
        "target.read()\n"
    )
    image_regression(gallette_run(script))
