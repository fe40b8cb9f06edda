"""pytest fixtures for programs that draw with OpenGL; they need no GPU, no window and no OpenGL.

    def test_triangle(gallette_context, image_regression):
        my_module.draw(gallette_context)            # a moderngl context
        image_regression(gallette_context.fbo)      # compares with goldens/test_this/triangle.png

* `gallette_context`: a moderngl context of its own for each test.
* `gallette_gl`: for PyOpenGL, pyglet and other libraries of this process.
* `gallette_run`: runs a program in a process of its own and returns its frames.
* `image_regression`: compares a picture with the golden image beside the test.
* `gallette_driver`: the name of the driver that these use.

A test that uses none of them is not affected, and their modules are imported on first use.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gallette.compiler.lazy_dataclass import lazy_dataclass

if TYPE_CHECKING:
    import moderngl

    from gallette.golden import Comparison, Goldens, Tolerance
    from gallette.golden.pictures import Picture
    from gallette.state_tracker import GLInterface

_USED = pytest.StashKey[set[str]]()


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    _keep_assertions(pluginmanager)
    group = parser.getgroup("gallette", "OpenGL on the CPU, and golden images")
    group.addoption(
        "--gallette-update",
        action="store_true",
        help="write golden images that are missing or differ, instead of failing",
    )
    group.addoption(
        "--gallette-driver",
        metavar="NAME[,NAME...]",
        default="",
        help="the driver that draws; with several, tests run once on each "
        "(default: GALLETTE_DRIVER, else jit if llvmlite is installed, else numpipe)",
    )


def _keep_assertions(pluginmanager: pytest.PytestPluginManager) -> None:
    """Import gallette's modules without pytest's rewriting of assertions.

    pytest recompiles all modules of a package with a plugin, to explain their assertions. For
    gallette's thousand modules that takes seconds, and their assertions do not concern the tester.
    """
    hook = getattr(pluginmanager, "rewrite_hook", None)
    marked = getattr(hook, "_must_rewrite", None)
    if isinstance(marked, set):  # otherwise this pytest does it in another way
        marked.discard("gallette")
        getattr(hook, "_marked_for_rewrite_cache", {}).clear()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "gallette(profile='core', version=(3, 3), size=(256, 256)): the OpenGL context of "
        "gallette_context and gallette_gl",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    drivers = _drivers(metafunc.config)
    if "gallette_driver" in metafunc.fixturenames and len(drivers) > 1:
        metafunc.parametrize("gallette_driver", drivers, indirect=True)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    used = config.stash.get(_USED, None)
    if used:
        terminalreporter.write_line(f"gallette: OpenGL was drawn by {', '.join(sorted(used))}")


def _drivers(config: pytest.Config) -> list[str]:
    named = [name.strip() for name in config.getoption("--gallette-driver").split(",")]
    return [name for name in named if name]


@pytest.fixture
def gallette_driver(request: pytest.FixtureRequest) -> str:
    """The driver that draws (see `--gallette-driver`)."""
    import gallette

    asked: list[str] = [getattr(request, "param", ""), *_drivers(request.config)]
    driver = next(filter(None, asked), "") or gallette.quickest_driver()
    request.config.stash.setdefault(_USED, set()).add(driver)
    return driver


# -- contexts --------------------------------------------------------------------------------------


@lazy_dataclass(frozen=True)
class _Wanted:
    """The arguments of the marker `gallette`."""

    profile: str = "core"
    version: tuple[int, int] = (3, 3)
    size: tuple[int, int] = (256, 256)


def _wanted(request: pytest.FixtureRequest) -> _Wanted:
    marker = request.node.get_closest_marker("gallette")
    if marker is None:
        return _Wanted()
    try:
        return _Wanted(*marker.args, **marker.kwargs)
    except TypeError as error:
        raise pytest.UsageError(f"{request.node.nodeid}: @pytest.mark.gallette: {error}") from None


@pytest.fixture
def gallette_context(
    request: pytest.FixtureRequest, gallette_driver: str
) -> Iterator[moderngl.Context]:
    """A moderngl context, made for this test and released after it.

    `context.fbo` is a framebuffer of 256 x 256 pixels (`@pytest.mark.gallette(size=(w, h))`) with
    depth, which is bound.
    """
    import moderngl

    import gallette

    wanted = _wanted(request)
    window: Any = gallette.moderngl_context(
        gallette_driver, profile=wanted.profile, version=wanted.version
    )
    try:
        context = moderngl.create_context(standalone=True, context=window)
        context.extra = window
        context.simple_framebuffer(wanted.size).use()
        yield context
    finally:
        window.release()


@pytest.fixture
def gallette_gl(
    request: pytest.FixtureRequest, gallette_driver: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[GLInterface]:
    """Makes all OpenGL libraries of this process draw on gallette (Linux).

    A context is current, so that PyOpenGL's functions work at once; it is also the value, with
    OpenGL's functions as methods. pyglet and others make contexts of their own. A library imported
    before may have chosen another OpenGL already: import it inside the test, or call
    `gallette.install()` in conftest.py.
    """
    import sys

    import gallette

    wanted = _wanted(request)
    monkeypatch.setenv("GALLETTE_DRIVER", gallette_driver)
    if "OpenGL.platform" in sys.modules:
        gallette.install()
    else:
        try:
            gallette.pyopengl()
        except ImportError:  # PyOpenGL is not installed
            gallette.install()
    context = gallette.create_context(
        gallette_driver, profile=wanted.profile, version=wanted.version, size=wanted.size
    )
    try:
        yield context
    finally:
        context.release()


# -- programs --------------------------------------------------------------------------------------


@lazy_dataclass(frozen=True)
class ProgramRun:
    """How a program ended, and the frames that it showed."""

    returncode: int
    stdout: str
    stderr: str
    frames: tuple[Path, ...]
    """A PNG file for each frame: what the program showed in a window, or read if it has none."""

    @property
    def picture(self) -> Picture:
        """The last frame: RGBA bytes, top row first."""
        from gallette.golden import picture_of

        if not self.frames:
            pytest.fail(f"the program drew no frame; it wrote\n{self.stdout}{self.stderr}")
        return picture_of(self.frames[-1])


class ProgramRunner:
    """Runs programs on gallette; the fixture `gallette_run` is one."""

    def __init__(self, driver: str, folder: Path) -> None:
        self._driver, self._folder, self._runs = driver, folder, 0

    def __call__(
        self,
        program: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
        *,
        frames: int = 0,
        size: tuple[int, int] | None = None,
        timeout: float = 60.0,
        env: Mapping[str, str] | None = None,
        check: bool = True,
    ) -> ProgramRun:
        """Run a program or Python script with its arguments, for some `frames` or to its end.

        A program that ends with another status than 0 fails the test unless `check` is false; one
        that runs for longer than `timeout` seconds is ended and fails it.
        """
        from gallette.golden.programs import run_program

        words = [program] if isinstance(program, str | os.PathLike) else list(program)
        self._runs += 1
        folder = self._folder / f"frames-{self._runs}"
        found = run_program(
            [os.fspath(word) for word in words],
            self._driver,
            folder=folder,
            frames=frames,
            size=size,
            timeout=timeout,
            env=env,
            capture=True,
        )
        said = f"; it wrote\n{found.stdout}{found.stderr}"
        if found.timed_out:
            pytest.fail(f"{words[0]} ran for longer than {timeout:g} s{said}")
        if check and found.returncode:
            pytest.fail(f"{words[0]} ended with status {found.returncode}{said}")
        return ProgramRun(found.returncode, found.stdout, found.stderr, tuple(found.frames))


@pytest.fixture
def gallette_run(gallette_driver: str, tmp_path: Path) -> ProgramRunner:
    """Runs a program in a process of its own, with gallette as its OpenGL (Linux)."""
    return ProgramRunner(gallette_driver, tmp_path)


# -- golden images ---------------------------------------------------------------------------------


class ImageRegression:
    """Compares pictures with golden images; the fixture `image_regression` is one."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request
        self._update: bool = request.config.getoption("--gallette-update")
        path = Path(request.node.path)
        self.folder = path.parent / "goldens" / path.stem
        self._goldens: Goldens | None = None

    def __call__(
        self,
        image: Any,
        name: str = "",
        *,
        tolerance: Tolerance | float | Mapping[str, Any] | None = None,
    ) -> None:
        """Fail unless a picture is its golden image, within a tolerance.

        `image` is a moderngl framebuffer or texture, a context of `gallette_gl`, an array (top row
        first; bytes, or floats from 0 to 1), a Pillow image, a file's path, or a `ProgramRun`.
        Without a `name` it is the test's. `tolerance` is a number of steps of 1/255, or
        `Tolerance(steps, share, perceptual)`.
        """
        from gallette.golden import Goldens, Tolerance

        if self._goldens is None:
            self._goldens = Goldens(self.folder, update=self._update)
        picture = image.picture if isinstance(image, ProgramRun) else image
        limit = None if tolerance is None else Tolerance.of(tolerance)
        found = self._goldens.check(name or self._test(), picture, limit)
        if not found.ok:
            pytest.fail(self._message(found), pytrace=False)

    def _test(self) -> str:
        """The test's name and parameters, without the driver, which must not change the picture."""
        name = re.sub(r"^test_?", "", self._request.node.name)
        callspec = getattr(self._request.node, "callspec", None)
        if callspec is not None and "gallette_driver" in callspec.params:
            inside = callspec.id.split("-")
            inside.remove(callspec.params["gallette_driver"])
            name = f"{name.partition('[')[0]}{''.join(f'[{i}]' for i in ('-'.join(inside),) if i)}"
        return name

    def _message(self, found: Comparison) -> str:
        from gallette.golden.folder import file_name
        from gallette.golden.pictures import write_picture
        from gallette.golden.reports import write_page

        place: Path = self._request.getfixturevalue("tmp_path")
        assert found.seen is not None
        seen = place / file_name(found.name)
        write_picture(seen, found.seen)
        test = self._request.node.nodeid
        hint = f"If the picture is right: `pytest {test} --gallette-update`"
        page = write_page([found], place / f"{seen.stem}.html", test, hint)
        return (
            f"{found.name}: {found}\n  golden: {found.golden}\n  seen:   {seen}\n  page:   {page}\n"
            f"If the picture is right, run pytest with --gallette-update to make it the golden."
        )


@pytest.fixture
def image_regression(request: pytest.FixtureRequest) -> ImageRegression:
    """Compares pictures with the golden images in `goldens/` beside the test."""
    return ImageRegression(request)
