"""`gallette explore [FILE]`: a pair of shaders, live: GLSL, NIR after any pass, code, picture."""

from __future__ import annotations

import argparse
from pathlib import Path

from gallette import default_driver
from gallette.compiler.errors import GalletteError

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        help="a .vert or .frag file; its twin comes too",
    )
    parser.add_argument("--driver", help="the driver (default: GALLETTE_DRIVER, else numpipe)")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="of the local server")
    parser.add_argument("--no-browser", action="store_true", help="only say where the page is")


def run(options: argparse.Namespace) -> int:
    from gallette.inspector.explorer import Explorer, sources_of
    from gallette.inspector.server import show
    from gallette.running import check_driver

    driver = options.driver or default_driver()
    if driver.split(":")[0] not in ("numpipe", "jit"):
        raise GalletteError("gallette explore: only numpipe and jit show what they compile")
    check_driver(driver)
    sources = None
    if options.file is not None:
        if not options.file.is_file():
            raise GalletteError(f"{options.file}: no such file")
        sources = sources_of(options.file)
    return show(Explorer(sources, driver), options.port, "explore", not options.no_browser)
