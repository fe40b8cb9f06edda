"""faulty: wraps any driver and makes one deliberate mistake, the kind real drivers make.

    gallette diff capture.gcap --driver faulty:half_pixel --against numpipe

`faulty:NAME` makes the mistake in every draw it can be made in, `faulty:NAME@7` only in the seventh
call that draws (clears and blits count). It is there to prove that the tools which look for such
mistakes find them; an unknown name is answered with the list of all.
"""

from __future__ import annotations

from .faults import FAULTS, Fault
from .screen import FaultyContext, FaultyScreen, create_screen

__all__ = ["FAULTS", "Fault", "FaultyContext", "FaultyScreen", "create_screen"]
