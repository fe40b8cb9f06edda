"""Which functions a context answers: those of its version, of what it lists, and their other names.

llvmpipe says of any other function that it is not supported. So do we, for the same functions: the
rest stands in `supported_functions.txt`, with reasons.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gallette.compiler.text_tables import table_rows
from gallette.state_tracker import GL, create_context
from gallette.state_tracker.context import Context
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Function
from gallette.state_tracker.entry_points.registry import implementation
from gallette.state_tracker.entry_points.supported_functions import answers, is_there
from gallette.state_tracker.native.context import NativeContext
from tests.conftest import native_context

from .helpers import errors

CONTEXTS = {"core": (4, 5), "compat": (4, 5), "es1": (1, 1), "es": (3, 2)}
REFUSED = "unsupported function called"
_CALLBACK = ctypes.CFUNCTYPE(
    None, *[ctypes.c_uint] * 4, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p
)


def read_table(side: str) -> dict[str, set[str]]:
    """Profile -> names that only we answer ("more"), or only llvmpipe ("less")."""
    found: dict[str, set[str]] = {profile: set() for profile in CONTEXTS}
    profiles: list[str] = []
    for line in table_rows(Path(__file__).with_name("supported_functions.txt")):
        if line.startswith("["):
            names, _, rest = line[1:].partition("] ")
            profiles = names.split() if rest.startswith(side + ":") else []
        else:
            for profile in profiles:
                found[profile].update(line.split())
    return found


class Asking:
    """Calls functions of a native context with nothing but zeros; what it says of them."""

    def __init__(self, gl: NativeContext):
        self.gl, self.said = gl, ""
        self.room = ctypes.create_string_buffer(1 << 16)
        self.pointers = (ctypes.c_void_p * 64)(*[ctypes.addressof(self.room)] * 64)
        self.callback = _CALLBACK(self.hear)
        suffix = "KHR" if gl.profile == "es" else ""
        self.call(FUNCTIONS[f"DebugMessageCallback{suffix}"], [self.callback, 0])
        gl.enable(GL.DEBUG_OUTPUT_SYNCHRONOUS)

    def hear(self, *message: Any) -> None:
        self.said += message[5].decode("latin-1")

    def call(self, function: Function, args: list[Any]) -> None:
        address = self.gl.load_opengl_function(function.c_name)
        types = [type(a) if isinstance(a, _CALLBACK) else t
                 for a, t in zip(args, function.argtypes, strict=True)]  # fmt: skip
        ctypes.CFUNCTYPE(function.restype, *types)(address)(*args)

    def refused(self, function: Function) -> bool | None:
        """None: there is an entry, which does nothing and says nothing."""
        if any(p.type == "debugproc" for p in function.params):  # nothing would be heard after it
            return None
        self.said = ""
        args = [self.pointers if p.stars > 1 else self.room if p.stars else 0
                for p in function.params]  # fmt: skip
        self.call(function, [ctypes.addressof(a) if not isinstance(a, int) else a for a in args])
        failed = errors(self.gl)
        return REFUSED in self.said if failed or self.said else None


@pytest.fixture(params=CONTEXTS)
def profile(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def ours(profile: str) -> Iterator[Context]:
    kind = "es" if profile == "es1" else profile
    gl = create_context("numpipe", profile=kind, version=CONTEXTS[profile])
    assert isinstance(gl, Context)
    yield gl
    gl.release()


@pytest.fixture
def native(profile: str) -> Iterator[Asking]:
    kind = "es" if profile == "es1" else profile
    gl = native_context(profile=kind, version=CONTEXTS[profile], debug=True)
    assert isinstance(gl, NativeContext)
    yield Asking(gl)
    gl.release()


def listed(gl: Context) -> frozenset[str]:
    return frozenset(gl.limits.extensions)


@pytest.mark.native
def test_aliases_work_where_they_work_on_llvmpipe(
    ours: Context, native: Asking, profile: str
) -> None:
    """Names that are answered only because another name of the function is there."""
    functions = [FUNCTIONS[name] for name in FUNCTIONS]
    others = [
        f for f in functions if ours.has_function(f) and not is_there(f, profile, listed(ours))
    ]
    assert len(others) > 20
    found = {f.name for f in others if native.refused(f)}
    assert found == read_table("more")[profile]


@pytest.mark.native
def test_what_is_refused_is_refused_by_llvmpipe(
    ours: Context, native: Asking, profile: str
) -> None:
    functions = [FUNCTIONS[name] for name in FUNCTIONS]
    refused = [f for f in functions if implementation(f) and not ours.has_function(f)]
    found = {f.name for f in refused if native.refused(f) is False}
    assert found == read_table("less")[profile]


def test_refusing_is_an_error_and_changes_nothing(ours: Context, profile: str) -> None:
    functions = [FUNCTIONS[name] for name in FUNCTIONS]
    refused = [f for f in functions if implementation(f) and not ours.has_function(f)]
    for function in refused:
        assert ours.load_opengl_function(function.c_name) == 0
        args = [None if p.stars else 0 for p in function.params]
        getattr(ours, function.method)(*args)
        assert errors(ours) == ["GL_INVALID_OPERATION"], function.name
    assert len(refused) > 10
    assert answers(FUNCTIONS["Enable"], profile, listed(ours))
