"""The templates of pages: what scrolls can be reached by keys (axe-core asks for it, where it does
scroll; which places do depends on what they hold)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from gallette.reports.html import TEMPLATES


@pytest.mark.parametrize("path", sorted(TEMPLATES.glob("*.jinja")), ids=lambda p: p.name)
def test_what_scrolls_can_be_focused(path: Path) -> None:
    tags = re.findall(r'<pre\b[^>]*>|<\w+ class="scroll"[^>]*>', path.read_text(encoding="utf-8"))
    assert [tag for tag in tags if 'tabindex="0"' not in tag] == []
