"""Records the calls of the pipe: every draw of a run, its state, and the picture after it.

The target, a scene, a shader_test or a capture, runs on `trace:DRIVER` in a process of its own
(`python -m gallette.tracing`), which writes the trace and a small picture of the framebuffer after
each call that draws. `read_trace` then replays the bind and set calls to find the state of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.output_files import write_whole
from gallette.pictures import grey_range, to_rgb8
from gallette.piglit_subset.environment import child_command, child_environment
from gallette.pipe.taps import DRAWING, PipeCall, tap

MAX_PICTURES = 64
Image = npt.NDArray[Any]


@lazy_dataclass()
class Caused:
    """An OpenGL call, and the pipe calls made in it."""

    number: int
    text: str
    calls: list[str] = field(default_factory=list)


@lazy_dataclass()
class Event:
    """One call that draws: its arguments in words, the bound state, and the state changed before
    it.
    """

    number: int  # of the OpenGL call that it was made in
    draw: int  # which drawing call that is
    call: str
    text: str
    microseconds: int
    changes: dict[str, str]
    state: dict[str, str]
    pictures: dict[str, Image] = field(default_factory=dict)  # by attachment
    variants: list[str] = field(default_factory=list)
    caused: list[Caused] = field(default_factory=list)  # since the draw before

    @property
    def place(self) -> str:
        """The call numbers in words, as all commands print them."""
        return f"call {self.number}, draw {self.draw}"


@lazy_dataclass()
class TraceStory:
    """A traced run."""

    target: str
    driver: str
    events: list[Event] = field(default_factory=list)
    calls: int = 0
    resources: int = 0
    outcome: str = ""


def trace_target(target: str, driver: str, keep: Path | None = None) -> TraceStory:
    """Run a scene, shader_test or capture under `trace:driver`; `keep` is called with the JSON
    lines.
    """
    with tempfile.TemporaryDirectory() as folder:
        lines, pictures = Path(folder) / "trace.jsonl", Path(folder) / "pictures.npz"
        env = {**child_environment(driver), "GALLETTE_TRACE": str(lines)}
        done = subprocess.run(
            child_command("gallette.tracing", driver, target, str(pictures)),
            env=env,
            capture_output=True,
            text=True,
            check=False,
        )
        if os.environ.get("GALLETTE_DEBUG") and done.stderr:
            print(done.stderr, end="", file=sys.stderr)  # what the flags asked for
        if done.returncode == 2:
            raise GalletteError(done.stderr.strip())
        if done.returncode or not lines.exists():
            last = (done.stderr.strip().splitlines() or ["nothing was traced"])[-1]
            raise GalletteError(f"{target} on {driver}: {last}")
        story = TraceStory(target, driver, outcome=done.stdout.strip())
        text = lines.read_text(encoding="utf-8")
        if keep is not None:
            write_whole(keep, text)
        images: dict[int, dict[str, Image]] = {}
        seen: dict[str, Any] = {"variants": {}, "places": {}, "calls": {}}
        about = pictures.with_suffix(".json")
        if about.exists():
            seen = json.loads(about.read_text(encoding="utf-8"))
        if pictures.exists():
            with np.load(pictures) as arrays:
                for name in arrays.files:
                    number, _, attachment = name.partition(" ")
                    images.setdefault(int(number), {})[attachment] = arrays[name]
    read_trace(story, text, images, **seen)
    return story


class _Replay:
    """The state of the pipe, derived from the traced calls."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}  # handles and resources, described
        self.bound: dict[str, str] = {}

    def describe(self, value: Any) -> str:
        """A traced value in words: names are resolved, defaults are already left out."""
        if isinstance(value, str):
            return self.made.get(value, value)
        if isinstance(value, dict):
            if "bytes" in value:
                return f"{value['bytes']} bytes {value.get('hex', '#' + value['sha1'])}"
            inner = ", ".join(
                f"{k} {self.describe(v)}" for k, v in value.items() if k not in ("type", "label")
            )
            return inner or "defaults"
        if isinstance(value, list):
            if len(value) > 4 and all(v == value[0] for v in value):
                return f"{len(value)} times {self.describe(value[0])}"
            shown = [self.describe(v) for v in value if v is not None]
            return "; ".join(shown) if len(str(shown)) > 60 else ", ".join(shown)
        if isinstance(value, float):
            return f"{value:g}"
        return str(value).lower() if isinstance(value, bool) else str(value)

    def told(self, record: dict[str, Any]) -> str:
        """A call as text."""
        given = {k: v for k, v in record.get("args", {}).items() if v is not None}
        arguments = ", ".join(f"{k}={self.describe(v)}" for k, v in given.items())
        result = record.get("result")
        return f"{record['call']}({arguments})" + (f" -> {result}" if result is not None else "")

    def follow(self, record: dict[str, Any]) -> None:
        call, args = record["call"], record.get("args", {})
        if call == "resource_create":
            d = args["desc"]
            size = "x".join(str(d[k]) for k in ("width", "height", "depth") if k in d)
            label = d.get("label") or record["result"]
            self.made[record["result"]] = f"{label} ({d['format']} {size})"
        elif call.startswith("create_") and "result" in record:
            given = {k: v for k, v in args.items() if v is not None}
            if "shader" in given:
                given = {"shader": given["shader"].get("name", "")}
            value = next(iter(given.values())) if len(given) == 1 else given
            self.made[record["result"]] = self.describe(value)
        elif call.startswith(("bind_", "set_")) and call != "set_failure_callback":
            self._bind(call, dict(args))

    def _bind(self, call: str, args: dict[str, Any]) -> None:
        name = call.removeprefix("bind_").removeprefix("set_").removesuffix("_state")
        where = [str(args.pop(k)).lower() for k in ("stage", "index") if k in args]
        start = args.pop("start", 0)
        if start:
            where.append(f"from {start}")
        # "fragment constant buffer 0": stage first, index last.
        stages = [w for w in where if not w[-1].isdigit()]
        key = " ".join([*stages, name.replace("_", " "), *(w for w in where if w not in stages)])
        value = next(iter(args.values())) if len(args) == 1 else args
        if value in (None, {}) or (isinstance(value, list) and not any(value)):
            self.bound.pop(key, None)
        else:
            self.bound[key] = self.describe(value)


def read_trace(
    story: TraceStory,
    text: str,
    images: dict[int, dict[str, Image]],
    variants: dict[str, list[str]],
    places: dict[str, tuple[int, int]],
    calls: dict[str, str],
) -> None:
    """Fill a story from JSON lines and the records made after calls: pictures, new variants, the
    numbers of the OpenGL call and of the draw, and the texts of OpenGL calls by number.
    """
    replay = _Replay()
    last: dict[str, str] = {}
    caused: list[Caused] = []
    for line in text.splitlines():
        record = json.loads(line)
        story.calls += 1
        story.resources += record["call"] == "resource_create"
        replay.follow(record)
        number = record.get("gl", 0)
        if not caused or caused[-1].number != number:
            caused.append(Caused(number, calls.get(str(number), "before the first call")))
        caused[-1].calls.append(_shortened(replay.told(record)))
        if record["call"] not in DRAWING:
            continue
        now = dict(replay.bound)
        changes = {k: v for k, v in now.items() if last.get(k) != v}
        changes |= {k: "nothing" for k in last if k not in now}
        args = record.get("args", {})
        shown = args.get("info", args)
        story.events.append(
            Event(
                *places.get(str(record["n"]), (0, 0)),
                record["call"],
                replay.describe(shown),
                int(record.get("us", 0)),
                changes,
                now,
                images.get(record["n"], {}),
                variants.get(str(record["n"]), []),
                caused,
            )
        )
        last, caused = now, []


def _shortened(text: str, most: int = 160) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


# -- the child ------------------------------------------------------------------------------------


@lazy_dataclass()
class _Seen:
    """The records made after calls that draw, by the number of the call."""

    pictures: dict[str, Image] = field(default_factory=dict)  # "number attachment"
    variants: dict[str, list[str]] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    calls: dict[int, str] = field(default_factory=dict)  # OpenGL calls that caused some
    known: int = 0


def _watch(gl: Any, seen: _Seen) -> None:
    """Record, after every call that draws, a picture of the framebuffer and the new variants."""
    pipe = gl.pipe
    framebuffer: Any = None

    def bind(call: PipeCall) -> None:
        nonlocal framebuffer
        call.run()
        framebuffer = call.arguments["state"]

    def look(call: PipeCall) -> None:
        call.run()
        number = str(pipe.writer.count - 1)
        seen.places[number] = gl.call_number, gl.draw_number
        new = pipe.variant_log.since(seen.known)
        seen.known = pipe.variant_log.total
        if new:
            seen.variants[number] = [f"{e.stage}: {e.key} ({e.reason})" for e in new]
        if framebuffer is not None and len(seen.pictures) < MAX_PICTURES:
            for attachment, picture in _pictures(pipe.inner, framebuffer).items():
                seen.pictures[f"{number} {attachment}"] = picture

    def stamp() -> dict[str, Any]:
        seen.calls.setdefault(gl.call_number, "")
        return {"gl": gl.call_number}

    pipe.writer.stamp = stamp
    tap(pipe, ["set_framebuffer_state"], bind)
    tap(pipe, DRAWING, look)


def _pictures(inner: Any, state: Any) -> dict[str, Image]:
    """Every attachment as pictures; the name of a depth has the values shown as black and white."""
    if not (state.width and state.height):
        return {}
    bound = [(f"colour {i}", c) for i, c in enumerate(state.cbufs)] + [("depth", state.zsbuf)]
    found = {}
    for name, surface in bound:
        if surface is not None:
            image, shown = _picture(inner, surface, state)
            told = "" if shown == (0.0, 1.0) else f" ({shown[0]:.4g} black, {shown[1]:.4g} white)"
            found[name + told] = image
    return found


def _picture(inner: Any, surface: Any, state: Any) -> tuple[Image, tuple[float, float]]:
    """One attachment as 8-bit RGB, top row first, at most 256 wide, and the range it shows."""
    from gallette.pipe import codecs
    from gallette.pipe.enums import MapFlags
    from gallette.pipe.state import Box

    box = Box(0, 0, surface.first_layer, state.width, state.height, 1)
    transfer = inner.transfer_map(surface.resource, surface.level, MapFlags.READ, box)
    data = transfer.data[0].copy()
    inner.transfer_unmap(transfer)
    step = max(1, -(-state.width // 256))
    if surface.format.is_depth_stencil:
        raw = codecs.texels(surface.format, data)
        depth = np.asarray(codecs.unpack_depth(surface.format, raw), np.float32)
        rgb = np.repeat(depth.reshape(state.height, state.width, 1), 3, axis=-1)
        shown = grey_range(rgb)
    else:
        rgb, shown = codecs.unpack(surface.format, data)[..., :3].astype(np.float32), (0.0, 1.0)
    return to_rgb8(rgb[::step, ::step], shown), shown


def _run(target: str, driver: str, seen: _Seen) -> str:
    """Run the target, observed; returns the result in words.

    Targets other than captures are captured first: the driver `trace` has other extensions, and a
    program that queries them makes other calls than those that `gallette pixel` numbers.
    """
    from gallette.capture import open_capture
    from gallette.capture.container import is_capture
    from gallette.capture.targets import record_target, run_target

    with tempfile.TemporaryDirectory() as folder:
        path, outcome = target, ""
        if target.endswith(".shader_test") or not is_capture(target):
            path = str(Path(folder, "run.gcap"))
            outcome = record_target(target, Path(path), driver)
        done = run_target(path, f"trace:{driver}", lambda gl: _watch(gl, seen))
        calls = {c.number: c for c in open_capture(path).calls} if is_capture(path) else {}
        seen.calls = {n: _shortened(str(calls[n])) for n in seen.calls if n in calls}
    return outcome or done


def _child(driver: str, target: str, out: Path) -> int:
    seen = _Seen()
    try:
        print(_run(target, driver, seen))
    except GalletteError as error:
        print(error, file=sys.stderr)
        return 2
    arrays: dict[str, Any] = dict(seen.pictures)
    np.savez(out, **arrays)
    out.with_suffix(".json").write_text(
        json.dumps({"variants": seen.variants, "places": seen.places, "calls": seen.calls}),
        encoding="utf-8",
    )
    return 0


if __name__ == "__main__":
    os.environ.setdefault("GALLETTE_TRACE", os.devnull)
    raise SystemExit(_child(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
