"""What every test shares: the leak check, and access to the native reference.

After each test the contexts it made are released, and neither a shader nor a resource may be left.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.ownership import live_shaders
from gallette.drivers.common.draw.execution import Execution
from gallette.drivers.common.draw.queue import DrawQueue
from gallette.state_tracker import GLInterface, create_context
from gallette.state_tracker.context import live_contexts
from tests.reference import missing

# What an earlier run left in the user's cache must not decide a test; those about it name their
# own. (Mesa's knows that a shader was compiled for some version, and takes it for others.)
os.environ["GALLETTE_CACHE"] = "off"
os.environ["MESA_SHADER_CACHE_DISABLE"] = "true"
# Every pass that changes a shader, in this process and in those it starts, must leave a valid one;
# what LLVM is given must be valid, too, for it may end the process otherwise.
os.environ.setdefault("GALLETTE_DEBUG", "nir:validate,driver:verify")
# No draw is ended for taking long on a busy machine.
os.environ.setdefault("GALLETTE_CONFIG", str(Path(__file__).with_name("settings.toml")))


# Properties are tried on the same examples each time, however long that takes on a busy machine.
settings.register_profile(
    "same", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("same")

# What is collected stays to the end: looking through it for garbage again and again is in vain.
gc.disable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop() -> None:
    """Tests begin: everything made until now is left alone by the garbage collector.

    It looks seldom: at its own pace it took a tenth of all time.
    """
    gc.freeze()
    gc.set_threshold(20_000, 100, 10)
    gc.enable()


@pytest.fixture(autouse=True)
def no_leaks() -> Iterator[None]:
    """Every context of a test leaves zero shaders and resources behind."""
    shaders_before = {id(s) for s in live_shaders()}
    outer = live_contexts()  # of fixtures that serve several tests
    yield
    contexts = [c for c in live_contexts() if c not in outer]
    screens = [c.screen for c in contexts]
    for context in contexts:
        context.release()  # raises LeakError, naming what is left
    for screen in screens:
        assert not screen.resources.live
    if contexts:
        left = [s for s in live_shaders() if id(s) not in shaders_before]
        assert not left, f"live shaders: {[s.name for s in left]}"


@pytest.fixture
def flushes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many draws waited each time those that wait were executed."""
    found: list[int] = []
    own = DrawQueue.flush

    def counted(self: DrawQueue) -> None:
        if self._entries:
            found.append(len(self._entries))
        own(self)

    monkeypatch.setattr(DrawQueue, "flush", counted)
    return found


@pytest.fixture
def executed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many draws were executed at a time."""
    found: list[int] = []
    for name in ("run", "alone"):
        own = getattr(Execution, name)

        def counted(self: Execution, draws: Any, own: Any = own) -> None:
            found.append(len(draws) if isinstance(draws, list) else 1)
            own(self, draws)

        monkeypatch.setattr(Execution, name, counted)
    return found


def native_context(**options: object) -> GLInterface:
    """A native context; without one the test is skipped, or fails where one is required."""
    try:
        return create_context("native:llvmpipe", **options)  # type: ignore[arg-type]
    except GalletteError as error:
        missing(error)
