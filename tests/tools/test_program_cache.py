"""The compile cache: the same program with and without it, whatever state its files are in."""

from __future__ import annotations

import gc
import hashlib
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gallette.compiler import cache_home as home
from gallette.compiler import disk_cache
from gallette.compiler.disk_cache import DiskCache, shared_cache
from gallette.compiler.glsl import (
    CompileOptions,
    LinkedProgram,
    LinkOptions,
    compile_cached,
    link_cached,
)
from gallette.compiler.glsl import cached as module
from gallette.compiler.nir.ir import Stage, clone_shader, ownership
from gallette.compiler.nir.text import lazy_shader
from gallette.compiler.nir.text.printer import print_shader
from gallette.drivers.common.variants.compiler import VariantCompiler
from gallette.drivers.jit.screen import JitCompiler
from gallette.drivers.numpipe.variants.compiler import ShaderCompiler
from gallette.piglit_subset.execute import run_file
from gallette.piglit_subset.suite import find_tests
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import linked

VERTEX = """#version 330
struct Light { vec4 color; float power[3]; };
uniform Light lights[2];
uniform Block { mat3 m; ivec2 i; };
in vec4 position;
out vec4 color;
void main() {
    color = lights[1].color * lights[0].power[2] * float(i.y) + vec4(m[1], 1.0);
    gl_Position = position;
}
"""
FRAGMENT = """#version 330
uniform sampler2DArray image;
in vec4 color;
out vec4 result;
void main() { result = color + texture(image, vec3(0.5)); }
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DiskCache:
    monkeypatch.setenv("GALLETTE_CACHE", str(tmp_path))
    monkeypatch.delenv("GALLETTE_DEBUG", raising=False)  # whoever debugs gets no cache
    found = shared_cache("programs")
    assert found is not None
    return found


def program(**options: object) -> LinkedProgram:
    shaders = [
        compile_cached(Stage.VERTEX, VERTEX, CompileOptions()),
        compile_cached(Stage.FRAGMENT, FRAGMENT, CompileOptions()),
    ]
    return link_cached(shaders, LinkOptions(**options))  # type: ignore[arg-type]


def described(linked: LinkedProgram) -> dict[str, object]:
    found = {name: getattr(linked, name) for name in linked.__slots__ if name != "shaders"}
    found["shaders"] = {stage: print_shader(shader) for stage, shader in linked.shaders.items()}
    for shader in linked.shaders.values():
        shader.unref()
    return found


def test_a_program_from_the_cache_is_the_same(
    cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    fresh = described(program())
    assert (cache.hits, cache.misses) == (0, 3)
    with monkeypatch.context() as patch:
        patch.setattr(module, "compile_shader", None)  # nothing is compiled the second time
        patch.setattr(module, "link_program", None)
        again = described(program())
    assert cache.hits == 3
    assert again == fresh


def test_what_the_application_said_is_part_of_the_key(cache: DiskCache) -> None:
    first = described(program(attrib_bindings={"position": 3}))
    second = described(program(attrib_bindings={"position": 5}))
    assert first["attributes"] != second["attributes"]


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
def test_equal_shaders_of_two_programs_are_one_shader_of_the_driver(
    cache: DiskCache, driver: str
) -> None:
    gl = create_context(driver, profile="compat", version=(3, 3), size=(4, 4))
    vertex = "#version 330\nin vec4 p; void main() { gl_Position = p; }"
    fragment = "#version 330\nuniform vec4 u; out vec4 c; void main() { c = u; }"
    programs = []
    for red in (0.2, 0.4):
        programs.append(linked(gl, vertex=vertex, fragment=fragment))
        gl.uniform4f(gl.get_uniform_location(programs[-1], "u"), red, 0.0, 0.0, 1.0)

    def drawn(program: int) -> int:
        gl.use_program(program)
        gl.rectf(-1.0, -1.0, 1.0, 1.0)
        return int(gl.read_pixels(0, 0, 1, 1, GL.RED, GL.UNSIGNED_BYTE)[0])

    assert [drawn(program) for program in programs] == [51, 102]
    assert len(gl.pipe.shaders) == 2
    gl.delete_program(programs[0])
    assert drawn(programs[1]) == 102
    gl.use_program(0)
    gl.delete_program(programs[1])
    assert not gl.pipe.shaders
    gl.release()


def test_damaged_files_are_misses(cache: DiskCache) -> None:
    fresh = described(program())
    files = _kept_files(cache)
    assert len(files) == 3
    for number, path in enumerate(files):
        path.write_bytes((b"", b"x" * 99, path.read_bytes()[:-1])[number])
    assert described(program()) == fresh


class _Bomb:
    """Runs code when it is unpickled."""

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return pytest.fail, ("a foreign pickle was loaded",)


def _kept_files(cache: DiskCache) -> list[Path]:
    cache.flush()
    return sorted(p for p in cache.folder.rglob("*") if p.is_file())


def _of_another_user(cache: DiskCache, patch: pytest.MonkeyPatch) -> None:
    """All is as it should be, but for the key."""
    with patch.context() as other:
        other.setattr(disk_cache, "_key", lambda: bytes(32))
        for path in _kept_files(cache):
            cache.keep(path.name, _Bomb())
        cache.flush()


def _renamed(cache: DiskCache, patch: pytest.MonkeyPatch) -> None:
    cache.keep("00bomb", _Bomb())
    cache.flush()
    data = (cache.folder / "00bomb").read_bytes()
    for path in _kept_files(cache):
        path.write_bytes(data)


def _moved(cache: DiskCache, patch: pytest.MonkeyPatch) -> None:
    """From the cache of another kind of thing."""
    other = DiskCache(cache.folder.parent / "other")
    for path in _kept_files(cache):
        other.keep(path.name, _Bomb())
        other.flush()
        os.replace(other.folder / path.name, path)


def _without_signature(cache: DiskCache, patch: pytest.MonkeyPatch) -> None:
    for path in _kept_files(cache):
        path.write_bytes(hashlib.blake2b(bomb := pickle.dumps(_Bomb())).digest()[:32] + bomb)


def _open_folder(cache: DiskCache, patch: pytest.MonkeyPatch) -> None:
    for path in _kept_files(cache):
        cache.keep(path.name, _Bomb())
    cache.flush()
    cache.folder.chmod(0o777)
    cache._usable = None  # as a process finds it that begins now


def _folders(cache: DiskCache, patch: pytest.MonkeyPatch) -> None:
    for path in _kept_files(cache):
        path.unlink()
        path.mkdir()


FOREIGN = (_of_another_user, _renamed, _moved, _without_signature, _open_folder, _folders)


@pytest.mark.parametrize("spoil", FOREIGN)
def test_foreign_files_are_misses_and_are_not_read(
    spoil: Callable[[DiskCache, pytest.MonkeyPatch], None],
    cache: DiskCache,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fresh = described(program())
    spoil(cache, monkeypatch)
    assert described(program()) == fresh
    assert cache.hits == 0


def test_the_key_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    key, file = disk_cache._key.__wrapped__, tmp_path / "gallette" / "key"
    first = key()
    assert first == key() == file.read_bytes()
    assert len(first) == 32
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)  # others may know it by now
    second = key()
    assert first != second == key()
    file.write_bytes(b"short")
    assert len(key()) == 32
    file.parent.chmod(0o777)
    assert key() != key()  # nothing that lies there is believed


def test_an_unusable_cache_folder_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o777)
    cache = DiskCache(tmp_path / "open")
    cache.put("ab12", b"kept")
    assert cache.get("ab12") is None
    assert capsys.readouterr().err == (
        f"gallette: nothing is kept: others may write in {tmp_path}/open\n"
    )
    cache.flush()
    assert not list(cache.folder.iterdir())


def test_a_failure_keeps_its_diagnostics(cache: DiskCache) -> None:
    for _ in range(2):
        shader = compile_cached(Stage.VERTEX, "#version 330\nvoid main() { x; }", CompileOptions())
        assert not shader.ok and "'x'" in shader.info_log
    assert not _kept_files(cache)


def test_off_means_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GALLETTE_CACHE", "off")
    assert shared_cache("programs") is None
    monkeypatch.delenv("GALLETTE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert home.cache_home() == tmp_path / "gallette"
    monkeypatch.setenv("GALLETTE_CACHE", "on")
    assert home.cache_home() == tmp_path / "gallette", "a switch is no name of a folder"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert home.cache_home() == Path.home() / ".cache" / "gallette"


def test_what_is_found_and_what_is_not_is_counted(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path)
    assert (cache.hits, cache.misses) == (0, 0)
    assert cache.get("ab12") is None
    cache.put("ab12", b"kept")
    assert cache.get("ab12") == b"kept"
    cache.flush()
    assert cache.get("ab12") == b"kept" == (tmp_path / "ab12").read_bytes()[32:]
    assert (cache.hits, cache.misses) == (2, 1)


FORKING_WRITER = """
import os, sys
from pathlib import Path
from gallette.compiler.disk_cache import DiskCache

def put(who):
    for number in range(100):
        cache.put(f"{who}{number}", bytes(9))

cache = DiskCache(Path(sys.argv[1]))
put("parent")
child = os.fork()
put("parent" if child else "child")
if child:
    os.waitpid(child, 0)
"""

DAEMON = """
import sys, threading
from pathlib import Path
from gallette.compiler.disk_cache import DiskCache

put = lambda: DiskCache(Path(sys.argv[1])).put("of a daemon", bytes(9))
thread = threading.Thread(target=put, daemon=True)
thread.start()
thread.join()
"""


def test_files_are_there_when_the_process_has_ended(tmp_path: Path) -> None:
    command = [sys.executable, "-c", FORKING_WRITER, str(tmp_path)]
    subprocess.run(command, timeout=60, check=True)
    names = {path.name for path in tmp_path.iterdir()}
    assert names == {f"{who}{number}" for who in ("parent", "child") for number in range(100)}


def test_the_process_waits_for_files_that_a_daemon_thread_stored(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", DAEMON, str(tmp_path)], timeout=60, check=True)
    assert [path.name for path in tmp_path.iterdir()] == ["of a daemon"]


def test_the_bound_holds_and_the_latest_stay(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, most_bytes=16_000)
    for number in range(100):
        cache.put(f"{number:040x}", bytes(900))
    cache.flush()
    size = sum(p.stat().st_size for p in tmp_path.rglob("*") if p.is_file())
    assert 9_000 < size < 19_000
    assert cache.get(f"{99:040x}") == bytes(900)


@pytest.mark.parametrize(("most", "left"), [(4001, 4), (4000, 3), (3999, 2), (2667, 2), (1333, 0)])
def test_what_is_trimmed_at_the_bound(most: int, left: int, tmp_path: Path) -> None:
    """As much as the bound stays; of more, the latest files that are three quarters of it."""
    (tmp_path / "00").mkdir()
    files = [tmp_path / "00" / str(number) for number in range(4)]
    for number, (file, size) in enumerate(zip(files, (1000, 1000, 1000, 1001), strict=True)):
        file.write_bytes(bytes(size))
        os.utime(file, (1000 - number, 1000 - number))
    DiskCache(tmp_path, most_bytes=most).trim()
    assert [file.exists() for file in files] == [number < left for number in range(4)]


def test_many_writers_and_readers_at_once(tmp_path: Path) -> None:
    wrong: list[bytes] = []

    def work() -> None:
        cache = DiskCache(tmp_path, most_bytes=60_000)
        for number in range(300):
            key = f"{number % 20:040x}"
            cache.put(key, bytes([number % 20]) * 5000)
            found = cache.get(key)
            if found not in (None, bytes([number % 20]) * 5000):
                wrong.append(found or b"")

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    DiskCache.flush()
    assert not list(tmp_path.rglob("*.new"))


def test_tests_pass_from_the_cache(cache: DiskCache) -> None:
    tests = find_tests([], ["operators|geometry/|tessellation/|uniform-blocks|compute/"])[::2]
    for _ in range(2):
        bad = {n: o.reason for n, p in tests if (o := run_file(p, "numpipe")).result != "pass"}
        assert bad == {}
    assert cache.hits >= 2 * len(tests)


@pytest.mark.parametrize("driver", ["numpipe", "jit"])
@pytest.mark.parametrize("pattern", ["interpolation/flat-float$", "arb_texture_gather/.*"])
def test_code_that_a_driver_stored_is_not_made_again(
    driver: str, pattern: str, cache: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is neither lowered nor translated, and the shaders are not even parsed."""
    (test,) = find_tests([], [pattern])[:1]
    fresh = run_file(test[1], driver)
    monkeypatch.setattr(VariantCompiler, "first_round", None)
    monkeypatch.setattr(ShaderCompiler, "generate", None)
    monkeypatch.setattr(JitCompiler, "generate", None)
    monkeypatch.setattr(lazy_shader, "deserialize", None)
    again = run_file(test[1], driver)
    assert (again.result, again.reason) == (fresh.result, fresh.reason) == ("pass", "")


def test_a_stored_shader_is_a_shader(cache: DiskCache) -> None:
    text = {stage: print_shader(shader) for stage, shader in program().shaders.items()}
    again = program().shaders
    shader = again[Stage.VERTEX]
    assert isinstance(shader, lazy_shader.LazyShader) and shader.digest
    twin = clone_shader(shader)
    assert lazy_shader.digest_of(twin) == shader.digest
    assert print_shader(lazy_shader.reading(shader)) == text[Stage.VERTEX]
    assert print_shader(twin) == text[Stage.VERTEX]
    assert not lazy_shader.digest_of(twin)  # it has been looked at: it may change now
    twin.entry.body.clear()
    assert print_shader(lazy_shader.reading(shader)) == text[Stage.VERTEX]
    assert print_shader(lazy_shader.LazyShader.unpack(shader.pack())) == text[Stage.VERTEX]


def test_reading_a_stored_shader_makes_no_shader(cache: DiskCache) -> None:
    for shader in program().shaders.values():
        shader.unref()
    gc.collect()  # those of tests before this one
    before, alive = ownership.COUNTERS.snapshot(), len(ownership.live_shaders())
    linked = program()
    made = ownership.COUNTERS.snapshot()
    assert made["created"] - before["created"] == 2
    for shader in linked.shaders.values():
        assert print_shader(shader)
    assert ownership.COUNTERS.snapshot() == made
    assert len(ownership.live_shaders()) == alive + 2
    for shader in linked.shaders.values():
        shader.unref()
    assert len(ownership.live_shaders()) == alive


def test_tables_are_part_of_the_code(tmp_path: Path) -> None:
    """A cache of another version of a table is another cache."""
    (tmp_path / "room").mkdir()
    for name in ("pass.py", "rules.txt", "README.md"):
        (tmp_path / "room" / name).write_text(name)
    found = {where for where, _, _ in disk_cache._sources(str(tmp_path), "compiler")}
    assert found == {"compiler/room/pass.py", "compiler/room/rules.txt"}
