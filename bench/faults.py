"""Deliberate mistakes of a driver: which scenes show them to `gallette diff`, and does
`gallette diff CAPTURE` name the draw they were made in?

    python bench/faults.py [--scenes all] [FAULT...]

For every mistake of the driver `faulty`: the scenes (of those that stand for a mistake, or of all)
whose pictures differ by more than a step of 1/255; then, on a capture of the scene that stands for
it, the first call that differs when every draw is spoiled, and when only the last one is in which
the mistake shows. Both must be calls the driver says it spoiled.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gallette.capture import Capture, Replayer, open_capture
from gallette.capture.differ import compare_snapshots
from gallette.capture.snapshot import Snapshots, take_snapshots
from gallette.capture.targets import record_target
from gallette.compare import compare
from gallette.render import Rendering, render_scenes
from gallette.scenes import SCENES

# A scene on which the mistake shows.
SCENE_OF = {
    "half_pixel": "gradient",
    "depth_range": "lit_mesh",
    "upside_down": "gradient",
    "culls_wrong_side": "cutaway",
    "culls_unasked": "cutaway",
    "no_clip_planes": "cutaway",
    "depth_bias": "hair",
    "thick_lines": "lines_points",
    "large_points": "lines_points",
    "depth_func": "lit_mesh",
    "no_depth_write": "lit_mesh",
    "no_depth_test": "lit_mesh",
    "no_stencil_test": "mirrors",
    "stencil_keeps": "mirrors",
    "blend_factor": "transparency",
    "no_blending": "transparency",
    "blend_subtracts": "transparency",
    "loses_blue": "gradient",
    "filters_wrong": "textured_quads",
    "wraps_wrong": "textured_quads",
    "level_bias": "textured_quads",
    "shadow_compare": "shadow_map",
    "swaps_red_and_blue": "textured_quads",
    "attribute_offset": "gradient",
    "buffer_offset": "gradient",
    "loses_last_primitive": "gradient",
    "loses_instance": "instances",
    "index_bias": "cutaway",
    "clear_colour": "textured_quads",
    "clear_depth": "lit_mesh",
    "clear_forgotten": "lit_mesh",
    "blit_flips": "cutaway",
    "scissor_off_by_one": "cutaway",
}


@dataclass(slots=True)
class Naming:
    """What `diff CAPTURE` says: calls of the capture."""

    spoiled: dict[int, int]  # GL call -> number of the pipe's draw that was spoiled
    everywhere: Any = None  # the call it names when every draw is spoiled
    only: Any = None  # the one draw that is then spoiled alone
    once: Any = None  # the call it names in that case

    @property
    def right(self) -> bool:
        named = self.everywhere is not None and self.everywhere.number in self.spoiled
        return named and self.once is not None and self.once.number == self.only


def spoiled_calls(capture: Capture, fault: str) -> dict[int, int]:
    """Where the driver says it made its mistake."""
    contexts: list[Any] = []
    found: dict[int, int] = {}

    def look(call: Any, gl: Any) -> None:
        for number in (n for c in contexts for n in c.pipe.spoiled):
            if number not in found.values():
                found[call.number] = number

    Replayer(capture, f"faulty:{fault}", after_create=contexts.append).run(after=look)
    return found


def named(fault: str, capture: Capture, clean: Snapshots) -> Naming:
    """Spoil every draw, then the last one alone in which it shows."""
    result = Naming(spoiled_calls(capture, fault))
    diff = compare_snapshots(capture, take_snapshots(capture.path, f"faulty:{fault}"), clean, 0)
    if diff.first is None:
        return result
    result.everywhere = diff.first.call
    shown = [d.call.number for d in diff.draws if d.call.number in result.spoiled]
    for only in dict.fromkeys((*shown[-1:], diff.first.call.number)):
        # If the last one only shows what an earlier draw had spoiled, the first one is it.
        driver = f"faulty:{fault}@{result.spoiled.get(only, 0)}"
        once = compare_snapshots(capture, take_snapshots(capture.path, driver), clean, 0).first
        result.only = only
        if once is not None:
            result.once = once.call
            break
    return result


def caught(fault: str, scenes: list[str], clean: Rendering) -> list[str]:
    """The scenes whose pictures show the mistake."""
    wrong = render_scenes(f"faulty:{fault}", scenes)
    return [diff.name for diff in compare(wrong, clean, scenes, 1.0) if not diff.ok]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--scenes", choices=["some", "all"], default="some")
    parser.add_argument("faults", nargs="*", metavar="FAULT")
    options = parser.parse_args()
    scenes = sorted(set(SCENE_OF.values())) if options.scenes == "some" else list(SCENES)
    pictures = render_scenes("numpipe", scenes)
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        kept: dict[str, tuple[Capture, Snapshots]] = {}
        for fault in options.faults or SCENE_OF:
            name = SCENE_OF[fault]
            if name not in kept:
                path = Path(folder) / f"{name}.gcap"
                record_target(name, path, "numpipe")
                kept[name] = open_capture(path), take_snapshots(path, "numpipe")
            seen = caught(fault, scenes, pictures)
            naming = named(fault, *kept[name])
            good = bool(seen) and naming.right
            bad += not good
            print(
                f"{fault:<20} {len(seen):>2} of {len(scenes)} scenes ({', '.join(seen[:3])}); "
                f"{name}: spoiled everywhere, first {_told(naming.everywhere)}; "
                f"in call {naming.only} alone: {_told(naming.once)}"
                f"{'' if good else '   MISSED'}",
                flush=True,
            )
    return bool(bad)


def _told(call: Any) -> str:
    return "none" if call is None else f"{call.number} {call.name}"


if __name__ == "__main__":
    raise SystemExit(main())
