"""Program binaries: the inputs of a program's link, packed, for linking again.

The compiler here is the driver's own, so a binary needs no machine code: it holds the sources of
the shaders and all state set before linking. It is valid for one version of gallette and one kind
of context; others reject it, as OpenGL permits.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gallette.compiler.errors import GalletteError
from gallette.state_tracker.entry_points.dispatch import OMITTED
from gallette.state_tracker.entry_points.enums import GL
from gallette.state_tracker.entry_points.errors import (
    GLError,
    invalid_enum,
    invalid_operation,
    invalid_value,
)
from gallette.state_tracker.entry_points.memory import Pointer, read_bytes, write_bytes
from gallette.state_tracker.entry_points.registry import entry
from gallette.state_tracker.getters import gets
from gallette.state_tracker.limits import GALLETTE_VERSION
from gallette.state_tracker.shading.programs import STAGES, ProgramObject, ShaderObject
from gallette.state_tracker.shading.shader_sources import ShaderSource, number, text

if TYPE_CHECKING:
    from gallette.state_tracker.context import Context

FORMAT = int(GL.PROGRAM_BINARY_FORMAT_MESA)
_MAGIC = b"gallette program "
_LONGEST = 1 << 26
"""Limit on the bytes of an unpacked binary."""
_MOST_SHADERS = 256

_MODES = {"interleaved": int(GL.INTERLEAVED_ATTRIBS), "separate": int(GL.SEPARATE_ATTRIBS)}


def _kind(ctx: Context) -> str:
    return f"{GALLETTE_VERSION} {ctx.profile} {ctx.driver}"


def binary_of(ctx: Context, program: ProgramObject) -> bytes:
    """The binary of a linked program."""
    options = program.linked_with
    described = {
        "made by": _kind(ctx),
        "shaders": [origin.described() for origin in program.linked_from],
        "attributes": options.attrib_bindings,
        "outputs": options.frag_data_bindings,
        "varyings": options.xfb_varyings,
        "mode": _MODES[options.xfb_mode],
        "separable": options.separable,
    }
    return _MAGIC + zlib.compress(json.dumps(described).encode())


@dataclass(frozen=True)
class Binary:
    """A parsed binary."""

    shaders: list[ShaderSource]
    attributes: dict[str, int]
    outputs: dict[str, tuple[int, int]]
    varyings: list[str]
    mode: int
    separable: bool

    @classmethod
    def read(cls, raw: bytes, kind: str = "") -> Binary | None:
        """Parse a binary; None if it is not one of this kind of context (by default any)."""
        if not raw.startswith(_MAGIC):
            return None
        try:
            unpacked = zlib.decompressobj()
            described = json.loads(unpacked.decompress(raw[len(_MAGIC) :], _LONGEST))
            if not unpacked.eof or kind not in ("", described["made by"]):
                return None
            found = cls(
                [ShaderSource.read(each) for each in described["shaders"]],
                {text(k): number(v) for k, v in described["attributes"].items()},
                {text(k): (number(v), number(i)) for k, (v, i) in described["outputs"].items()},
                [text(name) for name in described["varyings"]],
                number(described["mode"]),
                bool(described["separable"]),
            )
        except (zlib.error, ValueError, TypeError, LookupError, AttributeError, RecursionError):
            return None
        if len(found.shaders) <= _MOST_SHADERS and all(o.type in STAGES for o in found.shaders):
            return found
        return None


def _restore(ctx: Context, program: ProgramObject, given: Binary) -> None:
    """Link the program again from the binary."""
    saved, program.attached = program.attached, []
    try:
        for origin in given.shaders:
            shader = ShaderObject(0, origin.type)
            program.attached.append(shader)
            shader.restore(ctx, origin)
        program.attrib_bindings, program.frag_data_bindings = {}, {}
        for name, index in given.attributes.items():
            program.bind_attribute(ctx, index, name)
        for name, (color, index) in given.outputs.items():
            program.bind_output(ctx, color, index, name)
        program.choose_varyings(ctx, given.varyings, given.mode)
        program.separable = given.separable
        program.link(ctx)
    except (GalletteError, GLError) as error:
        program.fail_link(f"error: {error}")
    finally:
        for shader in program.attached:
            shader.destroy()
        program.attached = saved


@entry
def get_program_binary(
    ctx: Context, program: int, room: Any, length: Any, format: Any, binary: Any
) -> Any:
    found = ctx.programs.program(program)
    if room is not OMITTED and room < 0:
        raise invalid_value("negative buffer size")
    found.require_linked()
    raw = binary_of(ctx, found)
    if room is OMITTED:
        return FORMAT, raw
    if len(raw) > room:
        if length is not None and length is not OMITTED:
            write_bytes(length, (0).to_bytes(4, "little"))
        raise invalid_operation(f"the binary takes {len(raw)} bytes")
    if length is not None and length is not OMITTED:
        write_bytes(length, len(raw).to_bytes(4, "little"))
    if format is not OMITTED and format is not None:
        write_bytes(format, FORMAT.to_bytes(4, "little"))
    if binary is not OMITTED and binary is not None:
        write_bytes(binary, raw)
    return None


@entry
def program_binary(ctx: Context, program: int, format: int, binary: Pointer, length: int) -> None:
    found = ctx.programs.program(program)
    if format != FORMAT:
        raise invalid_enum(format, "program binary format")
    if length < 0:
        raise invalid_value("negative length")
    if ctx.feedback.captures(found.executable):
        raise invalid_operation("the program is in use by transform feedback")
    raw = read_bytes(binary, length).tobytes() if binary is not None else b""
    given = Binary.read(raw, _kind(ctx))
    if given is None:
        found.fail_link("error: this binary was not made by this OpenGL")
        return
    _restore(ctx, found, given)


gets(
    {
        "PROGRAM_BINARY_FORMATS": lambda c: [FORMAT],
    }
)
