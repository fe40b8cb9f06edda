"""Small pieces of HTML that notebooks show of a result, one for each kind of record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gallette.capture.differ import CaptureDiff
    from gallette.debugger import Session
    from gallette.explaining import Explanation
    from gallette.history import History

MOST = 40
"""Rows of a table; what is left out is counted."""


def _table(columns: Sequence[str], rows: Iterable[Sequence[Any]], caption: str) -> str:
    kept = [list(map(str, row)) for row in rows]
    lines = [f"<tr>{''.join(f'<th>{escape(c)}</th>' for c in columns)}</tr>"]
    lines += [
        f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in kept[:MOST]
    ]
    if len(kept) > MOST:
        lines.append(f'<tr><td colspan="{len(columns)}">and {len(kept) - MOST} more</td></tr>')
    return f"<table><caption>{escape(caption)}</caption>{''.join(lines)}</table>"


def history(found: History) -> str:
    """The calls that touched the pixel, and each fragment's verdict."""
    rows: list[tuple[str, str, str]] = []
    for event in found.events:
        if event.touched:
            verdicts = [f.verdict for f in event.fragments] + [f.verdict for f in event.missing]
            after = ", ".join(f"{name} {value}" for name, value in event.after.items())
            rows.append((event.call, "; ".join(verdicts), after))
    title = f"pixel {found.x}, {found.y} of {found.target} on {found.driver}"
    return _table(("call", "fragments", "after it"), rows, title)


def explanation(found: Explanation) -> str:
    """Passes that changed something and variants, stage by stage."""
    parts = []
    for shader in found.shaders:
        changed = [r for r in shader.passes if r.progress]
        parts.append(
            _table(
                ("pass", "instructions before", "after", "ms"),
                [
                    (r.name, r.instrs_before, r.instrs_after, f"{r.seconds * 1000:.2f}")
                    for r in changed
                ],
                f"{found.name}, {shader.stage} shader on {found.driver}",
            )
        )
        parts += [
            f"<details><summary>{escape(v.key)}: {escape(v.reason)}</summary>"
            f"<pre>{escape(v.code)}</pre></details>"
            for v in shader.variants
        ]
    return "".join(parts)


def capture_diff(found: CaptureDiff) -> str:
    """The calls after which attachments differ, the first one first."""
    rows = [
        (d.call, a.attachment, f"{a.beyond} of {a.pixels}", f"{a.largest:.3g}", a.place)
        for d in found.draws
        for a in d.attachments
    ]
    title = f"{found.ours} against {found.theirs}: {found.compared} draws compared"
    return _table(("call", "attachment", "pixels", "most, of 255", "where"), rows, title)


def session(found: Session) -> str:
    """The steps of an invocation, with their results."""
    rows = [
        (n, found.source_line(n), found.code[step.line].text.strip(), found.value(n))
        for n, step in enumerate(found.steps)
    ]
    return _table(("step", "line", "instruction", "value"), rows, f"{found.title} ({found.stage})")
