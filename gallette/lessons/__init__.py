"""The course: runnable lessons about real problems of compilers and drivers.

A lesson is a Markdown file whose figures and numbers come from running it (`text.py`); its
measurements are in a module of the same name beside it. `course.CHAPTERS` has their order.
"""

from gallette.lessons.course import LESSONS
from gallette.lessons.page import Page
from gallette.lessons.text import Lesson, run_lesson

__all__ = ["LESSONS", "Lesson", "Page", "run_lesson"]
