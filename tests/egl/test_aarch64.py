"""What our libraries do on aarch64: functions found when called, Python found or loaded."""

from __future__ import annotations

from typing import Any

import pytest

from gallette.egl.machine import IMPORTS, RTLD_NOW_GLOBAL, assemble
from tests.egl.aarch64 import SP, Machine

FUNCTIONS = 40
TEXTS = ("Py_IsInitialized", "Py_SetProgramName", "Py_InitializeEx", "PyGILState_Ensure",
         "PyRun_SimpleStringFlags", "PyEval_SaveThread", "PyGILState_Release",
         "PyInterpreterState_Main", "libpython", "program", "python", "failed")  # fmt: skip
LENGTH = 77


class Library:
    """Its code and data in a machine's memory, pages apart, and the C library it calls."""

    def __init__(self, code: int, data: int) -> None:
        self.machine = machine = Machine(0x80000)
        self.places = {"table": data, "once": data + 8 * FUNCTIONS + 0x1008}
        self.places |= {f"slot{i}": data + 16 + 8 * i for i in range(FUNCTIONS)}
        self.places |= {f"got_{name}": data + 0x3F10 + 8 * i for i, name in enumerate(IMPORTS)}
        self.places |= {f"text_{name}": data + 0x5003 + 29 * i for i, name in enumerate(TEXTS)}
        made = assemble("aarch64", code, self.places | {"length_failed": LENGTH}, FUNCTIONS)
        content = made.finish()
        machine.memory[code : code + len(content)] = content
        self.labels = made.labels
        lazy = [made.labels[f"lazy{i}"] for i in range(FUNCTIONS)]
        machine.put(data, made.labels["first"], made.labels["zero"], *lazy)
        self.heard: list[tuple[Any, ...]] = []
        self.answers: dict[str, int] = {}
        self.missing: list[str] = []  # names that dlsym does not find
        for name in IMPORTS:
            machine.put(self.places[f"got_{name}"], machine.function(getattr(self, f"_{name}")))
        self._python = {n: machine.function(self._called(n)) for n in TEXTS if n.startswith("Py")}
        self.resolver = machine.function(self._resolve)
        self.target = machine.function(self._seen)
        self.seen: list[tuple[list[int], list[int], int]] = []

    def told(self, address: int) -> str:
        """The text, or whatever it is, at an address."""
        return next((name for name, at in self.places.items() if at == address), hex(address))

    def _resolve(self) -> int:
        self.heard.append(("resolve", self.machine.x[0]))
        return self.target

    def _seen(self) -> int:
        machine = self.machine
        self.seen.append((machine.x[:9], machine.q[:8], machine.x[SP]))
        return 42

    def _called(self, name: str) -> Any:
        def called() -> int:
            x = self.machine.x
            self.heard.append((name, self.told(x[0]), x[1]))
            if name == "PyRun_SimpleStringFlags" and "attached" in self.answers:
                self.machine.put(self.places["table"], self.resolver)
            return self.answers.get(name, 0)

        return called

    def _pthread_once(self) -> int:
        x = self.machine.x
        assert (self.told(x[0]), x[1]) == ("once", self.labels["boot"])
        if self.machine.word(x[0]) == 0:
            self.machine.put(x[0], 1)
            self.machine.call(x[1])
        return 0

    def _dlsym(self) -> int:
        x = self.machine.x
        name = self.told(x[1]).removeprefix("text_")
        assert x[0] == 0  # RTLD_DEFAULT
        if name in self.missing:
            return 0
        return self._python[name]

    def _dlopen(self) -> int:
        x = self.machine.x
        self.heard.append(("dlopen", self.told(x[0]), x[1]))
        self.missing = [name for name in self.missing if name != "Py_IsInitialized"]
        return self.answers.get("dlopen", 0)

    def _write(self) -> int:
        x = self.machine.x
        self.heard.append(("write", x[0], self.told(x[1]), x[2]))
        return 0

    def call(self, index: int) -> int:
        """An exported function, with arguments everywhere."""
        machine = self.machine
        machine.x[:9] = [(i + 1) * 0x0123456789ABCDE for i in range(9)]
        machine.q[:8] = [(i + 1) << 100 | i for i in range(8)]
        given = machine.x[:9], machine.q[:8], machine.x[SP]
        count = len(self.seen)
        answer = machine.call(self.labels[f"stub{index}"])
        assert self.seen[count:] in ([], [given])  # the function got what was passed
        return answer


PLACES = [(0x1230, 0x20000), (0x40100, 0x8000)]


@pytest.mark.parametrize(("code", "data"), PLACES)
def test_a_function_is_found_at_its_first_call_and_gets_its_arguments(code: int, data: int) -> None:
    library = Library(code, data)
    library.machine.put(library.places["table"], library.resolver)
    for index in (0, 1, 39):
        assert library.call(index) == 42
    assert library.heard == [("resolve", 0), ("resolve", 1), ("resolve", 39)]
    library.machine.put(library.places["slot1"], library.target)
    assert library.call(1) == 42
    assert len(library.heard) == 3 and len(library.seen) == 4


RUN = ("PyRun_SimpleStringFlags", "text_python", 0)
OPENED = ("dlopen", "text_libpython", RTLD_NOW_GLOBAL)


@pytest.mark.parametrize(("code", "data"), PLACES)
@pytest.mark.parametrize("loaded", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_python_is_started_where_it_does_not_run(
    loaded: bool, named: bool, code: int, data: int
) -> None:
    library = Library(code, data)
    library.answers = {"dlopen": 0x7000, "attached": 1, "PyEval_SaveThread": 5}
    library.missing = ["Py_IsInitialized"] * (not loaded) + ["Py_SetProgramName"] * (not named)
    assert library.call(3) == 42
    calls = [(call[0], *call[1:]) for call in library.heard]
    wanted = [] if loaded else [OPENED]
    found = [call for call in calls if call[0] in ("dlopen", RUN[0], "write")]
    assert found == [*wanted, RUN]
    names = [call[0] for call in calls]
    asked = ["dlopen"] * (not loaded) + ["Py_IsInitialized", "PyInterpreterState_Main"]
    after = [*["Py_SetProgramName"] * named, "Py_InitializeEx", RUN[0], "PyEval_SaveThread"]
    assert names == [*asked, *after, "resolve"]
    if named:
        assert calls[names.index("Py_SetProgramName")][1] == "text_program"
    assert calls[names.index("Py_InitializeEx")][1] == "0x0"  # no signal handlers
    assert library.call(4) == 42
    assert library.heard[len(calls) :] == [("resolve", 4)]  # and not started again


@pytest.mark.parametrize(("code", "data"), PLACES)
def test_python_that_runs_is_entered_and_left(code: int, data: int) -> None:
    library = Library(code, data)
    library.answers = {"Py_IsInitialized": 1, "PyGILState_Ensure": 0x51, "attached": 1}
    assert library.call(3) == 42
    names = [call[0] for call in library.heard]
    assert names == [
        "Py_IsInitialized", "PyGILState_Ensure", RUN[0], "PyGILState_Release", "resolve",
    ]  # fmt: skip
    assert library.heard[2] == RUN and library.heard[3][1] == hex(0x51)
    assert library.heard[-1] == ("resolve", 3)


@pytest.mark.parametrize(("code", "data"), PLACES)
def test_python_that_ends_is_left_alone(code: int, data: int) -> None:
    library = Library(code, data)
    library.answers = {"PyInterpreterState_Main": 0x7000}
    for _ in range(2):
        assert library.call(7) == 0
    assert [call[0] for call in library.heard] == ["Py_IsInitialized", "PyInterpreterState_Main"]


@pytest.mark.parametrize(("code", "data"), PLACES)
@pytest.mark.parametrize("found", [True, False])
def test_without_a_python_functions_answer_nothing(found: bool, code: int, data: int) -> None:
    """There is none, which is said once; or ours fails to start."""
    library = Library(code, data)
    library.missing = [] if found else ["Py_IsInitialized"]
    for _ in range(2):
        assert library.call(7) == 0
    said = [call for call in library.heard if call[0] in ("dlopen", "write", "resolve")]
    assert said == ([] if found else [OPENED, ("write", 2, "text_failed", LENGTH)])
    assert not library.seen
