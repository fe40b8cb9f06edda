"""Ctrl-C for programs under test, whoever started the tests."""

from __future__ import annotations

import signal


def hear_interrupts() -> None:
    """For `preexec_fn`: background jobs of a shell ignore Ctrl-C, and so does what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
