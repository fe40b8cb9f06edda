"""Ctrl-C for programs under test, whoever started the tests."""

from __future__ import annotations

import signal

__all__ = ["hear_interrupts"]


def hear_interrupts() -> None:
    """For `preexec_fn`: a shell's background jobs ignore Ctrl-C, and what they start inherits it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
