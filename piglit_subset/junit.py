"""A run as a JUnit XML file, which continuous integration services read."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

from gallette.compiler.errors import InputError
from gallette.piglit_subset.results import Entry, Run

__all__ = ["write_junit"]

# What XML 1.0 cannot carry, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_ERRORS = ("crash", "timeout", "incomplete")


def write_junit(run: Run, path: Path, known: dict[str, str] | None = None) -> Path:
    """One suite per run; known failures become skipped with their reason."""
    known = known or {}
    totals = run.totals()
    suite = ElementTree.Element("testsuite", name=run.name, time=f"{run.end - run.start:.3f}")
    counts = {"failures": 0, "errors": 0, "skipped": 0}
    for name, test in sorted(run.tests.items()):
        folder, _, short = name.rpartition("@")
        case = ElementTree.SubElement(
            suite,
            "testcase",
            classname=folder.replace("@", ".") or run.name,
            name=short,
            time=f"{test.seconds:.3f}",
        )
        kind = _describe(case, test, known.get(name, ""))
        if kind:
            counts[kind] += 1
    suite.set("tests", str(sum(totals.values())))
    for key, number in counts.items():
        suite.set(key, str(number))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)
    except OSError as error:
        raise InputError(f"{path}: cannot write: {error.strerror or error}") from None
    return path


def _describe(case: ElementTree.Element, test: Entry, known: str) -> str:
    """Add what happened; which of the suite's counts it belongs to."""
    if test.result in ("pass", "warn"):
        return ""
    reason = _FORBIDDEN.sub("?", test.reason)
    if test.result in ("skip", "notrun") or known:
        ElementTree.SubElement(case, "skipped", message=_FORBIDDEN.sub("?", known) or reason)
        return "skipped"
    error = test.result in _ERRORS
    head = reason.splitlines()[0] if reason else test.result
    node = ElementTree.SubElement(case, "error" if error else "failure", message=head)
    node.set("type", test.result)
    node.text = _FORBIDDEN.sub("?", "\n".join(filter(None, [test.out or reason, test.err])))
    return "errors" if error else "failures"
