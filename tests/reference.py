"""What a test does when the machine has no native OpenGL to compare with."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def required() -> bool:
    """Continuous integration sets this: there, a missing reference is a failure."""
    return os.environ.get("GALLETTE_REQUIRE_REFERENCE", "") not in ("", "0")


def missing(problem: object) -> NoReturn:
    """Fail where a reference is required, skip elsewhere."""
    if required():
        pytest.fail(f"a native OpenGL is required: {problem}")
    pytest.skip(f"no native OpenGL: {problem}")
