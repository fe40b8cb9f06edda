"""One observed run for all tests of this folder, and a mark on those that open pages."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gallette.capture.targets import record_target
from gallette.inspector import Frame, observe
from gallette.inspector.server import make_server
from gallette.inspector.service import Service


@pytest.hookimpl(tryfirst=True)  # before `-m` chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("inspector") / "shadow_map.gcap"
    record_target("shadow_map", path, "numpipe")
    return path


@pytest.fixture(scope="session")
def frame(capture: Path) -> Frame:
    return observe(capture, title="shadow_map")


@pytest.fixture(scope="session")
def service(frame: Frame, capture: Path) -> Service:
    return Service(frame, capture)


@pytest.fixture(scope="session")
def address(service: Service) -> Iterator[str]:
    server = make_server(service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()
