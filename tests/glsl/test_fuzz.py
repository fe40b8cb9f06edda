"""A bounded slice of bench/glsl_fuzz.py: mutated and random shaders get an answer, never"
" a crash."""

import importlib.util
import itertools
from pathlib import Path
from types import ModuleType

import pytest

PATH = Path(__file__).resolve().parents[2] / "bench" / "glsl_fuzz.py"


@pytest.fixture(scope="module")
def fuzz() -> ModuleType:
    spec = importlib.util.spec_from_file_location("glsl_fuzz", PATH)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("seed", range(4))
def test_inputs_get_an_answer(fuzz: ModuleType, seed: int) -> None:
    for stage, text in itertools.islice(fuzz.inputs(1000 + seed), 250):
        answer = fuzz.attempt(stage, text, link=True)
        assert answer in ("ok", "rejected"), f"{stage.value}:\n{text}\n{answer}"


def test_the_seeds_compile(fuzz: ModuleType) -> None:
    for stage, text in zip(fuzz.SEED_STAGES, fuzz.SEEDS, strict=True):
        assert fuzz.attempt(stage, text, link=False) == "ok"
