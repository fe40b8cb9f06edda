"""The shaders of random programs, read from `shaders.txt`."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

__all__ = ["SAMPLED", "names", "source"]

_HEAD = re.compile(r"== (?P<of>\w+ \w+)(?P<bare>!?)(?: (?P<name>\w+))?(?: : (?P<kind>\w+))?\n")
SAMPLED: dict[str, str] = {}
"""which kind of texture a new fragment shader reads"""


@cache
def _sources() -> dict[str, dict[str, str]]:
    """By language and stage, then by name."""
    found: dict[str, dict[str, str]] = {}
    before: dict[str, str] = {}
    text = Path(__file__).with_name("shaders.txt").read_text()
    heads = [*_HEAD.finditer(text)]
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=True):
        of, body = head["of"], text[head.end() : end]
        if not head["name"]:
            before[of] = body
            continue
        known = found.setdefault(of, {})
        known[head["name"]] = body if head["bare"] else before.get(of, "") + body
        if head["kind"]:
            SAMPLED[head["name"]] = head["kind"]
    return found


def source(language: str, stage: str, name: str) -> str:
    """Without its version."""
    return _sources()[f"{language} {stage}"][name]


def names(stage: str) -> list[str]:
    """Those of a stage of new programs."""
    return [*_sources()[f"new {stage}"]]
