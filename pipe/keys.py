"""Variant keys: bound state that becomes shader code, as frozen, hashable dataclasses that can be
printed.

Hardware has switches for two-sided colour, the alpha test or user clip planes; a driver without
them makes them part of the shader. The driver (in its variants) or the state tracker (where a
`lower_*` cap asks it to) derives a *key* from bound state and looks up the code by it. `LOWERINGS`
is the one table of such switches, with the NIR pass of each.

A key is a frozen dataclass whose fields are declared with one of these:

* `lowered("alpha_func")`: a switch of the table;
* `lowered_by(...)`: a driver's own switch, with its pass;
* `steers(...)`: something that only the code generator reads; the NIR is unchanged.

The key whose fields are all at their defaults is the *null key*: it needs no lowering. Passes run
in the order in which a key's class declares its fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.run.pass_runner import PassSpec

from .enums import CompareFunc


@lazy_dataclass(frozen=True)
class Lowering:
    """A switch and the pass that lowers it."""

    default: Any  # the value that needs no lowering
    doc: str
    nir_pass: str
    option: str = ""  # the pass's option for the value; without one the switch is on or off
    cap: str = ""  # with this cap the state tracker lowers it
    hides: tuple[str, ...] = ()  # ... and hides these fields of the state from the driver


def _plain(value: Any) -> Any:
    """A value as pass options spell it: enumerators by their lower-case names."""
    return value.name.lower() if isinstance(value, CompareFunc) else value


LOWERINGS: Mapping[str, Lowering] = {
    "two_sided_color": Lowering(
        False, "choose front or back colour by facing",
        "lower_two_sided_color", cap="lower_two_sided_color", hides=("light_twoside",)),
    "flatshade": Lowering(
        False, "colour varyings take the provoking vertex's value",
        "lower_flatshade", cap="lower_flatshade", hides=("flatshade",)),
    "sprite_coords": Lowering(
        0, "mask of TEXi inputs replaced by the point coordinate",
        "lower_sprite_coord", "mask", "lower_point_sprite", ("sprite_coord_enable",)),
    **{f"saturate_{axis}": Lowering(
        0, f"mask of samplers whose {axis} coordinate is clamped to 0..1 (GL_CLAMP)",
        "lower_tex_saturate", axis, "lower_tex_saturate") for axis in "str"},
    # Clip planes become clip distances, which the same mask enables, so nothing is hidden.
    "clip_planes": Lowering(
        0, "mask of enabled user clip planes to turn into clip distances",
        "lower_user_clip_planes", "mask", "lower_clip_planes"),
    "clamp_color": Lowering(
        False, "clamp colour outputs to 0..1", "lower_clamp_color_outputs",
        cap="lower_clamp_color", hides=("clamp_vertex_color", "clamp_fragment_color")),
    # The reference value remains a parameter of the shader.
    "alpha_bits": Lowering(
        0, "alpha test: compares fixed-point numbers of so many bits, as the colour buffer has",
        "lower_alpha_test", "bits", "lower_alpha_test"),
    "alpha_func": Lowering(
        CompareFunc.ALWAYS, "alpha test: discard unless it passes",
        "lower_alpha_test", "func", "lower_alpha_test", ("alpha_enabled", "alpha_func")),
    "inlined_uniforms": Lowering(
        (), "values of uniforms that decide branches: (byte offset in block 0, raw bits) of each",
        "inline_uniforms", "values"),
    "depth_only": Lowering(False, "drop what only colours and varyings need", "lower_depth_only"),
}  # fmt: skip


def lowered(name: str, doc: str = "") -> Any:
    """A key field that is a switch of the table."""
    entry = LOWERINGS[name]
    return field(default=entry.default, metadata={"doc": doc or entry.doc, "lowering": entry})


def lowered_by(default: Any, doc: str, nir_pass: str, option: str = "") -> Any:
    """A key field lowered by a driver's own pass."""
    entry = Lowering(default, doc, nir_pass, option)
    return field(default=default, metadata={"doc": doc, "lowering": entry})


def steers(default: Any, doc: str) -> Any:
    """A key field that only the code generator reads."""
    return field(default=default, metadata={"doc": doc, "lowering": None})


def needs_nir(key: Any) -> bool:
    """Whether any field of the key is lowered in NIR."""
    return any(f.metadata["lowering"] and getattr(key, f.name) != f.default for f in fields(key))


def key_passes(key: Any) -> list[PassSpec]:
    """The NIR passes of a key's fields, in the order of the fields.

    Adjacent fields of one pass become its options, so that it runs once.
    """
    passes: list[tuple[str, dict[str, Any]]] = []
    for f in fields(key):
        entry: Lowering | None = f.metadata["lowering"]
        value = getattr(key, f.name)
        if entry is None or value == entry.default:
            continue
        if not passes or passes[-1][0] != entry.nir_pass:
            passes.append((entry.nir_pass, {}))
        if entry.option:
            passes[-1][1][entry.option] = _plain(value)
    return [(name, options) if options else name for name, options in passes]


def differing_fields(a: Any, b: Any) -> list[str]:
    """Names of the fields in which two keys of one class differ."""
    return [f.name for f in fields(a) if getattr(a, f.name) != getattr(b, f.name)]


def describe_key(key: Any) -> str:
    """The fields that are not at their defaults, or `null key`."""
    parts = []
    for f in fields(key):
        value = getattr(key, f.name)
        if value != f.default:
            shown = value.name.lower() if isinstance(value, Enum) else value
            parts.append(f"{f.name}={shown}")
    return ", ".join(parts) or "null key"
