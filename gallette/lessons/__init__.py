"""Lessons: runnable pages about real driver-architecture problems.

Importing this package registers them; `LESSONS` has them by name.
"""

from gallette.lessons import (
    derefs,
    dvec_inputs,
    from_nir_to_machine_code,
    is_used_once,
    live_ranges,
    ownership,
    page_tables,
    register_pressure,
    variants,
)
from gallette.lessons.page import LESSONS, Lesson, Page

__all__ = [
    "LESSONS",
    "Lesson",
    "Page",
    "derefs",
    "dvec_inputs",
    "from_nir_to_machine_code",
    "is_used_once",
    "live_ranges",
    "ownership",
    "page_tables",
    "register_pressure",
    "variants",
]
