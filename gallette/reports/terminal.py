"""Tables of test results for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from gallette.piglit_subset.results import ORDER, Run
from gallette.piglit_subset.summary import Change, Summary, pass_rate
from gallette.terminal import COLORS, counted, table


def _colored(result: str, text: str | None = None) -> str:
    return f"[{COLORS.get(result, 'white')}]{text or result}[/]"


def print_totals(out: Console, run: Run) -> None:
    """Print one line per result, and the rate."""
    totals = run.totals()
    seconds = f"{run.end - run.start:.1f} s"
    rows = table(out, f"{escape(run.name)}: {counted(len(run.tests), 'test')} in {seconds}")
    rows.add_column("result")
    rows.add_column("tests", justify="right")
    for result in ORDER:
        if totals[result]:
            rows.add_row(_colored(result), str(totals[result]))
    rows.add_row("pass rate", f"{pass_rate(totals):.1%}", style="bold")
    out.print(rows)


def print_summary(out: Console, summary: Summary, everything: bool) -> None:
    shown = summary.tests if everything else [t for t in summary.tests if t.problem or t.differs]
    if shown:
        rows = table(out, "tests" if everything else "problems and differences")
        rows.add_column("test", overflow="fold")
        for run in summary.runs:
            rows.add_column(escape(run.name))
        rows.add_column("why", overflow="fold")
        for test in shown:
            cells = [_colored(r) for r in test.results]
            rows.add_row(escape(test.name.replace("@", "/")), *cells, _reasons(summary, test))
        out.print(rows)
    rows = table(out, "totals")
    rows.add_column("result")
    for run in summary.runs:
        rows.add_column(escape(run.name), justify="right")
    totals = summary.totals()
    for result in ORDER:
        if any(t[result] for t in totals):
            rows.add_row(_colored(result), *(str(t[result]) for t in totals))
    rows.add_row("pass rate", *(f"{pass_rate(t):.1%}" for t in totals), style="bold")
    out.print(rows)


def _reasons(summary: Summary, test: Change) -> str:
    """The first line of each distinct reason, for results that are not plain passes."""
    lines: list[str] = []
    for run in summary.runs:
        entry = run.tests.get(test.name)
        line = next(iter(entry.reason.splitlines()), "") if entry is not None else ""
        if line and line not in lines:
            lines.append(line)
    return escape("\n".join(lines))


def print_folders(out: Console, summary: Summary) -> None:
    """Print pass rates per folder."""
    _print_rates(out, summary, "folder", summary.folders)


def print_versions(out: Console, summary: Summary) -> None:
    """Print pass rates per version of GLSL or GL, and per extension."""
    _print_rates(out, summary, "version", summary.versions())


def _print_rates(
    out: Console, summary: Summary, what: str, groups: list[tuple[str, list[tuple[int, int]]]]
) -> None:
    """Print the pass-rate table: passed of all tests, and the rate, a column per run.

    The first run is the reference; a group where another one does worse is marked.
    """
    rows = table(out, f"pass rates (reference: {escape(summary.runs[0].name)})")
    rows.add_column(what)
    for run in summary.runs:
        rows.add_column(escape(run.name), justify="right")
    for group, rates in groups:
        reference = rates[0][0] / rates[0][1] if rates[0][1] else 0.0
        cells = []
        for passed, ran in rates:
            if not ran:
                cells.append("[bright_black]none ran[/]")
                continue
            color = "red" if passed / ran < reference else "green"
            cells.append(f"[{color}]{passed} / {ran}  {passed / ran:6.1%}[/]")
        rows.add_row(escape(group), *cells)
    out.print(rows)
