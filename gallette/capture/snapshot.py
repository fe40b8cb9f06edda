"""Reads a replay's framebuffer after every call that draws: `python -m gallette.capture.snapshot
CAPTURE DRIVER [FRAME]` is a process that does only this.

Pictures are read through OpenGL itself, so that it works on every implementation, and state changed
for reading is restored. The process writes each snapshot to its standard output, a line of JSON
and the pictures that changed, and waits until the reader takes it: a capture of a thousand draws
takes no more memory than one of ten.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from gallette.capture.container import CaptureError, content_hash
from gallette.capture.replay import Replayer
from gallette.capture.story import Call, Target, open_capture
from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.piglit_subset.environment import child_command, child_environment
from gallette.state_tracker.entry_points.enums import GL

Image = npt.NDArray[Any]
_PACK = (
    GL.PACK_ALIGNMENT, GL.PACK_ROW_LENGTH, GL.PACK_SKIP_ROWS, GL.PACK_SKIP_PIXELS,
)  # fmt: skip


@lazy_dataclass(frozen=True)
class Snapshot:
    """The pictures that a call left behind: attachment -> content hash and picture (bottom row
    first).
    """

    read_after: int  # the number of the call after which they were read
    call: int  # the call that drew them
    pictures: dict[str, tuple[str, Image]]
    samples: int = 0  # of the framebuffer, if it has several


@lazy_dataclass()
class Snapshots:
    """The snapshots of a replay, in their order, and its errors, which are known at the end."""

    driver: str
    taken: Iterable[Snapshot]
    errors: list[str] = field(default_factory=list)


def _named(picture: Image) -> tuple[str, Image]:
    whole = np.ascontiguousarray(picture)
    head = f"{whole.shape}{whole.dtype}".encode()  # black and depth zero are the same bytes
    return content_hash(head + whole.tobytes()), whole


def read_attachments(gl: Any, target: Target) -> dict[str, Image]:
    """The bound draw framebuffer's attachments, without those that cannot be read."""
    saved = _Saved(gl)
    found: dict[str, Image] = {}
    try:
        saved.prepare()
        for index, format in enumerate(target.colors):
            if format is not None:
                image = _color(gl, saved, target, index, format)
                if image is not None:
                    found[f"colour {index}"] = image
        if target.depth is not None and target.samples < 2 and not gl.profile.startswith("es"):
            found |= _depth(gl, target)
    finally:
        saved.restore()
    return found


class _Saved:
    """State that is saved and restored around reading."""

    def __init__(self, gl: Any):
        self.gl = gl
        es = gl.profile.startswith("es")
        self.has_read_buffer = not es or gl.requested_version >= (2, 0)
        self.source = GL.BACK
        self.draw = gl.get_integerv(GL.DRAW_FRAMEBUFFER_BINDING)[0]
        self.read = gl.get_integerv(GL.READ_FRAMEBUFFER_BINDING)[0]
        self.pack = [gl.get_integerv(p)[0] for p in _PACK]
        self.buffer = gl.get_integerv(GL.PIXEL_PACK_BUFFER_BINDING)[0]

    def prepare(self) -> None:
        gl = self.gl
        if self.buffer:
            gl.bind_buffer(GL.PIXEL_PACK_BUFFER, 0)
        for pname, value in zip(_PACK, (1, 0, 0, 0), strict=True):
            gl.pixel_storei(pname, value)
        if self.read != self.draw:
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, self.draw)
        if self.has_read_buffer:
            self.source = gl.get_integerv(GL.READ_BUFFER)[0]
        while gl.get_error():  # of the program, or because OpenGL ES 1.1 lacks a query
            pass

    def restore(self) -> None:
        gl = self.gl
        if self.has_read_buffer:
            gl.read_buffer(self.source)
        if self.read != self.draw:
            gl.bind_framebuffer(GL.READ_FRAMEBUFFER, self.read)
        for pname, value in zip(_PACK, self.pack, strict=True):
            gl.pixel_storei(pname, value)
        if self.buffer:
            gl.bind_buffer(GL.PIXEL_PACK_BUFFER, self.buffer)
        while gl.get_error():
            pass


def _color(gl: Any, saved: _Saved, target: Target, index: int, format: str) -> Image | None:
    es = gl.profile.startswith("es")
    source = saved.source if es else gl.get_integerv(GL.DRAW_BUFFER0 + index)[0]
    if source == GL.NONE:
        return None
    width, height = target.width, target.height
    if source in (GL.FRONT_AND_BACK, GL.FRONT_LEFT, GL.BACK_LEFT):
        source = GL.BACK if source != GL.FRONT_LEFT else GL.FRONT
    if saved.has_read_buffer:
        gl.read_buffer(source)
    dtype: Any = np.float32
    kind, layout = GL.FLOAT, GL.RGBA
    if format.endswith("UINT"):
        kind, dtype, layout = GL.UNSIGNED_INT, np.uint32, GL.RGBA_INTEGER
    elif format.endswith("SINT"):
        kind, dtype, layout = GL.INT, np.int32, GL.RGBA_INTEGER
    elif ("UNORM" in format and "16" not in format and "10" not in format) or "SRGB" in format:
        kind, dtype = GL.UNSIGNED_BYTE, np.uint8
    if target.samples > 1:
        return _resolved(gl, saved, target, format) if layout == GL.RGBA else None
    data = gl.read_pixels(0, 0, width, height, layout, kind)
    if gl.get_error() or len(data) != width * height * 4 * dtype().itemsize:
        return None
    image = np.frombuffer(data, dtype).reshape(height, width, 4)
    if "A" not in format.removesuffix("FLOAT"):  # another window may have what this one lacks
        image = image.copy()
        image[..., 3] = 255 if dtype is np.uint8 else 1
    return image


_SAME = {"R8G8B8A8_UNORM": GL.RGBA8, "R8G8B8X8_UNORM": GL.RGB8, "R16G16B16A16_FLOAT": GL.RGBA16F}


def _resolved(gl: Any, saved: _Saved, target: Target, format: str) -> Image | None:
    """A multisampled buffer, through one of one sample; in OpenGL ES that has the same format."""
    width, height = target.width, target.height
    storage = _SAME.get(format) if gl.profile.startswith("es") else GL.RGBA32F
    if storage is None:
        return None
    dtype: Any = np.uint8 if storage in (GL.RGBA8, GL.RGB8) else np.float32
    bound = gl.get_integerv(GL.RENDERBUFFER_BINDING)[0]
    scissor = gl.is_enabled(GL.SCISSOR_TEST)
    frame, buffer = gl.gen_framebuffers(1)[0], gl.gen_renderbuffers(1)[0]
    try:
        gl.disable(GL.SCISSOR_TEST)
        gl.bind_renderbuffer(GL.RENDERBUFFER, buffer)
        gl.renderbuffer_storage(GL.RENDERBUFFER, storage, width, height)
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, frame)
        gl.framebuffer_renderbuffer(
            GL.DRAW_FRAMEBUFFER, GL.COLOR_ATTACHMENT0, GL.RENDERBUFFER, buffer
        )
        box = (0, 0, width, height)
        gl.blit_framebuffer(*box, *box, GL.COLOR_BUFFER_BIT, GL.NEAREST)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, frame)
        kind = GL.UNSIGNED_BYTE if dtype is np.uint8 else GL.FLOAT
        data = gl.read_pixels(*box, GL.RGBA, kind)
    finally:
        gl.bind_framebuffer(GL.DRAW_FRAMEBUFFER, saved.draw)
        gl.bind_framebuffer(GL.READ_FRAMEBUFFER, saved.draw)
        gl.bind_renderbuffer(GL.RENDERBUFFER, bound)
        gl.delete_framebuffers(1, [frame])
        gl.delete_renderbuffers(1, [buffer])
        if scissor:
            gl.enable(GL.SCISSOR_TEST)
    if gl.get_error() or len(data) != width * height * 4 * dtype().itemsize:
        return None
    return np.frombuffer(data, dtype).reshape(height, width, 4)


def _depth(gl: Any, target: Target) -> dict[str, Image]:
    found: dict[str, Image] = {}
    width, height = target.width, target.height
    name = target.depth or ""
    if "Z" in name:
        data = gl.read_pixels(0, 0, width, height, GL.DEPTH_COMPONENT, GL.FLOAT)
        if not gl.get_error() and len(data) == width * height * 4:
            found["depth"] = np.frombuffer(data, np.float32).reshape(height, width, 1)
    if "S8" in name:
        data = gl.read_pixels(0, 0, width, height, GL.STENCIL_INDEX, GL.UNSIGNED_BYTE)
        if not gl.get_error() and len(data) == width * height:
            found["stencil"] = np.frombuffer(data, np.uint8).reshape(height, width, 1)
    return found


def _buffers(gl: Any, binding: int, most: int) -> dict[str, Image]:
    """The contents of indexed buffers: results of compute shaders and of transform feedback."""
    found: dict[str, Image] = {}
    before = gl.get_integerv(GL.COPY_READ_BUFFER_BINDING)[0]
    try:
        for index in range(most):
            name = gl.get_integeri_v(binding, index)
            name = name[0] if isinstance(name, list | tuple) else name
            if not name:
                continue
            gl.bind_buffer(GL.COPY_READ_BUFFER, name)
            size = gl.get_buffer_parameteriv(GL.COPY_READ_BUFFER, GL.BUFFER_SIZE)
            size = size[0] if isinstance(size, list | tuple) else size
            if 0 < size <= 1 << 26:
                room = np.zeros(size, np.uint8)
                gl.get_buffer_sub_data(GL.COPY_READ_BUFFER, 0, size, room)
                found[f"buffer {index}"] = room.reshape(1, -1, 1)
    finally:
        gl.bind_buffer(GL.COPY_READ_BUFFER, before)
        while gl.get_error():
            pass
    return found


def take_snapshots(
    path: str | Path,
    driver: str,
    frame: int | None = None,
    keep: Callable[[Snapshot], object] | None = None,
) -> Snapshots:
    """Replay in this process and read the framebuffer after every drawing call (of one frame or
    all). Each snapshot is given to `keep`, or else they are collected.
    """
    capture = open_capture(path)
    taken: list[Snapshot] = []
    seen = Snapshots(driver or capture.driver, taken)
    keep = keep or taken.append
    last = [0]
    incomplete: list[str] = []

    def take(call: Call, pictures: dict[str, Image], samples: int = 0) -> None:
        named = {attachment: _named(picture) for attachment, picture in pictures.items()}
        keep(Snapshot(call.number, last[0], named, samples))

    def look(call: Call, gl: Any) -> None:
        if frame is not None and call.frame != frame:
            return
        if call.name == "EndTransformFeedback" and last[0]:
            take(call, _buffers(gl, GL.TRANSFORM_FEEDBACK_BUFFER_BINDING, 4))
        if not call.draws:
            return
        last[0] = call.number
        if call.name.startswith("DispatchCompute"):
            take(call, _buffers(gl, GL.SHADER_STORAGE_BUFFER_BINDING, 8))
        elif call.target is None or not (any(call.target.colors) or call.target.depth):
            return
        # (OpenGL ES 1.1 lacks the function, which answers 0 then.)
        elif gl.check_framebuffer_status(GL.FRAMEBUFFER) in (0, GL.FRAMEBUFFER_COMPLETE):
            several = call.target.samples > 1  # of which this GL may have rounded up the number
            samples = gl.get_integerv(GL.SAMPLES)[0] if several else 0
            take(call, read_attachments(gl, call.target), samples)
        else:  # where this GL has fewer samples, formats or attachments than the recorded one
            most = gl.get_integerv(GL.MAX_SAMPLES)[0]
            incomplete.append(
                f"call {call.number}, {call}: the framebuffer is incomplete here; it has "
                f"{call.target.samples} samples where it was recorded, GL_MAX_SAMPLES is {most}"
            )

    player = Replayer(capture, driver)
    with np.errstate(all="ignore"):
        done = player.run(max((c.number for c in capture.draws(frame)), default=0) + 8, look)
    seen.errors = [*incomplete[:1], *done.errors]
    return seen


class RunningReplay(Snapshots):
    """The snapshots of a process, which are read once."""

    def __init__(self, driver: str, process: subprocess.Popen[bytes], complaints: IO[bytes]):
        super().__init__(driver, self._read())
        self._process = process
        self._complaints = complaints

    def _read(self) -> Iterator[Snapshot]:
        stream = self._process.stdout
        assert stream is not None
        kept: dict[str, tuple[str, Image]] = {}
        ended = False
        while (line := stream.readline()).endswith(b"\n"):
            facts = json.loads(line)
            if "errors" in facts:
                self.errors, ended = facts["errors"], True
                break
            for attachment, name, dtype, shape, size in facts["changed"]:
                data = stream.read(size)
                if len(data) < size:
                    break
                kept[attachment] = name, np.frombuffer(data, dtype).reshape(shape)
            else:
                pictures = {attachment: kept[attachment] for attachment in facts["pictures"]}
                yield Snapshot(facts["read_after"], facts["call"], pictures, facts["samples"])
        status = self._process.wait()
        if status or not ended:
            self._complaints.seek(0)
            errors = self._complaints.read().decode(errors="replace")
            lines = errors.strip().splitlines() or ["it ended without a word"]
            tail = lines[-1] if status == 2 else "\n".join(lines[-6:])
            raise CaptureError(f"replay on {self.driver}: {tail}")

    def __enter__(self) -> RunningReplay:
        return self

    def __exit__(self, *_: object) -> None:
        """End the process, also where its snapshots were not read to the end."""
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._process.kill()
        self._process.wait()
        self._complaints.close()


def start_snapshots(path: str | Path, driver: str, frame: int | None = None) -> RunningReplay:
    """Replay in a separate process, because a native driver may crash, and Mesa loads one per
    process.
    """
    wanted = [str(frame)] if frame is not None else []
    env = child_environment(driver)
    # llvmpipe's linear rasterizer, for plain rectangles, mixes up the channels of products of
    # uniforms in windows without alpha (Mesa 22.3).
    env.setdefault("LP_PERF", "no_rast_linear")
    complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed by RunningReplay
    process = subprocess.Popen(
        child_command("gallette.capture.snapshot", str(path), driver, *wanted),
        stdout=subprocess.PIPE,
        stderr=complaints,
        env=env,
    )
    return RunningReplay(driver, process, complaints)


def _child(out: IO[bytes], path: str, driver: str, frame: str = "") -> int:
    """Write the snapshots of a replay, of each what changed, and at last the errors."""
    sent: dict[str, str] = {}

    def write(facts: dict[str, Any], changed: Iterable[Image] = ()) -> None:
        out.write(json.dumps(facts).encode() + b"\n")
        for picture in changed:
            out.write(picture.data)
        out.flush()

    def keep(taken: Snapshot) -> None:
        changed = {
            attachment: (name, picture)
            for attachment, (name, picture) in taken.pictures.items()
            if sent.get(attachment) != name
        }
        sent.update((attachment, name) for attachment, (name, _) in changed.items())
        facts = {
            "read_after": taken.read_after,
            "call": taken.call,
            "samples": taken.samples,
            "pictures": list(taken.pictures),
            "changed": [
                (attachment, name, picture.dtype.str, picture.shape, picture.nbytes)
                for attachment, (name, picture) in changed.items()
            ],
        }
        write(facts, (picture for _, picture in changed.values()))

    try:
        seen = take_snapshots(path, driver, int(frame) if frame else None, keep)
    except GalletteError as error:
        print(error, file=sys.stderr)
        return 2
    write({"errors": seen.errors})
    return 0


def _main() -> int:
    os.environ.pop("GALLETTE_CAPTURE", None)
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what libraries print is a complaint
        return _child(out, *sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(_main())
