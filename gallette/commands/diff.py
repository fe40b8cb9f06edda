"""`gallette diff`: scenes on two implementations, compared pass by pass."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from gallette import default_driver
from gallette.capture.container import is_capture
from gallette.capture.differ import CaptureDiff
from gallette.compare import SceneDiff, compare
from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import write_whole
from gallette.render import render_on_cluster, render_scenes
from gallette.terminal import console, progress_bar

__all__ = ["DiffReport", "add_arguments", "print_diffs", "run", "run_diffs"]


@dataclass(slots=True)
class DiffReport:
    """Everything a report wants to show."""

    ours: str
    theirs: str
    ours_renderer: str
    theirs_renderer: str
    tolerance: float
    note: str
    scenes: list[SceneDiff]
    options: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return all(s.ok for s in self.scenes)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "scenes",
        nargs="*",
        metavar="SCENE",
        help="scenes, moderngl scripts or captures (default: all scenes)",
    )
    parser.add_argument("--list", action="store_true", help="list the scenes")
    parser.add_argument("--driver", help="our side (default: GALLETTE_DRIVER)")
    parser.add_argument("--against", default="native", metavar="DRIVER", help="the other side")
    parser.add_argument("--tolerance", type=_steps, default=1.0, metavar="N", help="steps of 1/255")
    parser.add_argument("--html", type=Path, metavar="DIR", help="write a report")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of our driver, such as inexact_used_once=always",
    )
    parser.add_argument("--frame", type=int, metavar="N", help="of a capture, only this frame")
    parser.add_argument("--png", type=Path, metavar="DIR", help="save the pictures")
    parser.add_argument(
        "--cluster", default="", metavar="ADDRESS", help="on a dask.distributed cluster, or local:N"
    )
    parser.add_argument("--record", action="store_true", help="store references from native GL")


def _steps(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"{text}: a tolerance is 0 or more")
    return value


def run(options: argparse.Namespace) -> int:
    from gallette.scenes import SCENES

    out = console()
    if options.list:
        for s in SCENES.values():
            mark = "multi-pass" if s.multipass else ""
            out.print(f"[bold]{s.name:<16}[/] {mark:<11} {s.doc}")
        return 0
    captures = any(is_capture(name) or name.endswith(".gcap") for name in options.scenes)
    _check_kind(options, captures)
    if captures:
        return _diff_captures(out, options)
    scenes = check_scenes(options.scenes, "gallette diff", scripts=not options.record)
    if options.record:
        from gallette.references import FOLDER, record

        rendering = record(scenes)
        size = sum(p.stat().st_size for p in FOLDER.iterdir()) / 1e6
        out.print(f"recorded {len(scenes)} scenes from {rendering.renderer} ({size:.2f} MB)")
        return 0
    driver = options.driver or default_driver()
    from gallette.running import check_driver

    check_driver(driver)
    if options.against != "native":  # for the machine's own choice recorded pictures can stand in
        check_driver(options.against)
    report = run_diffs(
        scenes,
        driver,
        options.against,
        options.tolerance,
        parse_options(options.option),
        options.cluster,
    )
    print_diffs(out, report)
    if options.html is not None:
        from gallette.reports.html import write_diff

        out.print(f"report: {write_diff(report, options.html)}", markup=False)
    if options.png is not None:
        out.print(f"pictures: {save_pictures(report, options.png)}", markup=False)
    return 0 if report.ok else 1


_OF_SCENES = ("option", "html", "png", "cluster", "record")


def _check_kind(options: argparse.Namespace, captures: bool) -> None:
    """Nothing is said that only the other kind of comparison hears."""
    if captures:
        for name in _OF_SCENES:
            if getattr(options, name):
                raise GalletteError(f"gallette diff: --{name} is for scenes, not for captures")
    elif options.frame is not None:
        raise GalletteError("gallette diff: --frame is for captures, not for scenes")


def _diff_captures(out: Console, options: argparse.Namespace) -> int:
    """Captures, call by call: the first draw that differs, in each of them."""
    from gallette.capture.differ import diff_capture
    from gallette.running import check_driver

    driver = options.driver or default_driver()
    for side in (driver, options.against):
        check_driver(side)
    status = 0
    for name in options.scenes:
        if not is_capture(name):
            raise GalletteError(f"gallette diff: {name} is no capture; scenes and captures apart")
        diff = diff_capture(name, driver, options.against, options.tolerance, options.frame)
        print_capture_diff(out, diff)
        status |= not diff.ok
    return int(status)


def print_capture_diff(out: Console, diff: CaptureDiff) -> None:
    """The verdict on a capture, and the draw to look at."""
    path = diff.capture.path
    for note in diff.notes:
        out.print(Text(note, style="yellow"))
    if diff.first is None:
        out.print(
            f"{path}: {diff.ours} and {diff.theirs} agree after each of "
            f"{len(diff.capture.draws())} drawing calls ({diff.compared} pictures)",
            markup=False,
        )
        return
    first = diff.first
    groups = " / ".join(diff.capture.groups.get(first.call.number, ()))
    out.print(Text(f"{path}: the first call that differs is {first.call.number}", style="bold red"))
    out.print(f"  {first.call}{f'   in {groups}' if groups else ''}", markup=False)
    for found in first.attachments:
        x, y = found.place
        ours, theirs = (", ".join(f"{v:.6g}" for v in side) for side in (found.ours, found.theirs))
        out.print(
            f"  {found.attachment}: {found.beyond} of {found.pixels} pixels, most at {x},{y}: "
            f"{diff.ours} ({ours}), {diff.theirs} ({theirs})",
            markup=False,
        )
        out.print(f"  why: gallette pixel {path} {x},{y} --driver {diff.ours}", markup=False)
    rest = len(diff.draws) - 1
    if rest:
        out.print(f"  {rest} later calls differ as well", markup=False)


def save_pictures(report: DiffReport, folder: Path) -> Path:
    """One PNG per pass: ours, theirs and the heat map side by side."""
    import numpy as np

    from gallette.pictures import png_bytes

    for scene in report.scenes:
        for p in scene.passes:
            row = np.concatenate([p.ours, p.theirs, p.heat], axis=1)
            name = f"{Path(scene.name).stem}-{p.name.replace(' ', '_')}.png"
            write_whole(folder / name, png_bytes(row), folder=True)
    return folder


def check_scenes(names: Sequence[str], command: str, scripts: bool = False) -> list[str]:
    """The scenes asked for, all of them by default; moderngl `scripts` too where they can be."""
    from difflib import get_close_matches

    from gallette.scenes import SCENES

    for name in names:
        if name.endswith(".py"):
            if not scripts or not Path(name).is_file():
                why = "no such file" if scripts else "a script; this command wants a scene"
                raise GalletteError(f"{command}: {name}: {why}")
        elif name not in SCENES:
            close = get_close_matches(name, SCENES, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"scenes: {', '.join(SCENES)}"
            raise GalletteError(f"{command}: unknown scene {name!r}; {hint}")
    return list(names) or list(SCENES)


def parse_options(texts: Sequence[str]) -> dict[str, str]:
    result = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise GalletteError(f"gallette diff: --option wants NAME=VALUE, not {text!r}")
        result[name] = value
    return result


def run_diffs(
    scenes: list[str],
    driver: str,
    against: str,
    tolerance: float,
    options: dict[str, str],
    cluster: str = "",
) -> DiffReport:
    """Render both sides with progress, compare."""
    from gallette.references import native_or_recorded

    out = console()
    with progress_bar(out) as bar:
        sides = [bar.add_task(f"scenes on {d}", total=None, note="") for d in (against, driver)]

        def step(side: int) -> None:
            bar.update(sides[side], advance=1)

        if cluster:
            theirs, note = render_on_cluster(cluster, against, scenes, lambda name: step(0)), ""
        else:
            theirs, note = native_or_recorded(against, scenes, lambda name: step(0))
        total = sum(map(len, theirs.passes.values()))
        bar.update(sides[0], total=total, completed=total)
        bar.update(sides[1], total=total)
        if cluster:
            ours = render_on_cluster(cluster, driver, scenes, lambda name: step(1), options)
        else:
            ours = render_scenes(driver, scenes, lambda name: step(1), options)
    return DiffReport(
        driver,
        theirs.driver,
        ours.renderer,
        theirs.renderer,
        tolerance,
        note,
        compare(ours, theirs, scenes, tolerance),
        options,
    )


_VERDICTS = {"identical": "green", "close": "green", "different": "red"}


def print_diffs(out: Console, report: DiffReport) -> None:
    if report.note:
        out.print(f"[yellow]{escape(report.note)}[/]")
    table = Table(title=escape(f"{report.ours} against {report.theirs_renderer or report.theirs}"))
    for name, justify in (("scene", "left"), ("pass", "left"), ("verdict", "left")):
        table.add_column(name, justify=justify)  # type: ignore[arg-type]
    table.add_column("coverage mismatch", justify="right")
    table.add_column("max difference", justify="right")
    table.add_column(f"over {report.tolerance:g}/255", justify="right")
    for scene in report.scenes:
        if scene.error:
            row = (escape(scene.name), escape(scene.error.strip()), "[red]error[/]", "", "", "")
            table.add_row(*row)
        for i, p in enumerate(scene.passes):
            table.add_row(
                escape(scene.name) if i == 0 else "",
                escape(p.name),
                f"[{_VERDICTS[p.verdict]}]{p.verdict}[/]",
                str(p.coverage_mismatch),
                f"{p.max_difference:.3g}",
                f"{p.over_tolerance:.3%}",
                end_section=i == len(scene.passes) - 1,
            )
    out.print(table)
    good = sum(s.ok for s in report.scenes)
    out.print(f"{good} of {len(report.scenes)} scenes agree")
    for scene in (s for s in report.scenes if not s.ok):
        worst = [p.name for p in scene.passes if p.verdict not in ("identical", "close")]
        what = ", ".join(worst) or "error"
        name = escape(scene.name)
        out.print(f"[red]{name}[/]: {escape(what)}; gallette diff {name}")
