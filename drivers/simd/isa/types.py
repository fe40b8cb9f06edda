"""Registers and their types."""

from __future__ import annotations

from gallette.drivers.common.machine.types import TYPES, RegType, type_of

__all__ = ["REG_BYTES", "TYPES", "RegType", "type_of"]

REG_BYTES = 32
"""A register: eight channels of 32 bits."""
