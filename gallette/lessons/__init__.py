"""Lessons: runnable pages about real driver-architecture problems.

Importing this package registers them; `LESSONS` has them by name.
"""

from gallette.lessons import is_used_once, ownership
from gallette.lessons.page import LESSONS, Lesson, Page

__all__ = ["LESSONS", "Lesson", "Page", "is_used_once", "ownership"]
