"""Measure the time of a frame on several drivers, side by side.

A frame is what the benchmark draws plus reading the picture back; the median is shown. Each driver
runs in a process of its own, and frames alternate between drivers, so that a busy moment of the
machine slows all of them alike.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gallette import default_driver
from gallette.benchmarks.captures import captures_in, last_frame
from gallette.benchmarks.report import geometric_mean, ratios, update_page
from gallette.benchmarks.sides import Side, measure
from gallette.compiler.errors import GalletteError
from gallette.compiler.output_files import write_whole
from gallette.terminal import console, progress_bar, table

if TYPE_CHECKING:
    from gallette.scenes import Scene

# Drivers of Mesa that may be named without `native:`.
_NATIVE = ("softpipe", "llvmpipe", "zink")


def run(options: argparse.Namespace) -> int:
    from gallette.benchmarks import BENCHMARKS, find, read_scenes

    own = read_scenes(options.scenes) if options.scenes else []
    if options.list:
        for b in BENCHMARKS.values():
            print(f"{b.name:<18}{b.doc}")
        return 0
    if options.repeat < 1:
        raise GalletteError("gallette bench: --repeat must be at least 1")
    captures = captures_in(options.captures) if options.captures else []
    names = [*options.benchmarks, *captures] or own or list(BENCHMARKS)
    if options.size:
        sizes = options.size.split(",")
        names = [f"{name.partition('@')[0]}@{size.strip()}" for name in names for size in sizes]
    benchmarks = [find(name) for name in names]
    wanted = f"{options.driver or default_driver()},{options.against}".split(",")
    drivers = [d.strip() for d in wanted if d.strip()]
    if captures and "noop" not in drivers:
        drivers.append("noop")  # the time that Python takes for the calls
    drivers = [f"native:{d}" if d in _NATIVE else d for d in drivers]
    with progress_bar(console()) as bar:
        total = len(names) * (options.repeat + 1) * len(drivers)
        task = bar.add_task("frames", total=total, note="")

        def step(note: str) -> None:
            bar.update(task, note=note, advance=1)

        sides = measure(
            names,
            drivers,
            options.repeat,
            options.profile,
            options.memory,
            step,
            str(options.scenes or ""),
        )
    _print_table(benchmarks, sides, options.processor)
    if options.profile:
        _print_profiles(names, sides)
    if options.memory:
        _print_memory(names, sides)
    if captures:
        _print_captures(captures, sides)
    if options.limits:
        _print_limits(names, sides, options.processor, str(options.scenes or ""))
    if options.json is not None:
        _write_json(options.json, names, sides)
        console().print(f"figures: {options.json}", markup=False)
    if options.docs is not None:
        chart = update_page(options.docs, sides, names, options.processor)
        console().print(f"table: {options.docs}, chart: {chart}", markup=False)
    return 1 if any(side.errors for side in sides) else 0


def _print_table(benchmarks: list[Scene], sides: list[Side], processor: bool) -> None:

    out = console()
    ours, *others = sides
    names = [each.name for each in benchmarks]
    what = "processor time" if processor else "draw plus read back"
    rows = table(out, f"milliseconds per frame ({what}, median)")
    rows.add_column("benchmark")
    for side in sides:
        rows.add_column(side.name, justify="right")
    for side in others:
        rows.add_column(f"{side.name} / ours", justify="right")
    sized = any("@" in name for name in names)
    if sized:
        rows.add_column(f"{ours.name}, ns a pixel", justify="right")
    compared = [ratios(ours, side, names, processor) for side in others]
    for each in benchmarks:
        name = each.name
        cells = [_milliseconds(side, name, processor) for side in sides]
        cells += [_ratio(found.get(name)) for found in compared]
        if sized:
            median = ours.median(name, processor)
            cells.append(f"{median * 1e9 / math.prod(each.size):.1f}" if median else "")
        rows.add_row(name, *cells)
    if others:
        means = [_ratio(geometric_mean(list(found.values()))) for found in compared]
        rows.add_section()
        rows.add_row("geometric mean", *[""] * len(sides), *means)
    out.print(rows)
    if others:
        out.print("above 1x: ours is faster")
    for side in sides:
        for name, error in side.errors.items():
            out.print(f"{side.driver}, {name}: {error}", markup=False)


def _ratio(value: float | None) -> str:
    if not value:
        return ""
    return f"[{'green' if value > 1 else 'red'}]{value:.2f}x[/]"


def _milliseconds(side: Side, name: str, processor: bool) -> str:
    from rich.markup import escape

    if name in side.errors:
        return "[red]error[/]"
    if name in side.lacks:
        return escape(side.lacks[name])
    median = side.median(name, processor)
    return "" if median is None else f"{median * 1000:.1f}"


def _print_profiles(names: list[str], sides: list[Side]) -> None:

    from gallette.benchmarks.profiling import PARTS

    for side in sides:
        if not side.profiles:
            continue
        out = console()
        rows = table(out, f"{side.driver}: time by part of the driver, in per cent")
        rows.add_column("benchmark")
        for part in PARTS:
            rows.add_column(part, justify="right")
        for name in names:
            shares = side.profiles.get(name)
            if shares:
                rows.add_row(name, *(f"{shares[part] * 100:.0f}" for part in PARTS))
        out.print(rows)
        for part, doc in PARTS.items():
            console().print(f"{part}: {doc}")


def _print_memory(names: list[str], sides: list[Side]) -> None:

    for side in sides:
        if not side.memory:
            continue
        out = console()
        rows = table(out, f"{side.driver}: memory of a frame, MiB")
        for column in ("benchmark", "peak", "attachments", "vertices and indices", "times"):
            rows.add_column(column, justify="left" if column == "benchmark" else "right")
        for name in names:
            found = side.memory.get(name)
            if found is not None:
                sizes = (found.peak, found.attachments, found.vertices)
                cells = [f"{size / (1 << 20):.1f}" for size in sizes]
                rows.add_row(name, *cells, f"{found.ratio:.1f}")
        out.print(rows)
    console().print("times: the peak without vertices and indices, over the attachments")


def _print_captures(names: list[str], sides: list[Side]) -> None:
    from gallette.benchmarks.limits import bounds

    out = console()
    rows = table(out, "the last frame of captures, and milliseconds to its first picture")
    rows.add_column("capture")
    for column in ("calls", "draws", "pixels", *(side.name for side in sides)):
        rows.add_column(column, justify="right")
    work = bounds(names)
    for name in names:
        calls = last_frame(Path(name))[1]
        pixels = f"{work[name].pixels}" if name in work else ""
        cells = [f"{len(calls)}", f"{sum(call.draws for call in calls)}", pixels]
        firsts = [side.first.get(name) for side in sides]
        cells += ["" if first is None else f"{first * 1000:.1f}" for first in firsts]
        rows.add_row(Path(name).stem, *cells)
    out.print(rows)
    out.print("noop draws nothing: its frame is what Python takes for the calls")


def _print_limits(names: list[str], sides: list[Side], processor: bool, scenes: str) -> None:
    from gallette.benchmarks.limits import bounds, machine_rates

    # Processor time is the sum of all threads, so its bound is that of one.
    one, every = machine_rates()
    rates = one if processor else every
    out = console()
    rows = table(out, "the machine's bound of a frame, and times of drivers relative to it")
    rows.add_column("benchmark")
    for column in ("MB moved", "million operations", "bound, ms", *(s.name for s in sides)):
        rows.add_column(column, justify="right")
    for name, work in bounds(names, scenes).items():
        bound = work.seconds(rates)
        cells = [f"{work.bytes / 1e6:.1f}", f"{work.operations / 1e6:.1f}", f"{bound * 1e3:.3f}"]
        medians = [side.median(name, processor) for side in sides]
        cells += ["" if t is None or not bound else f"{t / bound:.1f}x" for t in medians]
        rows.add_row(name, *cells)
    out.print(rows)
    for what, each in (("one thread", one), ("all threads", every)):
        speed = f"{each.bytes / 1e9:.1f} GB and {each.operations / 1e9:.0f} billion operations"
        out.print(f"{what}: {speed} a second", highlight=False)


def _write_json(path: Path, names: list[str], sides: list[Side]) -> None:
    def medians(side: Side, processor: bool) -> dict[str, Any]:
        return {n: side.median(n, processor) for n in names}

    document = {
        "unit": "seconds",
        "sides": [
            {
                "driver": side.driver,
                "renderer": side.renderer,
                "median": medians(side, False),
                "processor": medians(side, True),
                "first_frame": side.first,
                "frames": side.times,
                "profile": side.profiles,
                "memory": {name: found.table() for name, found in side.memory.items()},
                "errors": side.errors,
            }
            for side in sides
        ],
    }
    write_whole(path, json.dumps(document, indent=1) + "\n")
