"""An X server of our own, for what opens windows."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


def can_serve() -> bool:
    return shutil.which("Xvfb") is not None


@contextmanager
def x_server() -> Iterator[str]:
    """The name of a server that runs as long as this lasts."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "320x240x24", "-noreset"]
    command += ["-nolisten", "tcp"]
    running = subprocess.Popen(command, pass_fds=(write,), stderr=subprocess.DEVNULL)
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    try:
        assert number, "Xvfb does not start"
        yield f":{number}"
    finally:
        running.terminate()
        running.wait()


def on(server: str) -> dict[str, str]:
    """An environment with a display; that other tests want no windows is their business."""
    kept = {k: v for k, v in os.environ.items() if k != "EGL_PLATFORM"}
    return {**kept, "DISPLAY": server}
