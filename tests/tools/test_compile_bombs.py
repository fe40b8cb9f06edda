"""Constructs of `fuzz/compile_bombs.py`: each, a few times, on the drivers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from fuzz import bombs, compile_bombs

SIZE = 5


@pytest.fixture(scope="module", params=["numpipe", "jit"])
def runner(request: pytest.FixtureRequest) -> Iterator[compile_bombs.Runner]:
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    made = compile_bombs.Runner(request.param)
    yield made
    made.release()


@pytest.fixture(scope="module")
def reference() -> Iterator[compile_bombs.Runner]:
    made = compile_bombs.Runner("simd")
    yield made
    made.release()


@pytest.mark.parametrize("language", ["glsl", "spirv", "arb", "nir"])
def test_constructs_are_drawn(
    runner: compile_bombs.Runner, reference: compile_bombs.Runner, language: str
) -> None:
    chosen = [bomb for bomb in bombs.BOMBS.values() if bomb.language == language]
    assert chosen
    for bomb in chosen:
        source = compile_bombs.prepared(bomb, SIZE)
        found = runner.run(language, source)
        assert found[0] == "drawn", bomb
        if bomb.name not in _INEXACT:
            assert found == reference.run(language, source), bomb


_INEXACT = {"sines", "exponentials"}
"""Machines that are emulated have their own."""

TOO_DEEP = ("glsl/blocks", "glsl/ifs", "glsl/parentheses", "glsl/returns", "glsl/calls_of_deep_ifs")


@pytest.mark.parametrize("name", TOO_DEEP)
def test_what_is_too_deep_is_refused(name: str) -> None:
    bomb = bombs.BOMBS[name]
    runner = compile_bombs.Runner("numpipe")
    how, log = runner.run(bomb.language, compile_bombs.prepared(bomb, bomb.most))
    runner.release()
    assert how == "refused"
    assert "deep" in log
