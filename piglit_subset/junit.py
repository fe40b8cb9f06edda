"""Results as a JUnit XML file, which continuous integration services read."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from gallette.compiler.output_files import write_whole
from gallette.piglit_subset.results import Entry, Run

# What XML 1.0 cannot carry, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ERRORS = ("crash", "timeout", "incomplete")


@dataclass(frozen=True, slots=True)
class Case:
    """A test case that passed, or whose `kind` is failure, error or skipped."""

    group: str
    name: str
    kind: str = ""
    message: str = ""
    text: str = ""
    type: str = ""
    seconds: float = 0.0


def write_cases(
    suite: str, cases: Sequence[Case], path: Path, seconds: float | None = None
) -> Path:
    """Write one suite."""
    counts = Counter(case.kind for case in cases)
    numbers = {
        "tests": str(len(cases)),
        "failures": str(counts["failure"]),
        "errors": str(counts["error"]),
        "skipped": str(counts["skipped"]),
    }
    root = ElementTree.Element("testsuites")
    inside = ElementTree.SubElement(root, "testsuite", {"name": _allowed(suite), **numbers})
    if seconds is not None:
        inside.set("time", f"{seconds:.3f}")
    for case in cases:
        element = ElementTree.SubElement(
            inside,
            "testcase",
            classname=_allowed(case.group),
            name=_allowed(case.name),
            time=f"{case.seconds:.3f}",
        )
        if case.kind:
            node = ElementTree.SubElement(element, case.kind, message=_allowed(case.message))
            if case.type:
                node.set("type", case.type)
            node.text = _allowed(case.text) or None
    ElementTree.indent(root)
    xml: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    write_whole(path, xml + b"\n", folder=True)
    return path


def _allowed(text: str) -> str:
    return _FORBIDDEN.sub("?", text)


def write_junit(run: Run, path: Path, known: dict[str, str] | None = None) -> Path:
    """Write a run; known failures become skipped with their reason."""
    known = known or {}
    cases = [
        _case(run.name, name, test, known.get(name, "")) for name, test in sorted(run.tests.items())
    ]
    return write_cases(run.name, cases, path, run.end - run.start)


def _case(run: str, name: str, test: Entry, known: str) -> Case:
    folder, _, short = name.rpartition("@")
    group = folder.replace("@", ".") or run
    if test.result in ("pass", "warn"):
        return Case(group, short, seconds=test.seconds)
    if test.result in ("skip", "notrun") or known:
        return Case(group, short, "skipped", known or test.reason, seconds=test.seconds)
    kind = "error" if test.result in _ERRORS else "failure"
    head = test.reason.splitlines()[0] if test.reason else test.result
    text = "\n".join(filter(None, [test.out or test.reason, test.err]))
    return Case(group, short, kind, head, text, test.result, test.seconds)
