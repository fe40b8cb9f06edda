"""What a module calls things changes neither results nor the code that drivers generate.

Names that once were executed, and what `fuzz/spirv_names.py` rests on.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator

import pytest

from fuzz import spirv_names
from fuzz.named_modules import PROGRAMS


@pytest.fixture(params=spirv_names.DRIVERS)
def runner(request: pytest.FixtureRequest) -> Iterator[spirv_names.Runner]:
    if request.param == "jit":
        pytest.importorskip("llvmlite")
    made = spirv_names.Runner(request.param)
    yield made
    made.release()


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\f\n"])
@pytest.mark.parametrize("binary", [False, True])
def test_a_name_with_a_line_end_is_not_executed(end: str, binary: bool) -> None:
    runner = spirv_names.Runner("numpipe")
    name = f"x{end}    import sys; sys.{spirv_names.MARK} = True{end}    #".encode()
    found = [runner.run(program, lambda: name, binary) for program in PROGRAMS]
    assert not hasattr(sys, spirv_names.MARK)
    assert found == runner.plain
    runner.release()


def test_the_plain_programs_give_something(runner: spirv_names.Runner) -> None:
    """An oracle that compares nothing with nothing would find nothing."""
    for outcome in runner.plain:
        assert len(set(outcome.result)) > 8
        assert any(len(text) > 200 for text in outcome.code)


def test_a_renamed_module_has_the_names() -> None:
    module = PROGRAMS[0].stages["compute"]
    changed, entry = spirv_names.renamed(module, lambda: b'a\n"b')
    assert entry == 'a\n"b'
    ids = {i.result_id for i in module.instructions if i.result_id}
    named = [i for i in changed.instructions if i.name == "OpName"]
    assert {i.words[0] for i in named} == ids


def test_hostile_names_differ_between_cases() -> None:
    names = {spirv_names.hostile(random.Random(seed))() for seed in range(50)}
    assert len(names) > 30
