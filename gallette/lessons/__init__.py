"""Lessons: runnable pages about real driver-architecture problems.

Every module of this package is imported, and those that have lessons register them: `LESSONS` has
them by name, `course` in their order. A new lesson is a new file, and nothing else.
"""

import importlib
import pkgutil

from gallette.lessons.page import LESSONS, Lesson, Page

__all__ = ["LESSONS", "Lesson", "Page"]

for _module in pkgutil.iter_modules(__path__):
    if not _module.name.startswith("_"):
        importlib.import_module(f"{__name__}.{_module.name}")
