"""Captures: recordings of all GL calls of a program, with the data that they need to be replayed.

`recorder` watches the contexts of this process and writes a file (`container` is its format);
`story` reads one: calls by name, what draws, which groups and frames they are in; `replay` makes
the calls on any driver or on the machine's own GL; `snapshot` looks at the framebuffer while it
does, and `differ` compares two replays draw by draw.
"""

from gallette.capture.container import CaptureError
from gallette.capture.recorder import recording
from gallette.capture.replay import Replayed, Replayer, replay
from gallette.capture.story import Call, Capture, open_capture

__all__ = [
    "Call",
    "Capture",
    "CaptureError",
    "Replayed",
    "Replayer",
    "open_capture",
    "recording",
    "replay",
]
