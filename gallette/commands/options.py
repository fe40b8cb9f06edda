"""Options that several commands share, each described once."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

__all__ = [
    "add_cluster",
    "add_comparison",
    "add_driver",
    "add_jobs",
    "add_machine",
    "add_reports",
    "add_server",
    "add_timeout",
    "natural",
    "seconds",
]

Arguments = argparse.ArgumentParser | argparse._ArgumentGroup
"""Where options are added: to a parser, or to a group of its options."""


def add_driver(
    parser: Arguments, default: str = "$GALLETTE_DRIVER, else numpipe", what: str = "the driver"
) -> None:
    parser.add_argument("--driver", metavar="DRIVER", help=f"{what} (default: {default})")


def add_jobs(parser: Arguments) -> None:
    parser.add_argument(
        "-j",
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        metavar="N",
        help="run N tests at once (default: one per processor)",
    )


def add_cluster(parser: Arguments) -> None:
    parser.add_argument(
        "--cluster",
        default="",
        metavar="ADDRESS",
        help="work on a dask.distributed cluster: tcp://HOST:8786, or local:N for N processes",
    )


def add_machine(parser: Arguments) -> None:
    from gallette.machines import DEFAULT_MACHINE, MACHINES

    parser.add_argument(
        "--driver",
        default=DEFAULT_MACHINE,
        metavar="DRIVER",
        help=f"the driver whose machine it is: {', '.join(MACHINES)} (default: {DEFAULT_MACHINE})",
    )


def add_server(parser: Arguments) -> None:
    """Add the options of commands that show a local web page."""
    parser.add_argument(
        "--port", type=int, default=0, metavar="N", help="port of the page (default: a free one)"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="print the address, do not open a browser"
    )


def add_timeout(parser: Arguments, what: str) -> None:
    parser.add_argument("--timeout", type=seconds, metavar="SECONDS", help=what)


def add_comparison(parser: Arguments) -> None:
    """Add the options for golden images and for how much pictures may differ from them."""
    parser.add_argument(
        "--golden", type=Path, metavar="DIR", help="compare with the PNG files in DIR/NAME"
    )
    parser.add_argument(
        "--update", action="store_true", help="write golden images that are missing or differ"
    )
    parser.add_argument(
        "--tolerance",
        type=_number,
        metavar="N",
        help="largest difference of a channel, in steps of 1/255 (default: 1)",
    )
    parser.add_argument(
        "--share",
        type=_number,
        metavar="P",
        help="share of the pixels that may differ by more, 0 to 1 (default: 0; 0.001 for captures)",
    )
    parser.add_argument(
        "--perceptual",
        type=_number,
        metavar="E",
        help="compare by the mean FLIP error instead, 0 to 1 (with --golden; needs "
        "gallette[perceptual])",
    )


def add_reports(parser: Arguments) -> None:
    parser.add_argument("--html", type=Path, metavar="DIR", help="write an HTML report")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write the results as JSON (-: standard output)"
    )
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write a JUnit XML report")


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 0 or more")
    return value


def seconds(text: str) -> float:
    """A time limit, for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a time; use seconds, such as 10")
    return value


def natural(text: str) -> int:
    """A number of 1 or more, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of 1 or more")
    return int(text)
