"""Running a program, and what was wrong with that.

Every exception that comes out of a call is wrong: GL errors do not. So is work that failed in the
driver for another reason than its budget or memory, whatever was written beside resources, and what
is left when the context is released.
"""

from __future__ import annotations

import gc
import sys
import threading
import traceback
import warnings
import weakref
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from fuzz.guard import Guard
from fuzz.harness import place_of
from fuzz.programs import perform
from gallette.compiler.errors import GalletteError
from gallette.compiler.nir.ir.ownership import live_shaders
from gallette.drivers.common.work import ShaderBudgetError
from gallette.pipe.loader import driver_factory
from gallette.pipe.settings import known_options
from gallette.state_tracker import GL
from gallette.state_tracker.context import Context, live_contexts

from .helpers import Helpers

_BUDGET = 1 << 27
"""Work of a draw, in about nanoseconds: programs that ask for more lose their context."""

_CLIENT_MEMORY = "entry_points/memory.py"
"""Where the application's memory is read, whose size only Python knows."""

_DRAWS = ("draw_arrays", "draw_elements", "draw_range", "draw_transform", "multi_draw", "dispatch")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not happen: `key` names its place, `text` tells all."""

    key: str
    text: str


@dataclass(slots=True)
class Outcome:
    """What came of a program."""

    findings: list[Finding] = field(default_factory=list)
    draws: int = 0
    lost: str = ""
    errors: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    refused: list[str] = field(default_factory=list)


_UPLOADS = ("tex_image", "tex_sub_image", "texture_sub_image", "compressed_tex")


def harmless(gl: Context, name: str, args: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """The arguments with pointers that lead somewhere; None: better not called.

    Offsets into buffers are pointers where no buffer is bound, which a program cannot tell while it
    is written: some call before may have failed.
    """
    if "draw_" in name:
        if name.endswith(("_indirect", "_indirect_count")):
            bound = gl.buffers.bound[GL.DRAW_INDIRECT_BUFFER]
            return args if gl.is_core or bound is not None else None
        if "elements" in name and gl.arrays.current.element_buffer is None:
            return None
    elif name in ("read_pixels", "get_tex_image") and gl.buffers.bound[GL.PIXEL_PACK_BUFFER]:
        return (*args, 0)
    elif name.startswith(_UPLOADS) and gl.buffers.bound[GL.PIXEL_UNPACK_BUFFER] is not None:
        return (*args[:-1], 0 if args[-1] is None else len(args[-1]) % 64)
    return args


class _Calls:
    """The GL of a program: counts what is called, and what failed with a GL error."""

    def __init__(self, gl: Context, outcome: Outcome) -> None:
        self._gl = gl
        self._outcome = outcome

    def __getattr__(self, name: str) -> Any:
        gl, outcome, method = self._gl, self._outcome, getattr(self._gl, name)
        counts = name.startswith(_DRAWS)

        def call(*args: Any) -> Any:
            given = harmless(gl, name, args)
            if given is None:
                return None
            found = method(*given)
            if gl.error:
                outcome.errors[f"{GL.name_of(gl.error, 'error')} {name}"] += 1
                gl.error = 0
            else:
                outcome.calls[name] += 1
                outcome.draws += counts
            return found

        self.__dict__[name] = call
        return call


class Runner:
    """Runs programs on one driver; there is one in a process."""

    def __init__(self, driver: str, guarded: bool = True) -> None:
        self.driver = driver
        self.guard = Guard()
        if guarded:
            self.guard.install()
        known = known_options(driver_factory(driver))
        self.options = {"budget": _BUDGET} if "budget" in known else {}
        if "cache" in known:
            self.options["cache"] = False
        self._outcome = Outcome()
        self._line = ""
        self._listen()

    def _listen(self) -> None:
        """Receive the messages of errors that no call raises."""
        warnings.simplefilter("error", RuntimeWarning)
        failed = Context.work_failed

        def work_failed(context: Context, error: Exception, function: Any = None) -> None:
            if isinstance(error, ShaderBudgetError):
                self._outcome.lost = self._outcome.lost or str(error)
                context.lost = context.lost or str(error)  # which is not printed
            elif not isinstance(error, MemoryError):
                self._found(error)
            failed(context, error, function)

        Context.work_failed = work_failed  # type: ignore[method-assign]
        sys.unraisablehook = lambda args: self._found(args.exc_value)
        threading.excepthook = lambda args: self._found(args.exc_value)

    def _found(self, error: BaseException | None) -> None:
        if error is None:
            return
        place = place_of(error)
        if isinstance(error, GalletteError) and f"{_CLIENT_MEMORY}:" in place:
            return  # fewer bytes were passed than the pixel storage asks for
        text = "".join(traceback.format_exception(error, limit=-12))
        self._add(place, f"at {self._line[:200]}\n{text}")

    def _add(self, key: str, text: str) -> None:
        if all(found.key != key for found in self._outcome.findings):
            self._outcome.findings.append(Finding(key, text))

    def run(self, lines: Sequence[str], profile: str = "core", samples: int = 0) -> Outcome:
        """Execute the lines on a context of their own."""
        outcome = self._outcome = Outcome()
        gl = Context(
            self.driver, profile=profile, version=(4, 6), size=(32, 32), samples=samples,
            **self.options,
        )  # fmt: skip
        calls = _Calls(gl, outcome)
        helpers = Helpers(calls)
        self._execute(lines, {"gl": calls, "GL": GL, "np": np, "h": helpers})
        outcome.refused = helpers.refused
        self._line = "release"
        screen, alive = gl.screen, weakref.ref(gl)
        try:
            gl.release()
        except Exception as error:
            self._found(error)
        del gl, calls, helpers
        gc.collect()
        self._left(screen, alive)
        return outcome

    def _execute(self, lines: Sequence[str], names: dict[str, Any]) -> None:
        for line in lines:
            if self._outcome.lost:  # nothing more happens
                break
            self._line = line
            perform(line, names, self._found)
        names.clear()

    def _left(self, screen: Any, alive: Any) -> None:
        """What outlives the context, and what was written beside resources."""
        if screen.resources.live:
            self._add("resources are left", repr(screen.resources.live[:5]))
        if live_contexts():
            self._add("contexts are left", "")
        if alive() is not None:
            self._add("the context is kept", str([type(x) for x in gc.get_referrers(alive())]))
        left = live_shaders()
        if left:
            self._add("shaders are left", repr([shader.name for shader in left][:5]))
        wrong, self.guard.wrong = self.guard.wrong, []
        if wrong:
            self._add("memory beside a resource was written", "; ".join(wrong[:5]))
