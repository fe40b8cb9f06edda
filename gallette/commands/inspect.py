"""Open the frame debugger: every draw of a run in a local web page.

The page shows the timeline, state, uniforms, textures, meshes and overdraw, the shaders after each
pass, and the history of every pixel down to the instruction that computed its colour.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from gallette import default_driver
from gallette.capture.targets import check_target
from gallette.compiler.errors import GalletteError
from gallette.pipe.loader import driver_names
from gallette.terminal import console

if TYPE_CHECKING:
    from gallette.inspector.frames import Frame


def run(options: argparse.Namespace) -> int:
    from gallette.inspector.observe import captured, observe
    from gallette.running import check_driver

    path = Path(options.target)
    if path.suffix in (".frag", ".vert", ".geom", ".tesc", ".tese") and options.html is None:
        return _explore(options, path)
    check_target(options.target, "gallette inspect")
    driver = options.driver or default_driver()
    if driver.split(":")[0] == "native":
        raise GalletteError("gallette inspect: needs a driver of gallette, not native")
    check_driver(driver)
    out = console()
    with captured(options.target, driver) as path:
        frame = observe(path, driver, options.target)
        if not frame.draws:
            raise GalletteError(f"{options.target} draws nothing")
        if options.against is not None:
            _compare(frame, path, options.against, driver)
        if options.html is not None:
            from gallette.inspector.export import export_page

            size = export_page(frame, options.html)
            out.print(f"page: {options.html} ({size / 1e3:.0f} kB)", markup=False)
            return 0
        return _serve(options, frame, path)


def _compare(frame: Frame, path: Path, against: str, driver: str) -> None:
    """Compare with another run, or with this one on another driver."""
    from gallette.inspector.compared import compare
    from gallette.inspector.observe import captured, observe
    from gallette.running import check_driver

    if against.split(":")[0] in (*driver_names(), "faulty"):
        check_driver(against)
        compare(frame, observe(path, against, against))
        return
    check_target(against, "gallette inspect")
    with captured(against, driver) as other:
        compare(frame, observe(other, driver, against))


def _explore(options: argparse.Namespace, path: Path) -> int:
    """Show a shader in the explorer, because it is not a run."""
    from gallette.commands import explore

    options.file = path
    return explore.run(options)


def _serve(options: argparse.Namespace, frame: Frame, path: Path) -> int:
    from gallette.inspector.server import show
    from gallette.inspector.service import Service

    return show(Service(frame, path), options.port, "inspect", not options.no_browser)
