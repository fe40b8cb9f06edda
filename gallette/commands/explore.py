"""Edit shaders in a local web page: the picture, NIR after any pass, graphs of control and data
flow, SPIR-V and the code of each driver follow every change.
"""

from __future__ import annotations

import argparse

from gallette import default_driver
from gallette.compiler.errors import GalletteError


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
