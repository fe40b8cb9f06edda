"""The compiler's environment: include files, cache folders and debug flags."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from gallette.cli import execute
from gallette.compiler import debug, disk_cache
from gallette.compiler.arguments import read_source
from gallette.compiler.cache_home import cache_home
from gallette.compiler.errors import InputError, Span


def test_texts_are_read_from_files_and_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.frag"
    file.write_bytes("ä".encode() + b"\xff\n")
    assert read_source(str(file)) == ("ä\ufffd\n", str(file))
    with pytest.raises(InputError) as caught:
        read_source(str(tmp_path / "missing"))
    assert str(caught.value) == f"{tmp_path / 'missing'}: no such file"
    with pytest.raises(InputError) as caught:
        read_source(str(tmp_path))
    assert str(caught.value) == f"{tmp_path}: cannot read: Is a directory"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"given \xff")))
    assert read_source("-") == ("given \ufffd", "<stdin>")


@pytest.mark.parametrize(
    ("named", "xdg", "found"),
    [
        ("", "", "/home/me/.cache/gallette"),
        ("on", "", "/home/me/.cache/gallette"),
        ("1", "/kept", "/kept/gallette"),
        ("", "/kept", "/kept/gallette"),
        ("", "relative", "/home/me/.cache/gallette"),
        ("off", "/kept", None),
        ("0", "/kept", None),
        ("/own", "/kept", "/own"),
        ("own", "", "own"),
    ],
)
def test_where_things_are_kept(
    monkeypatch: pytest.MonkeyPatch, named: str, xdg: str, found: str | None
) -> None:
    monkeypatch.setenv("HOME", "/home/me")
    monkeypatch.setenv("GALLETTE_CACHE", named)
    monkeypatch.setenv("XDG_CACHE_HOME", xdg)
    assert cache_home() == (None if found is None else Path(found))


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setenv("GALLETTE_CACHE", "")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", homeless)
    assert cache_home() is None
    assert disk_cache.shared_cache("things") is None


def test_kept_things_are_of_a_version_of_the_code() -> None:
    one, other = disk_cache.code_version("compiler"), disk_cache.code_version("pipe")
    assert len(one) == len(other) == 32 and one != other
    assert disk_cache.code_version("compiler", "pipe") == f"{one}-{other}"
    assert disk_cache._version_of.__wrapped__("pipe") == other


def test_the_version_follows_each_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By name, size and time; what is no source does not count."""
    folder = tmp_path / "own"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.py").write_text("one")
    (folder / "deep" / "b.py").write_text("two")
    monkeypatch.setattr(disk_cache, "__file__", str(tmp_path / "compiler" / "disk_cache.py"))
    version = disk_cache._version_of.__wrapped__
    seen = [version("own")]
    assert version("own") == seen[0]
    (folder / "a.py").write_text("longer")
    seen.append(version("own"))
    (folder / "deep" / "b.py").rename(folder / "deep" / "c.py")
    seen.append(version("own"))
    os.utime(folder / "a.py", ns=(10**18, 10**18))
    seen.append(version("own"))
    (folder / "d.py").write_text("")
    seen.append(version("own"))
    assert len(set(seen)) == 5


FLAGS = {
    # what is set -> flags, or what is wrong
    "": {},
    "nir:print": {"nir:print": "1"},
    " nir:print , nir:validate,": {"nir:print": "1", "nir:validate": "1"},
    "driver:inexact_used_once=never": {"driver:inexact_used_once": "never"},
    "nir:prin": "GALLETTE_DEBUG: unknown flag 'nir:prin'; did you mean 'nir:print'?",
    "driver:inexact_used_once=often":
        "GALLETTE_DEBUG: driver:inexact_used_once takes one of always, never, not_position",
    "driver:inexact_used_once":
        "GALLETTE_DEBUG: driver:inexact_used_once takes one of always, never, not_position",
}  # fmt: skip


@pytest.mark.parametrize("text", FLAGS)
def test_debug_flags(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("GALLETTE_DEBUG", text)
    wanted: Any = FLAGS[text]
    if isinstance(wanted, str):
        with pytest.raises(InputError) as caught:
            debug.flags()
        assert str(caught.value) == wanted
        return
    assert debug.flags() == wanted
    for name in ("nir:print", "nir:validate"):
        assert debug.is_set(name) == (name in wanted)
    assert debug.flag_value("driver:inexact_used_once", "other") == wanted.get(
        "driver:inexact_used_once", "other"
    )


def test_a_flag_that_is_like_no_other_names_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GALLETTE_DEBUG", "zzz")
    with pytest.raises(InputError, match=r"unknown flag 'zzz' \(known: ") as caught:
        debug.flags()
    assert all(name in str(caught.value) for name in debug.FLAGS)


def test_an_error_of_input_says_where() -> None:
    span = Span(3, 5, 8, "a.nir")
    assert str(InputError("odd")) == "odd"
    assert str(InputError("odd", span)) == "a.nir:3:5: error: odd"
    assert str(InputError("odd", span, "let one be")) == (
        "a.nir:3:5: error: odd\n  let one be\n      ^~~"
    )
    assert InputError("odd", span).span is span
    assert str(InputError("odd", Span(1, 2, 0, "b"), "ab")) == "b:1:2: error: odd\n  ab\n   ^"


VERTEX = "#version 420\nout vec4 v; void main() { gl_Position = v = vec4(1.0); }\n"
FRAGMENT = "#version 420\nin vec4 {}; out vec4 c; void main() {{ c = {}; }}\n"


def test_the_compiler_tool_infers_stages_from_suffixes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a.frag", "b.frag.glsl", "c.glsl"):
        (tmp_path / name).write_text(FRAGMENT.format("v", "v"), encoding="utf-8")
    assert execute(["glslc", str(tmp_path / "a.frag"), "--json"]) == 0
    assert execute(["glslc", str(tmp_path / "b.frag.glsl"), "--json"]) == 0
    assert execute(["glslc", str(tmp_path / "c.glsl"), "--stage", "fragment", "--json"]) == 0
    told = capsys.readouterr().out
    assert told.count('"stage": "fragment"') == 3
    with pytest.raises(
        InputError, match=r"c\.glsl: the stage cannot be inferred .*; use --stage"
    ) as e:
        execute(["glslc", str(tmp_path / "c.glsl")])
    assert ".frag" in str(e.value) and ".vert" in str(e.value)


@pytest.mark.parametrize("read", ["v", "w"])
def test_the_compiler_tool_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], read: str
) -> None:
    (tmp_path / "a.vert").write_text(VERTEX, encoding="utf-8")
    (tmp_path / "a.frag").write_text(FRAGMENT.format(read, read), encoding="utf-8")
    files = [str(tmp_path / "a.vert"), str(tmp_path / "a.frag")]
    status = execute(["glslc", *files, "--link", "--json"])
    told = json.loads(capsys.readouterr().out)
    log = ["error: input 'w' of the fragment shader is not written by the vertex shader"]
    assert told["link"] == {"ok": read == "v", "log": log if read == "w" else []}
    assert status == (2 if read == "w" else 0)
    assert [f["stage"] for f in told["files"]] == ["vertex", "fragment"]
