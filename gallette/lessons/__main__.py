"""`python -m gallette.lessons`: write the vocabulary and the course's contents into `docs`."""

from pathlib import Path

from gallette.lessons import course, glossary

Path("docs/reference/vocabulary.md").write_text(glossary.page(), encoding="utf-8")
Path("docs/course.md").write_text(course.page(), encoding="utf-8")
