"""What tests of captures share: a recording of a few calls, and contexts with other names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gallette
from gallette.capture import open_capture, recording
from gallette.capture.story import Capture
from gallette.state_tracker.entry_points.enums import GL

Draw = Callable[[Any], None]


def captured(path: Path, draw: Draw, **facts: Any) -> Capture:
    """What a context's calls left in a file."""
    with recording(path):
        gl: Any = gallette.create_context(**facts)
        draw(gl)
        assert gl.get_error() == GL.NO_ERROR
        gl.release()
    return open_capture(path)


def pixels(gl: Any, width: int = 4, height: int = 4) -> Any:
    return gl.read_pixels(0, 0, width, height, GL.RGBA, GL.UNSIGNED_BYTE)


SHIFTS = {
    "buffers": 1, "textures": 2, "framebuffers": 3, "renderbuffers": 4, "vertex_arrays": 5,
    "samplers": 6, "queries": 7, "program_pipelines": 8, "transform_feedbacks": 9,
    "programs": 10, "lists": 11,
}  # fmt: skip


def other_names(gl: Any) -> None:
    """Take some names of every kind, so that none is what it was when it was recorded."""
    for kind, count in SHIFTS.items():
        if kind != "programs":
            getattr(gl, f"gen_{kind}")(count)
    for _ in range(SHIFTS["programs"]):
        gl.create_program()
    while gl.get_error():
        pass
