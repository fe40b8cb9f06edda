"""The error of a machine that makes no more progress: its context is lost, with a report."""

from __future__ import annotations

from gallette.drivers.common.work import ShaderBudgetError

__all__ = ["MachineHangError"]


class MachineHangError(ShaderBudgetError):
    """The machine made no progress; the message shows the program counter, the channels and
    registers.
    """
