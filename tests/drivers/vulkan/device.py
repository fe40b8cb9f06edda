"""What the tests of this folder share: is there a device, and what the validation layers say."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gallette.drivers.vulkan.device.loader import Instance, NoVulkanError
from gallette.state_tracker import GL, create_context

SIZE = 16
"""Pixels along each side of the pictures that are compared."""


def _found() -> str:
    """Why there is no device, or nothing."""
    try:
        Instance().chosen()
    except NoVulkanError as error:
        return str(error)
    return ""


_MISSING = _found()
needs_device = pytest.mark.skipif(bool(_MISSING), reason=_MISSING)


def _has_layers() -> bool:
    try:
        Instance(validation=True)
    except NoVulkanError:
        return False
    return True


def validated(path: Path, patch: pytest.MonkeyPatch) -> Path:
    """Have the validation layers write into a file; where there are none, it stays empty."""
    file = path / "validation.txt"
    if _has_layers():
        patch.setenv("GALLETTE_VULKAN_VALIDATION", os.fspath(file))
    elif os.environ.get("GALLETTE_REQUIRE_REFERENCE"):
        pytest.fail("the validation layers are not installed")
    return file


def said(file: Path) -> str:
    """What the layers wrote."""
    return file.read_text() if file.exists() else ""


def both(draw: Callable[[Any], list[Any]], profile: str = "core") -> Iterator[tuple[Any, Any]]:
    """What a function returns on numpipe, and what it returns on vulkan."""
    found = []
    for driver in ("numpipe", "vulkan"):
        gl: Any = create_context(driver, profile=profile, version=(4, 5), size=(SIZE, SIZE))
        found.append(draw(gl))
        assert gl.get_error() == GL.NO_ERROR
        gl.release()
    return zip(*found, strict=True)
