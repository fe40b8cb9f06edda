"""Replay the OpenGL calls of a capture on any driver.

Pictures that the program read are read again and compared with the recorded ones; on the driver
that recorded them, a difference ends the command with 1.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from gallette.capture import Call, Replayer, open_capture
from gallette.capture.snapshot import read_attachments
from gallette.compiler.errors import GalletteError
from gallette.terminal import console


def run(options: argparse.Namespace) -> int:
    import numpy as np

    capture = open_capture(options.capture)
    until = options.until
    if until is not None:
        capture.call(until)
    if options.frame is not None:
        inside = [c.number for c in capture.calls if c.frame == options.frame]
        if not inside:
            raise GalletteError(f"{options.capture}: frames are 1 to {capture.frames}")
        until = inside[-1]
    drawn = [c for c in capture.draws() if until is None or c.number <= until]
    last = drawn[-1].number if drawn else 0
    pictures: dict[str, Any] = {}

    def look(call: Call, gl: Any) -> None:
        if call.number == last and call.target is not None:
            pictures.update(read_attachments(gl, call.target))

    player = Replayer(capture, options.driver)
    with np.errstate(all="ignore"):
        done = player.run(until, look if options.save is not None else None)
    out = console()
    same = done.images - len(done.different)
    out.print(
        f"{done.calls} calls replayed on {done.driver}; {same} of {done.images} pictures that were "
        "read are identical to the recorded ones",
        markup=False,
    )
    for number in done.different[:5]:
        out.print(f"  different: call {number}, {capture.call(number)}", markup=False)
    for error in done.errors[:5]:
        out.print(f"  {error}", style="red", markup=False)
    if options.save is not None:
        _save(pictures, options.save)
        out.print(f"picture: {options.save}", markup=False)
    if done.errors or (done.different and done.driver == capture.driver):
        return 1
    return 0


def _save(pictures: dict[str, Any], path: Path) -> None:
    import numpy as np

    from gallette.pictures import save_picture, to_rgb8

    if not pictures:
        raise GalletteError("gallette replay: nothing was drawn up to that call")
    name, picture = next(iter(pictures.items()))
    if name in ("depth", "stencil"):
        picture = np.repeat(picture, 3, axis=-1)
    save_picture(path, to_rgb8(picture))
