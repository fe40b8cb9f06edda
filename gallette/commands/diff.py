"""Render on two drivers, or compare with golden images, pass by pass and pixel by pixel.

A scene is a moderngl script that yields a picture per pass; your own script names its pictures with
gallette.mark(). Of a capture, pictures are compared after every draw, and the first one that
differs is shown. The command ends with 1 if a picture differs by more than the tolerance.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.text import Text

from gallette import default_driver
from gallette.capture.container import is_capture
from gallette.capture.differ import CaptureDiff
from gallette.commands.comparing import compare_goldens, report_goldens, talking, tolerance_option
from gallette.compare import PassDiff, SceneDiff, compare
from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.output_files import write_whole
from gallette.pipe.settings import ALIASES
from gallette.render import render_on_cluster, render_scenes
from gallette.terminal import console, counted, progress_bar, table


@lazy_dataclass()
class DiffReport:
    """The results of a comparison, for the reports."""

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


def run(options: argparse.Namespace) -> int:
    from gallette.scenes import BENCHMARKS, SCENES

    out = talking(options)
    if options.list:
        timed = {name: s for name, s in BENCHMARKS.items() if name not in SCENES}
        for s in {**SCENES, **timed}.values():
            mark = "multi-pass" if s.multipass else "benchmark" if s.name in timed else ""
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
    _check_options(driver, parse_options(options.option))
    if options.golden is not None:
        return _diff_goldens(options, driver, scenes)
    against = options.against or "native"
    if against != "native":  # for the machine's own choice recorded pictures can stand in
        check_driver(against)
    report = run_diffs(
        scenes,
        driver,
        against,
        tolerance_option(options).steps,
        parse_options(options.option),
        options.cluster,
        options.timeout,
    )
    print_diffs(out, report, _again(options))
    if options.html is not None:
        from gallette.reports.html import write_diff

        out.print(f"report: {write_diff(report, options.html)}", markup=False)
    if options.png is not None:
        out.print(f"pictures: {save_pictures(report, options.png)}", markup=False)
    _write_verdicts(options, report)
    return 0 if report.ok else 1


def _again(options: argparse.Namespace) -> str:
    """The options that repeat this comparison."""
    words = [f"--{name} {getattr(options, name)}" for name in ("driver", "against")
             if getattr(options, name)]  # fmt: skip
    if options.tolerance is not None:
        words.append(f"--tolerance {options.tolerance:g}")
    return " ".join([*words, *(f"--option {text}" for text in options.option)])


def _diff_goldens(options: argparse.Namespace, driver: str, scenes: list[str]) -> int:
    """Scenes and scripts, each pass against its golden image."""
    good = True
    out = talking(options)
    with progress_bar(out) as bar:
        task = bar.add_task(f"scenes on {driver}", total=None, note="")
        rendering = render_scenes(
            driver,
            scenes,
            lambda name: bar.update(task, advance=1),
            parse_options(options.option),
            options.timeout,
        )
    found = []
    for name in scenes:
        passes = [(p.name, p.color[::-1]) for p in rendering.passes.get(name, ())]
        error = rendering.errors.get(name)
        found.append(
            compare_goldens(
                options.golden / Path(name).stem,
                passes,
                tolerance_option(options),
                update=options.update,
                title=name,
                errors=[] if error is None else [error],
            )
        )
    good = report_goldens(options, found, f"{', '.join(map(str, scenes[:3]))} on {driver}")
    return 0 if good else 1


def _write_verdicts(options: argparse.Namespace, report: DiffReport) -> None:
    """Write the verdicts for scripts and CI systems."""
    from gallette.golden.reports import write_json
    from gallette.piglit_subset.junit import Case, write_cases

    if options.json is not None:
        write_json({"ok": report.ok, **_data(report)}, options.json)
    if options.junit is not None:
        cases = []
        for scene in report.scenes:
            seconds = scene.seconds[0]
            if scene.error:
                head = scene.error.split("\n")[0]
                cases.append(Case(scene.name, "scene", "error", head, scene.error, "", seconds))
            for p in scene.passes:
                kind, why = ("", "") if p.ok else ("failure", _difference(p))
                cases.append(Case(scene.name, p.name, kind, why, why, "", seconds))
        write_cases(f"{report.ours} against {report.theirs}", cases, options.junit)


def _data(report: DiffReport) -> dict[str, Any]:
    return {
        "driver": report.ours,
        "against": report.theirs,
        "tolerance": report.tolerance,
        "note": report.note,
        "scenes": [
            {
                "name": scene.name,
                "verdict": scene.verdict,
                "error": scene.error.strip(),
                "passes": [
                    {
                        "name": p.name,
                        "verdict": p.verdict,
                        "coverage_mismatch": p.coverage_mismatch,
                        "max_difference": p.max_difference,
                        "over_tolerance": p.over_tolerance,
                        "pixels": p.pixels,
                    }
                    for p in scene.passes
                ],
            }
            for scene in report.scenes
        ],
    }


def _difference(p: PassDiff) -> str:
    return (
        f"coverage differs in {p.coverage_mismatch} pixels; "
        f"{p.over_tolerance:.3%} of the pixels differ by more than the tolerance, "
        f"the largest difference is {p.max_difference:.3g}/255"
    )


_OF_SCENES = (
    "option", "html", "png", "cluster", "record", "golden", "json", "junit", "timeout"
)  # fmt: skip
_OF_GOLDENS = ("update", "share", "perceptual")


def _check_kind(options: argparse.Namespace, captures: bool) -> None:
    """Refuse options that this kind of comparison would ignore."""
    for name in () if options.golden is not None else _OF_GOLDENS:
        if getattr(options, name) and not (captures and name == "share"):
            raise GalletteError(f"gallette diff: --{name} needs --golden")
    for name in ("against", "png", "cluster", "record") if options.golden is not None else ():
        if getattr(options, name):
            raise GalletteError(f"gallette diff: --{name} and --golden cannot be used together")
    if captures:
        for name in _OF_SCENES:
            if getattr(options, name):
                raise GalletteError(f"gallette diff: --{name} cannot be used with captures")
    elif options.frame is not None:
        raise GalletteError("gallette diff: --frame needs a capture")


def _diff_captures(out: Console, options: argparse.Namespace) -> int:
    """Compare after each call of each capture, and show the first draw that differs."""
    from gallette.capture.differ import diff_capture
    from gallette.running import check_driver

    driver, against = options.driver or default_driver(), options.against or "native"
    for side in (driver, against):
        check_driver(side)
    status = 0
    for name in options.scenes:
        if not is_capture(name):
            raise GalletteError(
                f"gallette diff: {name} is not a capture; compare scenes separately"
            )
        steps = tolerance_option(options).steps
        diff = diff_capture(name, driver, against, steps, options.frame, options.share)
        print_capture_diff(out, diff)
        status |= not diff.ok
    return int(status)


def print_capture_diff(out: Console, diff: CaptureDiff) -> None:
    """Print whether a capture draws the same on both drivers, or the first draw that differs."""
    path = diff.capture.path
    for note in diff.notes:
        out.print(Text(note, style="yellow"))
    if diff.first is None:
        draws = counted(len(diff.capture.draws(diff.frame)), "draw")
        out.print(
            f"{path}: {diff.ours} and {diff.theirs} agree after each of {draws} "
            f"({counted(diff.compared, 'picture')})",
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
            f"  {found.attachment}: {found.beyond} of {found.pixels} pixels differ, most at "
            f"{x},{y}: {diff.ours} ({ours}), {diff.theirs} ({theirs})",
            markup=False,
        )
        out.print(
            f"  find out why: gallette pixel {path} {x},{y} --driver {diff.ours}", markup=False
        )
    if len(set(first.samples)) > 1:
        mine, other = first.samples
        out.print(f"  {diff.ours} has {mine} samples there, {diff.theirs} {other}", markup=False)
    rest = len(diff.draws) - 1
    if rest:
        out.print(f"  {counted(rest, 'later call')} differ{'s' * (rest == 1)}, too", markup=False)


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
    """The requested scenes, by default all of them; moderngl `scripts` too where allowed."""
    from gallette.scenes import BENCHMARKS, SCENES, find_scene

    for name in names:
        if name.endswith(".py"):
            if not scripts or not Path(name).is_file():
                why = "no such file" if scripts else "needs a scene, not a script"
                raise GalletteError(f"{command}: {name}: {why}")
        elif find_scene(name) is None:
            known = {**SCENES, **BENCHMARKS}
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"scenes: {', '.join(known)}"
            raise GalletteError(f"{command}: unknown scene {name!r}; {hint}")
    return list(names) or list(SCENES)


def parse_options(texts: Sequence[str]) -> dict[str, str]:
    result = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise GalletteError(f"gallette diff: --option needs NAME=VALUE, not {text!r}")
        result[name] = value
    return result


def _check_options(driver: str, options: Mapping[str, str]) -> None:
    """Refuse an option that the driver under test does not have."""
    from gallette.pipe.loader import driver_factory
    from gallette.pipe.settings import known_options

    if not options:
        return
    base, _, inner = driver.partition(":")
    if base == "native":
        raise GalletteError("gallette diff: --option needs a driver of gallette, not native")
    known = [name for part in filter(None, (base, inner))
             for name in known_options(driver_factory(part)) if name != "inner"]  # fmt: skip
    for name in options:
        if ALIASES.get(name, name) not in known:
            close = get_close_matches(name, known, 1)
            hint = f"did you mean {close[0]!r}?" if close else f"options: {', '.join(known)}"
            raise GalletteError(f"gallette diff: {driver} has no option {name!r}; {hint}")


def run_diffs(
    scenes: list[str],
    driver: str,
    against: str,
    tolerance: float,
    options: dict[str, str],
    cluster: str = "",
    timeout: float | None = None,
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
            theirs, note = native_or_recorded(against, scenes, lambda name: step(0), timeout)
        total = sum(map(len, theirs.passes.values()))
        bar.update(sides[0], total=total, completed=total)
        bar.update(sides[1], total=total)
        if cluster:
            ours = render_on_cluster(cluster, driver, scenes, lambda name: step(1), options)
        else:
            ours = render_scenes(driver, scenes, lambda name: step(1), options, timeout)
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


def print_diffs(out: Console, report: DiffReport, again: str = "") -> None:
    """Print the table, and the command that compares a differing scene again."""
    if report.note:
        out.print(f"[yellow]{escape(report.note)}[/]")
    rows = table(out, escape(f"{report.ours} against {report.theirs_renderer or report.theirs}"))
    for name in ("scene", "pass", "verdict"):
        rows.add_column(name, no_wrap=name == "verdict")
    rows.add_column("coverage differs", justify="right")
    rows.add_column("largest", justify="right")
    rows.add_column(f"over {report.tolerance:g}/255", justify="right")
    for scene in report.scenes:
        if scene.error:
            row = (escape(scene.name), escape(scene.error.strip()), "[red]error[/]", "", "", "")
            rows.add_row(*row)
        for i, p in enumerate(scene.passes):
            rows.add_row(
                escape(scene.name) if i == 0 else "",
                escape(p.name),
                f"[{_VERDICTS[p.verdict]}]{p.verdict}[/]",
                str(p.coverage_mismatch),
                f"{p.max_difference:.3g}",
                f"{p.over_tolerance:.3%}",
                end_section=i == len(scene.passes) - 1,
            )
    out.print(rows)
    good = sum(s.ok for s in report.scenes)
    out.print(f"{good} of {len(report.scenes)} scenes agree")
    for scene in (s for s in report.scenes if not s.ok):
        worst = [p.name for p in scene.passes if p.verdict not in ("identical", "close")]
        what = ", ".join(worst) or "error"
        name = escape(scene.name)
        command = f"gallette diff {name} {escape(again)}".rstrip()
        out.print(f"[red]{name}[/] differs in {escape(what)}; run again: {command}")
