"""Edit shaders in a local web page: the picture, NIR after any pass, graphs of control and data
flow, SPIR-V and the code of each driver follow every change.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from gallette import default_driver
from gallette.commands.options import add_driver, add_server
from gallette.compiler.errors import GalletteError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        metavar="FILE",
        help="a .vert, .frag, .geom, .tesc or .tese file; those of its name beside it are opened,"
        " too (default: a sample)",
    )
    add_driver(parser)
    add_server(parser)


def run(options: argparse.Namespace) -> int:
    from gallette.inspector.examples import sources_of
    from gallette.inspector.explorer import Explorer
    from gallette.inspector.server import show
    from gallette.running import check_driver

    driver = options.driver or default_driver()
    if driver.split(":")[0] not in ("numpipe", "jit"):
        raise GalletteError("gallette explore: needs the driver numpipe or jit")
    check_driver(driver)
    sources = None
    if options.file is not None:
        if not options.file.is_file():
            raise GalletteError(f"{options.file}: no such file")
        sources = sources_of(options.file)
    return show(Explorer(sources, driver), options.port, "explore", not options.no_browser)
