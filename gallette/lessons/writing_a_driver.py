"""Lesson: a driver in three steps, the last of which draws real scenes."""

from __future__ import annotations

import inspect
from typing import Any

from gallette.compare import to_rgb8
from gallette.compiler.errors import GalletteError
from gallette.drivers.noop import NoopContext, NoopScreen
from gallette.lessons.page import Block, Code, Page, Pictures, Prose, Table, lesson
from gallette.pipe.interface import Screen
from gallette.pipe.state import DrawInfo
from gallette.render import render_scenes
from gallette.scenes.common import Pass

__all__ = ["CountingScreen", "draw_with"]

SCENES = ("shadow_map", "depth_prepass", "transparency")


class CountingContext(NoopContext):  # type: ignore[misc]
    """Accepts everything, draws nothing, and counts."""

    def __init__(self, screen: NoopScreen) -> None:
        super().__init__(screen)
        self.draws = self.vertices = 0

    def draw_vbo(self, info: DrawInfo) -> None:
        self.draws += 1
        self.vertices += info.count


class CountingScreen(NoopScreen):
    """Claims every capability, because it keeps no promise."""

    name = "counting"

    def context_create(self) -> Any:
        return CountingContext(self)


def draw_with(screen: Screen, scene: str) -> tuple[list[Pass], Any]:
    """A scene on a screen of this process: its passes, and the pipe context they went through."""
    import moderngl

    from gallette.scenes import SCENES as ALL
    from gallette.state_tracker.context import Context

    gl: Any = Context(screen=screen)
    try:
        ctx = moderngl.create_context(standalone=True, context=gl)
        ctx.extra = gl  # for scenes that call OpenGL itself
        return list(ALL[scene].render(ctx, ALL[scene].size)), gl.pipe
    finally:
        gl.release()


@lesson("writing_a_driver", "Writing a driver", chapter="Doing it yourself", place=30)
def run(page: Page, driver: str) -> None:
    """From a driver that draws nothing to one that shows overdraw, in a page of code.

    What an interface asks for, what can be inherited, and what a driver declares it cannot do.
    """
    from gallette.lessons.examples import overdraw

    page.section(
        "What a driver is",
        """The state tracker is OpenGL; it knows no driver. It asks a *screen* (the device) for a
        *context* (a stream of commands), makes immutable state objects there, binds them, and
        draws. The driver sees no GL enum and no GL error: those are settled above it.""",
    )
    page.section(
        "Step one: nothing, but counted",
        """Every method of the interface that nobody wrote is derived from the interface itself,
        so the shortest driver overrides one. It is a proper driver: programs run on it.""",
    )
    page.add(Code(_source(CountingContext, CountingScreen), "python"))
    rows: list[tuple[str, ...]] = []
    for name in SCENES:
        page.progress(f"counting: {name}")
        _, pipe = draw_with(CountingScreen(), name)
        rows.append((name, str(pipe.draws), f"{pipe.vertices:,}"))
    page.add(Table(("scene", "draws", "vertices"), rows))
    page.section(
        "Step two: what can be borrowed",
        """Nobody writes all of a driver. `drivers/common` has a context that keeps what is bound,
        memory and transfers, clears and copies, vertex fetch, assembly, clipping, an exact
        rasterizer, variants with their cache and log. What is left to the driver is what makes it
        different. This one shows how often each pixel is covered: it runs vertex shaders in the
        reference interpreter and no fragment shader at all.""",
    )
    page.add(Code(inspect.getsource(overdraw).strip(), "python", "the whole driver"))
    page.section(
        "Step three: scenes on it",
        "Blue: covered once, green twice, yellow three times, red four times or more.",
    )
    truth = render_scenes(driver, list(SCENES))
    for name in SCENES:
        page.progress(f"drawing: {name}")
        states: list[tuple[str, list[Block]]] = []
        passes, _ = draw_with(overdraw.OverdrawScreen(), name)
        states.append(("overdraw", [_picture(f"{name}, overdraw", passes[-1])]))
        if name in truth.passes:
            states.append((driver, [_picture(f"{name}, {driver}", truth.passes[name][-1])]))
        page.flip(f"{name}: the same calls, two drivers", *states)
    page.section(
        "Saying what one cannot do",
        """A screen has *caps*. `lower_clamp_color` asks the state tracker to clamp colours in the
        shader; with `instancing=False` it draws instances one by one; no compute stage is named,
        so there is no compute. What is not declared is not exposed: the OpenGL version of a
        context follows from the caps.""",
    )
    try:
        draw_with(overdraw.OverdrawScreen(), "terrain")
    except Exception as error:  # moderngl's own exception for what the context lacks
        page.add(Code(str(error).strip(), "text", "terrain computes its heights: not here"))
    page.section(
        "Shipping it",
        """A package names the screen in the entry-point group `gallette.drivers`. That is all:
        `--driver overdraw` and `GALLETTE_DRIVER` find it, `gallette drivers` lists it, and
        `trace:overdraw` records its calls.""",
    )
    entry = '[project.entry-points."gallette.drivers"]\noverdraw = "my_package:OverdrawScreen"'
    page.add(Code(entry, "toml", "pyproject.toml"))
    page.add(Prose("The driver in `docs/drivers.md` goes on from here: fragment shaders, depth,"
                   " blending, textures, and bound state that becomes a variant."))  # fmt: skip
    page.ask(
        "Who may change the shader that `create_shader_state` was given?",
        """Whoever holds the only reference. The caller gave one away; `mutable()` gives the shader
        itself if nobody else has one, and a clone otherwise. The borrowed `ShaderObject` does
        that.""",
    )
    page.ask(
        "Why does the picture of `depth_prepass` have the same colour everywhere?",
        """Every pixel is drawn twice, once for depth and once for colour. A driver that resolves
        visibility before shading shades it once all the same, and this one, which tests no
        depth, cannot know.""",
    )
    page.tries(
        ("gallette drivers numpipe", "the caps and options of a driver"),
        ("gallette trace shadow_map --driver trace:noop", "every call the driver gets"),
        (
            "GALLETTE_CAPS=two_sided_color=0 gallette trace lit_mesh",
            "a driver that suddenly cannot do something: the state tracker lowers it",
        ),
    )


def _source(*things: type) -> str:
    text = "\n\n".join(inspect.getsource(t).strip() for t in things)
    return text.replace("  # type: ignore[misc]", "")


def _picture(caption: str, drawn: Pass) -> Pictures:
    try:
        return Pictures([(caption, to_rgb8(drawn.color))])
    except GalletteError:
        return Pictures([])
