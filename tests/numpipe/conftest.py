"""What numpipe's tests share: a canvas that is released, whatever happens."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

_HERE = Path(__file__).parent
if (path := str(_HERE / "draw")) not in sys.path:
    sys.path.insert(0, path)


@pytest.fixture
def canvas() -> Iterator[Callable[..., Any]]:
    """Make canvases (`canvas(width, height, colors=..., depth=...)`); closed after the test."""
    from draw_scene import Canvas

    made: list[Any] = []

    def make(*args: Any, **options: Any) -> Any:
        made.append(Canvas(*args, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
        assert not each.screen.resources.live
