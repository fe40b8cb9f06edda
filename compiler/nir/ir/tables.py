"""Constant tables that `load_table` reads, by name. The modules that own them add them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

TABLES: dict[str, Callable[[], npt.NDArray[np.generic[Any]]]] = {}
"""Functions that return a table of numbers of 32 bits, made when it is first needed."""
