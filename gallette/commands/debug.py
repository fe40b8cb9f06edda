"""Step through the shader of one fragment, vertex or compute invocation.

The invocation is recorded first, so that stepping goes backwards as well. GLSL variables are shown
by name. Without -c, commands are read from the terminal; `help` lists them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator

from gallette import default_driver
from gallette.capture.targets import check_target
from gallette.commands.pixel import place_of
from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import write_whole
from gallette.debugger import debug_fragment, debug_invocation, debug_vertex
from gallette.debugger.records import Session
from gallette.debugger.terminal import Stepper
from gallette.terminal import console


def _three(text: str) -> tuple[int, int, int]:
    parts = text.split(",")
    if not 1 <= len(parts) <= 3 or not all(p.strip().isdigit() for p in parts):
        raise argparse.ArgumentTypeError(f"{text!r} is not an invocation; use X,Y,Z")
    x, y, z = ([int(p) for p in parts] + [0, 0])[:3]
    return x, y, z


VALUES = {"place": place_of, "three": _three}


def run(options: argparse.Namespace) -> int:
    check_target(options.target, "gallette debug")
    session = _session(options)
    if options.json is not None:
        write_whole(options.json, json.dumps(session.plain()) + "\n")
        if options.commands is None:
            return 0
    stepper = Stepper(session, console())
    if options.commands is not None:
        stepper.run([options.commands], echo=True)
    elif sys.stdin.isatty():
        stepper.run(_asked())
    else:
        stepper.run(sys.stdin, echo=True)
    return 0


def _session(options: argparse.Namespace) -> Session:
    driver = options.driver or default_driver()
    if options.vertex is not None:
        return debug_vertex(options.target, options.vertex, driver, options.draw, options.instance)
    if options.invocation is not None:
        return debug_invocation(options.target, options.invocation, driver, options.draw)
    if options.place is None:
        raise GalletteError("gallette debug: needs X,Y, --vertex N or --invocation X,Y,Z")
    x, y = options.place
    return debug_fragment(options.target, x, y, driver, options.draw)[0]


def _asked() -> Iterator[str]:
    """Read commands from the terminal."""
    while True:
        try:
            yield input("(debug) ")
        except EOFError:
            return
