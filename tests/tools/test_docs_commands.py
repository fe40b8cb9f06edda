"""The commands of README and docs are run, page by page, each page in a folder of its own.

The folder has what the pages take for granted: a shader, a script, a shader_test, the bundled
tests; windows open on a server of their own. Comments before a block say what is special about it
(`documents`). A command that serves a page is asked for it, and ended. `make` targets must exist;
what they do is what continuous integration does.

Some minutes: `make docs` runs these, with `GALLETTE_DOCS=1`; elsewhere they are skipped.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.cli import main
from gallette.inspector.examples import FRAGMENT, VERTEX
from tests.egl.conftest import missing
from tests.egl.xserver import can_serve, x_server
from tests.tools.documents import PAGES, ROOT, blocks

_SERVING = re.compile(r"^(explore\b|inspect\b(?!.*--html)|lesson\b.*--serve)")
COMPUTE = """[require]
GL >= 3.3
GLSL >= 3.30
GL_ARB_compute_shader
GL_ARB_shader_storage_buffer_object
[compute shader]
#version 330
#extension GL_ARB_compute_shader: require
#extension GL_ARB_shader_storage_buffer_object: require
layout(local_size_x = 8) in;
layout(std430) buffer Data { uint data[]; };
void main() { data[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 2u; }
[test]
ssbo 0 64
compute 2 1 1
"""
SCRIPT = """import moderngl

ctx = moderngl.create_context(standalone=True, backend="egl")
program = ctx.program(
    vertex_shader='''#version 330
        const vec2 at[3] = vec2[](vec2(-0.9), vec2(0.9, -0.8), vec2(-0.7, 0.9));
        void main() { gl_Position = vec4(at[gl_VertexID], 0.0, 1.0); }''',
    fragment_shader='''#version 330
        layout(location = 0) out vec4 color;
        layout(location = 1) out vec4 place;
        void main() { color = vec4(0.2, 0.6, 0.4, 1.0); place = gl_FragCoord / 256.0; }''',
)
target = ctx.framebuffer([ctx.texture((256, 192), 4), ctx.texture((256, 192), 4)])
target.use()
target.clear()
ctx.vertex_array(program, []).render(vertices=3)
target.read()
"""


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    if not (can_serve() and shutil.which("es2gears_x11")):
        missing("Xvfb and es2gears_x11")
    with x_server() as name:
        yield name


@pytest.fixture
def folder(tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where somebody who follows a page might be: in a checkout with a few files of his own."""
    for name in ("piglit_subset", "bench"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "benchmarks.md", tmp_path / "docs")
    files = {"shader.vert": VERTEX, "shader.frag": FRAGMENT, "my.shader_test": COMPUTE}
    files["my_moderngl_script.py"] = SCRIPT
    listed = sorted((ROOT / "piglit_subset" / "spec").rglob("two-sided/*.shader_test"))
    files["nightly.txt"] = "".join(f"{path}\n" for path in listed)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert main(["spirv", str(tmp_path / "shader.frag"), "-o", str(tmp_path / "module.spv")]) == 0
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWSER", "true")  # nobody looks
    monkeypatch.setenv("DISPLAY", server)
    monkeypatch.delenv("EGL_PLATFORM", raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    return tmp_path


def ask_for_page(words: list[str]) -> int:
    """Start a command that serves a page, look at the page, end it; what it exits with."""
    command = [sys.executable, "-u", "-m", "gallette", *words]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env=_environment(),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # `pytest &` ignores it
    ) as server:
        assert server.stdout is not None
        for line in server.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+/\S*", line)
            if found:
                assert urllib.request.urlopen(found[0]).status == 200
                server.send_signal(signal.SIGINT)
    return server.returncode


def execute(line: str) -> int:
    """Run a command of a page; its exit status."""
    words = shlex.split(line)
    program, words = words[0], words[1:]
    if program == "make":
        targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
        return int(not {w for w in words if "=" not in w} <= set(targets))
    if program in ("python", ".venv/bin/python"):
        return subprocess.run([sys.executable, *words], env=_environment()).returncode
    assert program == "gallette", f"who runs {line!r}? Say so in a comment before the block"
    if _SERVING.match(" ".join(words)):
        return ask_for_page(words)
    if words[0] == "run":  # becomes another program
        run = subprocess.run([sys.executable, "-m", "gallette", *words], env=_environment())
        return run.returncode
    try:
        return main(words)
    except SystemExit as end:
        return int(end.code or 0)


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT)}


COMMANDS = {
    page: [each for block in blocks("sh") if block.page == page for each in block.commands()]
    for page in PAGES
}
# Commands that write no file that a later one needs: the first page that has one runs it for all.
_SHOWING = re.compile(
    r"gallette (run my_moderngl_script\.py$|(explore|inspect|pixel|debug|lesson)\b(?!.* --html))"
)


def once() -> Iterator[tuple[Path, list[tuple[str, int]]]]:
    """The pages with their commands, without those that an earlier page has shown."""
    shown: set[str] = set()
    for page, commands in COMMANDS.items():
        yield page, [each for each in commands if each[0] not in shown]
        shown.update(line for line, _ in commands if _SHOWING.match(line))


@pytest.mark.native
@pytest.mark.skipif(not os.environ.get("GALLETTE_DOCS"), reason="`make docs` runs the commands")
@pytest.mark.parametrize("commands", [pytest.param(c, id=page.name) for page, c in once() if c])
def test_the_commands_of_a_page_run(commands: list[tuple[str, int]], folder: Path) -> None:
    pytest.importorskip("moderngl")
    wrong = []
    for line, status in commands:
        found = execute(line)
        if found != status:
            wrong.append(f"{line}: {found} instead of {status}")
    assert not wrong, "\n".join(wrong)
