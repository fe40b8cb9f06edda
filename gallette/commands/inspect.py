"""`gallette inspect TARGET`: the frame debugger, as a local web page or one file."""

from __future__ import annotations

import argparse
from pathlib import Path

from gallette import default_driver
from gallette.capture.targets import check_target
from gallette.compiler.errors import GalletteError
from gallette.terminal import console

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "target", help="a scene, a .shader_test, a capture, or a shader (as gallette explore)"
    )
    parser.add_argument("--driver", help="the driver (default: GALLETTE_DRIVER, else numpipe)")
    parser.add_argument("--port", type=int, default=0, metavar="N", help="of the local server")
    parser.add_argument("--no-browser", action="store_true", help="only say where the page is")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write one page instead")


def run(options: argparse.Namespace) -> int:
    from gallette.inspector.observe import captured, observe
    from gallette.running import check_driver

    path = Path(options.target)
    if path.suffix in (".frag", ".vert") and options.html is None:
        return _explore(options, path)
    check_target(options.target, "gallette inspect")
    driver = options.driver or default_driver()
    if driver.split(":")[0] == "native":
        raise GalletteError("gallette inspect: only drivers of the stack can be looked into")
    check_driver(driver)
    out = console()
    with captured(options.target, driver) as path:
        frame = observe(path, driver, options.target)
        if not frame.draws:
            raise GalletteError(f"{options.target} draws nothing")
        if options.html is not None:
            from gallette.inspector.export import export_page

            size = export_page(frame, options.html)
            out.print(f"page: {options.html} ({size / 1e3:.0f} kB)", markup=False)
            return 0
        return _serve(options, frame, path)


def _explore(options: argparse.Namespace, path: Path) -> int:
    """A shader is no run: the explorer shows it."""
    from gallette.commands import explore

    options.file = path
    return explore.run(options)


def _serve(options: argparse.Namespace, frame: object, path: Path) -> int:
    from gallette.inspector.frames import Frame
    from gallette.inspector.server import show
    from gallette.inspector.service import Service

    assert isinstance(frame, Frame)
    return show(Service(frame, path), options.port, "inspect", not options.no_browser)
