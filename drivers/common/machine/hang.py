"""A machine that makes no progress any more: its context is lost, with a report."""

from __future__ import annotations

from gallette.drivers.common.work import ShaderBudgetError

__all__ = ["MachineHangError"]


class MachineHangError(ShaderBudgetError):
    """The machine stopped making progress: where, with which channels and registers."""
