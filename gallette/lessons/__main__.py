"""`python -m gallette.lessons`: write `docs/reference/vocabulary.md` from its table."""

from pathlib import Path

from gallette.lessons.glossary import page

Path("docs/reference/vocabulary.md").write_text(page(), encoding="utf-8")
