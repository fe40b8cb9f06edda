"""Tables of test results for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from gallette.piglit_subset.results import ORDER, Run
from gallette.piglit_subset.summary import Summary, pass_rate
from gallette.terminal import COLORS

__all__ = ["print_folders", "print_summary", "print_totals"]


def _colored(result: str, text: str | None = None) -> str:
    return f"[{COLORS.get(result, 'white')}]{text or result}[/]"


def print_totals(out: Console, run: Run) -> None:
    """One line per result, and the rate."""
    totals = run.totals()
    table = Table(title=f"{run.name}: {len(run.tests)} tests in {run.end - run.start:.1f} s")
    table.add_column("result")
    table.add_column("tests", justify="right")
    for result in ORDER:
        if totals[result]:
            table.add_row(_colored(result), str(totals[result]))
    table.add_row("pass rate", f"{pass_rate(totals):.1%}", style="bold")
    out.print(table)


def print_summary(out: Console, summary: Summary, everything: bool) -> None:
    shown = summary.tests if everything else [t for t in summary.tests if t.problem or t.differs]
    if shown:
        table = Table(title="tests" if everything else "problems and differences")
        table.add_column("test", overflow="fold")
        for run in summary.runs:
            table.add_column(run.name)
        for test in shown:
            cells = [_colored(r) for r in test.results]
            table.add_row(test.name.replace("@", "/"), *cells)
        out.print(table)
    table = Table(title="totals")
    table.add_column("result")
    for run in summary.runs:
        table.add_column(run.name, justify="right")
    totals = summary.totals()
    for result in ORDER:
        if any(t[result] for t in totals):
            table.add_row(_colored(result), *(str(t[result]) for t in totals))
    table.add_row("pass rate", *(f"{pass_rate(t):.1%}" for t in totals), style="bold")
    out.print(table)


def print_folders(out: Console, summary: Summary) -> None:
    """The pass-rate table: per folder and run, passed of those that ran, and the rate.

    The first run is the reference; a folder where another one does worse is marked.
    """
    table = Table(title=f"pass rates (reference: {summary.runs[0].name})")
    table.add_column("folder")
    for run in summary.runs:
        table.add_column(run.name, justify="right")
    for folder, rates in summary.folders:
        reference = rates[0][0] / rates[0][1] if rates[0][1] else 0.0
        cells = []
        for passed, ran in rates:
            if not ran:
                cells.append("[bright_black]none ran[/]")
                continue
            color = "red" if passed / ran < reference else "green"
            cells.append(f"[{color}]{passed} / {ran}  {passed / ran:6.1%}[/]")
        table.add_row(folder, *cells)
    out.print(table)
