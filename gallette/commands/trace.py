"""List every draw of a run, with the state changed before it and the variants compiled for it.

A scene, a shader_test or a capture is traced. Any other program or script is run and its OpenGL
calls are recorded to a capture, for `gallette replay`, `diff`, `pixel` and `inspect`.
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from rich.console import Console
from rich.text import Text

from gallette import default_driver
from gallette.capture import Capture, open_capture
from gallette.capture.container import is_capture
from gallette.capture.targets import check_target, record_target
from gallette.compiler.errors import GalletteError
from gallette.golden.programs import run_program
from gallette.terminal import console, counted
from gallette.tracing import Event, TraceStory, trace_target


def _is_program(target: str) -> bool:
    """Whether the target is a program, rather than a scene, a test or a capture."""
    from gallette.scenes import find_scene

    if target.endswith(".shader_test") or find_scene(target) or is_capture(target):
        return False
    if target.endswith(".gcap"):
        return False
    return bool(shutil.which(target)) or Path(target).is_file()


def run(options: argparse.Namespace) -> int:
    from gallette.running import check_driver

    target = options.target
    driver = options.driver or default_driver()
    if driver.split(":")[0] == "native":
        raise GalletteError("gallette trace: needs a driver of gallette, not native")
    out = console()
    if _is_program(target):
        check_driver(driver)
        path = options.output or Path(Path(target).stem + ".gcap")
        status = _record_program(options, driver, path)
        _summary(out, path)
        return status
    if options.arguments:
        raise GalletteError(f"gallette trace: {target} takes no arguments")
    check_target(target, "gallette trace")
    check_driver(driver)
    if is_capture(target) and options.calls:
        _print_calls(out, open_capture(target))
        return 0
    if options.output is not None:
        out.print(record_target(target, options.output, driver), markup=False)
        _summary(out, options.output)
        return 0
    story = trace_target(target, driver, options.json)
    if options.html is not None:
        from gallette.reports.html import write_trace

        out.print(f"report: {write_trace(story, options.html)}", markup=False)
        return 0
    _print(out, story, options.all)
    return 0


def _record_program(options: argparse.Namespace, driver: str, path: Path) -> int:
    """Run the program as `gallette run` does, and record its calls."""
    done = run_program(
        [options.target, *options.arguments],
        driver,
        frames=options.frames,
        timeout=options.timeout,
        record=path,
    )
    if done.timed_out:
        console().print(f"{options.target} was ended after {options.timeout:g} s", markup=False)
    if not is_capture(path):
        raise GalletteError(f"gallette trace: {options.target} made no OpenGL calls")
    return 1 if done.timed_out else done.returncode


def _summary(out: Console, path: Path) -> None:
    capture = open_capture(path)
    parts = [counted(len(capture.calls), "call"), counted(len(capture.draws()), "draw")]
    if capture.frames > 1:
        parts.append(counted(capture.frames, "frame"))
    parts.append(counted(capture.reader.resources, "resource"))
    out.print(
        f"{path}: {', '.join(parts)}, {path.stat().st_size / 1e3:.0f} kB",
        markup=False,
    )


def _print_calls(out: Console, capture: Capture) -> None:
    frame = draw = 0
    groups: tuple[str, ...] = ()
    for call in capture.calls:
        if call.frame != frame and capture.frames > 1:
            out.print(f"frame {call.frame}", style="bold yellow")
        frame = call.frame
        now = capture.groups.get(call.number, ())
        if now != groups and now:
            out.print(f"       {' / '.join(now)}", style="yellow", markup=False)
        groups = now
        draw += call.draws
        place = f"  (draw {draw})" if call.draws else ""
        out.print(Text(f"{call.number:>6} {call}{place}", style="bold" if call.draws else ""))


def _print(out: Console, story: TraceStory, everything: bool) -> None:
    for event in story.events:
        _print_event(out, event, everything)
    out.print(
        f"{counted(len(story.events), 'draw')} in {counted(story.calls, 'call')} to the driver, "
        f"{counted(story.resources, 'resource')}; "
        f"{story.outcome}",
        markup=False,
    )


def _print_event(out: Console, event: Event, everything: bool) -> None:
    out.print(
        Text(f"{event.place}: {event.call}", style="bold"),
        event.text,
        Text(f"{event.microseconds} us", style="bright_black"),
        markup=False,
    )
    for variant in event.variants:
        out.print(Text("       new variant ", style="yellow"), variant, sep="", markup=False)
    for key, value in (event.state if everything else event.changes).items():
        shown = value if len(value) < 160 else value[:157] + "..."
        out.print(Text(f"       {key}: ", style="cyan"), Text(shown), sep="")
