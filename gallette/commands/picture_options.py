"""Options of commands that compare pictures: tolerances, reports, time limits."""

from __future__ import annotations

import argparse
from pathlib import Path

__all__ = ["add_report_arguments", "add_tolerance_arguments", "seconds"]


def add_tolerance_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--update", action="store_true", help="write goldens that are missing or differ"
    )
    parser.add_argument(
        "--tolerance", type=_number, metavar="N", help="steps of 1/255 a pixel may differ (1)"
    )
    parser.add_argument(
        "--share", type=_number, metavar="P", help="with --golden: this part of the pixels may "
        "differ by more, 0 to 1 (0)",
    )  # fmt: skip
    parser.add_argument(
        "--perceptual",
        type=_number,
        metavar="E",
        help="with --golden: judge by the mean FLIP error, 0 to 1 (needs gallette[perceptual])",
    )


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", type=Path, metavar="DIR", help="write a report")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the verdicts as JSON (-: standard output)"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit report")


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: a tolerance is 0 or more")
    return value


def seconds(text: str) -> float:
    """A time limit, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text}: a time is more than 0 seconds")
    return value
