"""What came of comparing pictures, as a page, as JSON and as JUnit's XML."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from gallette.compiler.output_files import write_whole
from gallette.golden.comparing import Comparison

__all__ = ["Case", "write_json", "write_junit", "write_page"]


def write_page(results: Sequence[Comparison], target: Path, title: str, hint: str = "") -> Path:
    """A page with each picture beside its golden, the difference, and a closer look (swipe)."""
    from gallette.reports.html import page_path, render_page

    return render_page(
        "golden.html.jinja",
        page_path(target),
        title=title,
        subtitle="pictures and their golden images",
        results=sorted(results, key=lambda result: result.ok),
        hint=hint,
    )


def write_json(data: dict[str, Any], path: Path) -> None:
    """Write to a file, or to standard output if it is `-`."""
    text = json.dumps(data, indent=2) + "\n"
    if str(path) == "-":
        sys.stdout.write(text)
    else:
        write_whole(path, text, folder=True)


@dataclass(frozen=True, slots=True)
class Case:
    """A test case of a JUnit report."""

    group: str
    name: str
    failure: str = ""
    error: str = ""
    seconds: float = 0.0


def write_junit(suite: str, cases: Sequence[Case], path: Path) -> None:
    """A JUnit report: what CI systems show as a list of tests."""
    failed, broken = (sum(1 for c in cases if c.failure), sum(1 for c in cases if c.error))
    counts = {"tests": str(len(cases)), "failures": str(failed), "errors": str(broken)}
    root = ElementTree.Element("testsuites", counts)
    inside = ElementTree.SubElement(root, "testsuite", {"name": suite, **counts})
    for case in cases:
        attributes = {
            "classname": _allowed(case.group),
            "name": _allowed(case.name),
            "time": f"{case.seconds:.3f}",
        }
        element = ElementTree.SubElement(inside, "testcase", attributes)
        for kind, text in (("failure", case.failure), ("error", case.error)):
            if text:
                message = {"message": _allowed(text.splitlines()[0])}
                ElementTree.SubElement(element, kind, message).text = _allowed(text)
    ElementTree.indent(root)
    xml: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    write_whole(path, xml + b"\n", folder=True)


def _allowed(text: str) -> str:
    """Characters that XML can hold; others are replaced."""
    return "".join(
        c if c in "\t\n\r" or " " <= c < "\ud800" or c > "\udfff" else "\ufffd" for c in text
    )
