"""The tables that random OpenGL programs are made of: arguments of functions, and settings."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fuzz.calls import arguments
from fuzz.gl_programs.generate import grammar
from fuzz.gl_programs.run import Side
from fuzz.gl_programs.writer import Made, Writer
from fuzz.hostile.generate import menu
from fuzz.hostile.helpers import Helpers
from gallette.compiler.text_tables import grouped_rows
from gallette.state_tracker import GL
from gallette.state_tracker.entry_points.functions import FUNCTIONS, Kind


def test_every_function_gets_arguments_of_its_types() -> None:
    made = arguments.Arguments(random.Random(1), lambda kind: "7")
    names: dict[str, Any] = {"GL": GL, "np": np, "h": Helpers(None)}
    methods = {*menu("core").methods, *menu("compat").methods}
    assert len(methods) > 700
    for method in sorted(methods):
        function = FUNCTIONS.method(method)
        params = [p for p in function.params if not p.kind.is_output and p.kind != Kind.CAPACITY]
        for _ in range(3):
            given = [eval(text, names) for text in made.of(function)]
            for param, value in zip(params, given, strict=True):
                if not param.stars and param.type not in ("float", "double", "clampf", "clampd"):
                    assert isinstance(value, int), (method, param.name)
                if param.type in ("uint", "enum", "bitfield") and not param.stars:
                    assert 0 <= value < 1 << 32, (method, param.name)


def test_draws_and_other_functions_are_told_apart() -> None:
    r, known = random.Random(2), menu("core")
    draws = {known.choose(r, "draw").method for _ in range(300)}
    calls = {known.choose(r, "call").method for _ in range(3000)}
    assert {"draw_arrays", "draw_elements", "multi_draw_arrays_indirect"} <= draws
    assert all("draw" in method for method in draws)
    assert {"enable", "named_buffer_sub_data", "bind_framebuffer"} <= calls
    assert not draws & calls


def test_words_of_the_table_are_enumerators() -> None:
    table = Path(arguments.__file__).with_name("arguments.txt")
    names = [row.split()[0] for group, row in grouped_rows(table) if group == "groups"]
    assert len(names) > 25
    for name in names:
        for word in arguments.group(name):
            for part in word.split("="):
                assert not part[0].isupper() or hasattr(GL, part), f"{part} of {name}"


@pytest.mark.parametrize("profile", ["core", "compat", "fixed", "modern"])
def test_settings_are_put_back(profile: str) -> None:
    """Each setting of a profile changes something, and after the reset nothing is left of it."""
    side = Side("immediate", profile)
    rules = grammar(profile if profile in ("fixed", "modern") else "plain")
    w = Writer(rules, random.Random(3), random.Random(4), profile)
    w.target = Made(name="0")
    before = _state(side.gl)
    changed: set[str] = set()
    for _ in range(20):
        side.perform([w.setting() for _ in range(20)], [])
        now = _state(side.gl)
        changed |= {name for name, value in now.items() if value != before[name]}
    side.world.reset()
    left = {name for name, value in _state(side.gl).items() if value != before[name]}
    assert left == set()
    assert len(changed) >= {"modern": 10}.get(profile, 20)
    side.release()


@cache
def _parameters() -> list[str]:
    """The names of all parameters that can be set."""
    tables = (Path(__file__).parents[2] / "state_tracker").rglob("parameters.txt")
    rows = [row for table in sorted(tables) for row in table.read_text().splitlines()]
    names = [row.split()[0] for row in rows if " by=" in row or " in=" in row]
    return [name for name in names if name != "-" and hasattr(GL, name)]


def _state(gl: Any) -> dict[str, Any]:
    """All that a context answers for parameters that can be set."""
    found = {}
    for name in _parameters():
        found[name] = str(gl.get_floatv(getattr(GL, name)))
        while gl.get_error():
            found[name] = ""
    return found
