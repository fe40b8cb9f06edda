"""faulty: wraps any driver and makes one deliberate mistake, of the kind that real drivers make.

    gallette diff capture.gcap --driver faulty:half_pixel --against numpipe

`faulty:NAME` makes the mistake in every draw to which it applies, `faulty:NAME@7` only in the
seventh call that draws (clears and blits count). It proves that the tools which look for such
mistakes find them; an unknown name is an error that lists all names.
"""

from __future__ import annotations

from .faults import FAULTS, Fault
from .screen import FaultyContext, FaultyScreen, create_screen

__all__ = ["FAULTS", "Fault", "FaultyContext", "FaultyScreen", "create_screen"]
