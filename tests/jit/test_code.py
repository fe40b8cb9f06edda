"""Compiled code as a thing: kept on disk, explained, and ended when it runs too long."""

from __future__ import annotations

import ctypes
import gc
import os
import subprocess
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from gallette.compiler.disk_cache import DiskCache
from gallette.compiler.nir.builder import Builder
from gallette.compiler.nir.interp.environment import Environment
from gallette.compiler.nir.ir import Stage
from gallette.drivers.common.work import ShaderBudgetError, Work
from gallette.drivers.jit.explain import explained
from gallette.drivers.jit.llvm import codegen, compile_thread, engine
from gallette.drivers.jit.program import compile_program
from gallette.drivers.jit.screen import ScreenOptions
from gallette.lessons.from_nir_to_machine_code import (
    FRAGMENT,
    fragment_shader,
    memory_accesses,
    two_arrays,
)
from tests.numpipe.shader.shader_harness import Lanes, resources

TEXT = "define i32 @answer() {\n ret i32 42\n}\n"


def test_code_is_compiled_once_for_all_processes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = DiskCache(tmp_path)
    monkeypatch.setattr(engine, "_loaded", weakref.WeakValueDictionary())
    first = engine.compile_module(TEXT, ("answer",), cache)
    assert first.functions["answer"] and not first.cached
    monkeypatch.setattr(engine, "_loaded", weakref.WeakValueDictionary())
    monkeypatch.setattr(codegen.Tools, "image", lambda *_: pytest.fail("compiled again"))
    again = engine.compile_module(TEXT, ("answer",), cache)
    assert again.cached and again.functions["answer"]


LATEST = """define i32 @latest(ptr %at, i32 %n, i32 %most) {
entry:
  br label %loop
loop:
  %i = phi i32 [0, %entry], [%next, %loop]
  %a = phi i32 [0, %entry], [%b, %loop]
  %p = getelementptr i32, ptr %at, i32 %i
  %v = load i32, ptr %p
  %small = icmp ult i32 %a, %most
  %b = select i1 %small, i32 %v, i32 %a
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %out
out:
  ret i32 %b
}
"""


def test_conditional_moves_from_memory_stay() -> None:
    """The pass that would make branches of them ends the process in some programs."""
    target = codegen.machine().target
    if not target.triple.startswith("x86_64"):
        pytest.skip("the pass is one of x86-64")
    assert "cmov" in target.emit_assembly(codegen.optimised(LATEST))


ROOTS = """define void @roots(ptr %at) {
 %x = load float, ptr %at
 %y = call float @llvm.sqrt.f32(float %x)
 %z = fmul float %y, %y
 store float %z, ptr %at
 ret void
}
declare float @llvm.sqrt.f32(float)
"""


def test_frequently_used_code_is_optimised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_loaded", weakref.WeakValueDictionary())
    cache = DiskCache(tmp_path)
    code = engine.compile_module(ROOTS, ("roots",), cache)
    roots = code.function("roots", ctypes.c_void_p)

    def root(value: float) -> np.float32:
        place = np.array([value], np.float32)
        roots(place.ctypes.data)
        return place[0]

    before, place = root(2.0), code.functions["roots"]
    assert code.quick
    code.used(60.0)
    compile_thread.wait_until_idle()
    assert not code.quick and code.functions["roots"] != place
    assert root(2.0) == before and root(4.0) == 4.0
    monkeypatch.setattr(engine, "_loaded", weakref.WeakValueDictionary())
    again = engine.compile_module(ROOTS, ("roots",), cache)
    assert again.cached and not again.quick  # the next process begins where this one ends


def test_machine_code_is_kept_where_the_screen_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert ScreenOptions(cache=False).compiler().cache is None
    named = ScreenOptions(cache=str(tmp_path / "here")).compiler().cache
    assert named is not None and named.folder == tmp_path / "here"
    monkeypatch.setenv("GALLETTE_CACHE", str(tmp_path))
    usual = ScreenOptions().compiler().cache
    assert usual is not None and usual.folder == tmp_path / "jit"
    monkeypatch.setenv("GALLETTE_CACHE", "off")
    assert ScreenOptions().compiler().cache is None


def test_an_endless_loop_is_ended() -> None:
    b = Builder.shader_main(Stage.FRAGMENT, "endless")
    zero = b.imm_int(0)
    bary = b.intrinsic("load_barycentric_pixel", [], interp="smooth")
    value = b.intrinsic("load_interpolated_input", [bary, zero], num_components=1, location=32)
    b.push_loop()
    b.break_if(b.flt(value, b.imm_float(-1e30)))
    b.pop_loop()
    b.intrinsic("store_output", [b.vec([value] * 4), zero], location=4, write_mask=15)
    env = Environment(20, 1)
    given = resources(env)
    given.work = Work(1000)
    with pytest.raises(ShaderBudgetError):
        compile_program(b.shader).bind(given).fragment(Lanes(env))


TWENTY_ROUNDS = """#version 330
in vec3 normal;
out vec4 color;
void main() {
    int rounds = 20 + int(normal.x > 100.0);
    float sum = 0.0;
    for (int i = 0; i < rounds; i++) sum = sum * 0.5 + normal.y;
    color = vec4(sum);
}
"""


def test_the_budget_is_for_all_lanes_of_a_call() -> None:
    """So that many lanes that each end late cannot keep a draw running either."""
    shader = fragment_shader(TWENTY_ROUNDS)
    program = compile_program(shader)
    few, many = Environment(4, 3), Environment(5000, 3)
    for env in (few, many):
        given = resources(env)
        given.work = Work(5000)
        if env is few:
            program.bind(given).fragment(Lanes(env))
            continue
        with pytest.raises(ShaderBudgetError):
            program.bind(given).fragment(Lanes(env))
    shader.unref()


ENDS_EARLY = """
import ctypes, sys, threading, time
libc = ctypes.CDLL(None)
# Handlers run from the last to the first: after LLVM's destructors the process goes on for a while.
libc["__cxa_atexit"](ctypes.cast(libc.usleep, ctypes.c_void_p), 1_000_000, None)
from gallette.drivers.jit.llvm import compile_thread, engine, codegen
lines = "\\n".join(
    f" %s{i} = fadd float %s{i - 1}, 1.5\\n store volatile float %s{i}, ptr %at"
    for i in range(1, 8000)
)
text = f"define void @f(ptr %at) {{\\n %s0 = load float, ptr %at\\n{lines}\\n ret void\\n}}\\n"
compile_thread.begin(compile_thread.SOON, engine._others_tools).result()
emitting, emitted = threading.Event(), codegen._emitted
codegen._emitted = lambda *arguments: (emitting.set(), emitted(*arguments))[1]
compile_thread.begin(compile_thread.SOON, lambda: engine._others_tools().image(text, False))
emitting.wait()
time.sleep(float(sys.argv[1]))
libc.exit(0)
"""


@pytest.mark.parametrize("seconds", ["0.01", "0.2"])
def test_exit_waits_for_the_running_compilation(seconds: str) -> None:
    """A C program that ends does not end the Python it never knew of."""
    command = [sys.executable, "-c", ENDS_EARLY, seconds]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


ENDS_AT_ONCE = """
import ctypes, sys, threading, time
libc = ctypes.CDLL(None)
libc["__cxa_atexit"](ctypes.cast(libc.usleep, ctypes.c_void_p), 300_000, None)
from gallette.drivers.jit.llvm import engine
lines = "\\n".join(
    f" %s{i} = fadd float %s{i - 1}, 1.5\\n store volatile float %s{i}, ptr %at"
    for i in range(1, 800)
)
text = f"define void @f(ptr %at) {{\\n %s0 = load float, ptr %at\\n{lines}\\n ret void\\n}}\\n"
engine.load_engine()
compile = lambda: engine.compile_module(text, ("f",), None)
if sys.argv[2] == "another thread":
    thread = threading.Thread(target=compile)
    thread.start()
    thread.join()
else:
    compile()
time.sleep(float(sys.argv[1]))
libc.exit(0)
"""


@pytest.mark.parametrize("thread", ["main thread", "another thread"])
@pytest.mark.parametrize("seconds", ["0", "0.006"])
def test_exit_waits_for_the_first_compilation(seconds: str, thread: str) -> None:
    """LLVM creates objects during it that `exit` destroys."""
    command = [sys.executable, "-c", ENDS_AT_ONCE, seconds, thread]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_explaining_shows_every_form() -> None:
    shader = fragment_shader(FRAGMENT)
    text = explained(compile_program(shader))
    for part in ("LLVM IR as written", "LLVM IR, optimised", "assembly", "@load_ubo", "flt"):
        assert part in text
    shader.unref()


def test_derefs_keep_memories_apart() -> None:
    shader = two_arrays()
    from gallette.drivers.jit.shader.chunk_emit import emit_chunk

    counts = [
        memory_accesses(codegen.explain(emit_chunk(shader, one_block=one).text)[0])
        for one in (False, True)
    ]
    assert counts[0][0] < counts[1][0] and counts[0][1] < counts[1][1]
    shader.unref()
    assert np.array(counts).min() >= 0


def test_unreferenced_code_is_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that makes contexts all day keeps the modules of the last few, and those in use."""
    monkeypatch.setattr(engine, "_MOST_RECENT", 3)
    monkeypatch.setattr(engine, "_recent", OrderedDict())
    held = engine.compile_module(ROOTS, ("roots",), None)
    function = held.function("roots", ctypes.c_void_p)
    made = []
    for number in range(100, 106):
        text = TEXT.replace("42", str(number))
        made.append(weakref.ref(engine.compile_module(text, ("answer",), None)))
    del held
    compile_thread.wait_until_idle()
    gc.collect()
    assert [ref() is None for ref in made] == [True, True, True, False, False, False]
    place = np.array([4.0], np.float32)
    function(place.ctypes.data)
    assert place[0] == 4.0
    assert engine.compile_module(ROOTS, ("roots",), None) is function._code


def test_code_that_is_needed_now_is_compiled_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the background is busy, who needs code makes it; an error comes to who asked."""
    monkeypatch.setattr(engine, "_loaded", weakref.WeakValueDictionary())
    busy, go_on = threading.Event(), threading.Event()

    def block() -> None:
        busy.set()
        assert go_on.wait(60)

    blocking = compile_thread.begin(compile_thread.SOON, block)
    try:
        assert busy.wait(60)
        code = engine.compile_module(TEXT.replace("42", "43"), ("answer",), None)
        assert code.functions["answer"]
        wrong = engine.compile_module("define void @f() {\n ret i32 0\n}\n", ("f",), None)
        with pytest.raises(RuntimeError, match="value doesn't match function result type"):
            wrong.ready()
    finally:
        go_on.set()
    blocking.result(60)
    wrong = engine.compile_module("define void @f() {\n ret i64 0\n}\n", ("f",), None)
    with pytest.raises(RuntimeError, match="value doesn't match function result type"):
        wrong.ready()


class Watched:
    """A background of one's own, and what it did, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.busy, self.go_on = threading.Event(), threading.Event()
        self.background = compile_thread._Background()
        self.blocking = self.put(compile_thread.SOON, "block", self._block)
        assert self.busy.wait(20)

    def _block(self) -> None:
        self.busy.set()
        assert self.go_on.wait(20)

    def put(self, rank: int, name: str, job: Callable[[], object] | None = None) -> Future[str]:
        def work() -> str:
            if job is not None:
                job()
            self.done.append(name)
            return name

        future: Future[str] = Future()
        self.background.put(rank, future, work)
        return future


def test_the_background_thread_prefers_awaited_jobs() -> None:
    """Past what fails and what was called off; of equal rank what was asked first."""
    watched = Watched()
    jobs = {
        name: watched.put(rank, name)
        for name, rank in (
            ("better", compile_thread.LATER),
            ("wanted", compile_thread.SOON),
            ("called off", compile_thread.SOON),
            ("best", compile_thread.LATER),
            ("wanted too", compile_thread.SOON),
        )
    }
    wrong = watched.put(compile_thread.SOON, "wrong", lambda: pytest.fail("it fails"))
    assert jobs["called off"].cancel()
    watched.go_on.set()
    for name in ("best", "wanted", "better", "wanted too"):
        assert jobs[name].result(20) == name
    assert watched.done == ["block", "wanted", "wanted too", "better", "best"]
    assert isinstance(wrong.exception(20), pytest.fail.Exception)
    assert watched.put(compile_thread.LATER, "afterwards").result(20) == "afterwards"
    watched.background.close()


def test_a_background_that_ends_finishes_its_job_and_drops_the_rest() -> None:
    watched = Watched()
    dropped = [watched.put(rank, "dropped") for rank in (compile_thread.SOON, compile_thread.LATER)]
    closing = threading.Thread(target=watched.background.close)
    closing.start()
    while not watched.background.closed:
        closing.join(0.001)
    assert closing.is_alive() and not watched.blocking.done()
    watched.go_on.set()
    closing.join(20)
    assert not closing.is_alive()
    assert watched.blocking.result(0) == "block"
    assert watched.done == ["block"]
    assert not any(future.done() for future in dropped)


def test_one_thread_makes_all_code_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "_loaded", weakref.WeakValueDictionary())
    monkeypatch.setattr(engine, "thread_count", lambda: 1)
    monkeypatch.setattr(engine, "begin", lambda *_: pytest.fail("a thread was asked"))
    code = engine.compile_module(ROOTS, ("roots",), None)
    code.used(60.0)
    assert not code.quick


def test_the_first_picture_needs_few_modules() -> None:
    """The compiler is there with the context (it is some eighty modules)."""
    found = subprocess.run([sys.executable, "-c", FIRST_PICTURE], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    late = [name for name in found.stdout.split() if name.startswith("gallette.")]
    assert len(late) <= 3, late


FIRST_PICTURE = """
import os, sys
os.environ["GALLETTE_CACHE"] = "off"
import gallette, moderngl
ctx = moderngl.create_context(standalone=True, context=gallette.moderngl_context("jit"))
before = set(sys.modules)
program = ctx.program(
    "#version 330\\nin vec2 p; void main() { gl_Position = vec4(p, 0.0, 1.0); }",
    "#version 330\\nout vec4 o; void main() { o = vec4(gl_FragCoord.xy / 8.0, 0.0, 1.0); }",
)
target = ctx.simple_framebuffer((8, 8))
target.use()
corners = ctx.buffer(__import__("struct").pack("6f", -1, -1, 3, -1, -1, 3))
ctx.vertex_array(program, [(corners, "2f", "p")]).render()
assert len(set(target.read())) > 4
print(*sorted(set(sys.modules) - before))
"""


FORKED = """
import os
from gallette.drivers.jit.llvm import compile_thread, engine
lines = "\\n".join(f"%v{i + 1} = fmul float %v{i}, %v{i}" for i in range(2000))
long = f"define float @LONG(float %v0) {{\\n{lines}\\n ret float %v2000\\n}}\\n"
codes = [engine.compile_module(long.replace("LONG", f"f{k}"), (f"f{k}",), None) for k in range(3)]
child = os.fork()
if not child:
    os._exit(0 if all(code.functions for code in codes) else 3)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_process_may_fork_and_end_while_code_is_made() -> None:
    found = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=120
    )
    assert (found.returncode, found.stdout) == (0, "0\n"), found.stderr


APART = """
import ctypes, mmap, sys
import numpy as np
from gallette.drivers.jit.llvm.engine import compile_module, load_engine

PAGE, MOST = mmap.PAGESIZE, 8 << 30
load_engine()
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long
libc.munmap.argtypes = ctypes.c_void_p, ctypes.c_size_t
flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
large = libc.mmap(None, MOST, 0, flags | 0x4000, -1, 0)
for _ in range(2000):  # whatever room there is above
    libc.mmap(None, PAGE, 0, flags, -1, 0)
libc.munmap(large + MOST - 3 * PAGE, PAGE)  # but for one page
code = compile_module(sys.argv[1], ("main",), None)
room = np.ones(32, np.float32)
values = room[-room.ctypes.data % 64 // 4 :][:16]
code.function("main", ctypes.c_void_p)(values.ctypes.data)
print(values.tolist() == [*range(1, 10), *np.arange(1.5, 8)])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="room is given elsewhere there")
def test_code_and_its_constants_are_adjacent() -> None:
    """LLVM would end the process otherwise: addresses relative to the code have 32 bits."""
    text = """
define void @main(ptr %at) nounwind {
%v = load <16 x float>, ptr %at
%w = fmul <16 x float> %v, <float 1.0, float 2.0, float 3.0, float 4.0, float 5.0, float 6.0,
    float 7.0, float 8.0, float 9.0, float 1.5, float 2.5, float 3.5, float 4.5, float 5.5,
    float 6.5, float 7.5>
store <16 x float> %w, ptr %at
ret void
}
"""
    found = subprocess.run(
        [sys.executable, "-c", APART, text], capture_output=True, text=True, timeout=120
    )
    assert (found.returncode, found.stdout) == (0, "True\n"), found.stderr
