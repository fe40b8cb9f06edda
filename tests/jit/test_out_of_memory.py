"""Where the process may have no more memory, jit says so: it neither raises nor aborts."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import Future

import pytest

pytest.importorskip("llvmlite")

from gallette.compiler.errors import OutOfMemoryError
from gallette.drivers.common import threads
from gallette.drivers.jit.llvm import codegen, compile_thread

CHILD = """
import resource, sys
from gallette.state_tracker import GL, create_context
from tests.hostile.programs import linked

gl = create_context("jit", version=(4, 5), size=(8, 8))
VERTEX = "void main() { gl_Position = vec4(gl_VertexID % 2, gl_VertexID / 2, 0, 1) * 4 - 1; }"
FRAGMENT = "out vec4 color; void main() { color = vec4(1); }"
gl.bind_vertex_array(gl.gen_vertex_arrays(1)[0])
linked(gl, VERTEX=VERTEX, FRAGMENT=FRAGMENT)
gl.draw_arrays(GL.TRIANGLES, 0, 3)
gl.finish()
assert gl.get_error() == 0
with open("/proc/self/statm") as file:
    most = int(file.read().split()[0]) * resource.getpagesize() + (40 << 20)
resource.setrlimit(resource.RLIMIT_AS, (most, most))

def buffers(number):
    gl.named_buffer_data(gl.create_buffers(1)[0], 16 << 20, None, GL.STATIC_DRAW)

def textures(number):
    gl.texture_storage2d(gl.create_textures(GL.TEXTURE_2D, 1)[0], 1, GL.RGBA32F, 1024, 1024)

def targets(number):
    made, target = gl.create_renderbuffers(1)[0], gl.create_framebuffers(1)[0]
    gl.named_renderbuffer_storage(made, GL.RGBA8, 2048, 2048)
    gl.named_framebuffer_renderbuffer(target, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, made)
    gl.bind_framebuffer(GL.FRAMEBUFFER, target)
    gl.viewport(0, 0, 2048, 2048)
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.finish()

def programs(number):
    body = "x = exp(x) * sin(x);" * 60
    linked(gl, VERTEX=VERTEX, FRAGMENT="out vec4 color; uniform float u; void main() {"
        f"float x = u + {number}.5; {body} color = vec4(x); }}")
    gl.draw_arrays(GL.TRIANGLES, 0, 3)
    gl.finish()

make, number, error = globals()[sys.argv[1]], 0, 0
while not error and number < 40:
    make(number)
    error, number = gl.get_error(), number + 1
print(hex(error))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is set there")
@pytest.mark.parametrize("what", ["buffers", "textures", "targets", "programs"])
def test_a_limit_of_memory_is_an_error_of_the_call(what: str) -> None:
    found = subprocess.run(
        [sys.executable, "-c", CHILD, what],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "GALLETTE_CACHE": "off", "GALLETTE_THREADS": "2"},
    )
    assert (found.returncode, found.stdout) == (0, "0x505\n"), found.stderr


def test_code_is_not_made_without_room_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codegen, "_LEAST_MEMORY", 1 << 60)
    with pytest.raises(OutOfMemoryError, match="MiB to compile a shader"):
        codegen.own_tools().image("", True)


def _no_thread(*_: object) -> None:
    raise RuntimeError("can't start new thread")


def test_work_is_done_without_threads_that_cannot_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("threading.Thread.start", _no_thread)
    monkeypatch.setattr(threads, "_pool", lambda count: threads._Pool(count))
    monkeypatch.setattr(compile_thread, "_background", [])
    done: list[int] = []
    threads.run_all([lambda: done.append(1), lambda: done.append(2)], lambda error: None)
    assert done == [1]  # the jobs share what there is to do
    assert list(threads.in_order(lambda n: n * n, [1, 2, 3], 2)) == [(1, 1), (2, 4), (3, 9)]
    job: Future[None] = compile_thread.begin(compile_thread.SOON, lambda: None)
    assert job.cancel()
    compile_thread.wait_until_idle()
