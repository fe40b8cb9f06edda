"""Texture operations, and the dispatch over all kinds of straight-line operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .emit_storage import StorageEmitter
from .lane_ir import LaneValue, Op
from .walking import coordinates


class OpEmitter(StorageEmitter):
    """Adds textures; `op` emits any operation."""

    def op(self, op: Op) -> None:
        getattr(self, f"op_{op.what}")(op)
        dropped = self.file.dropped
        if dropped:
            self.line(" = ".join([*dropped, "None"]))
            dropped.clear()

    # -- textures ------------------------------------------------------------------------------

    def op_tex(self, op: Op) -> None:
        instr, layout = op.data
        lanes = op.dsts[0].varying
        groups: dict[str, list[LaneValue]] = {}
        at = 0
        for kind, size in layout:
            groups[kind] = op.srcs[at : at + size]
            at += size
        count = self.scope.count if lanes else "1"
        integer = instr.info.coordinates == "int"
        more = self.tex_arguments(instr, groups, integer) + _wanted(instr.op, op.dsts)
        coords = self.read_all(groups.get("coord", []), "i4" if integer else "f4")
        found = coordinates(op)
        if any(value.shared for value in found):
            self.keeps = True
            numbers = tuple([value.id if value.shared else None for value in found])
            more += f", kept=(kept, {numbers})"
        index = str(instr.texture_index)
        if "texture_offset" in groups:
            dynamic = self.read(groups["texture_offset"][0], "i4", lanes=False)
            index = f"{dynamic} + {instr.texture_index}"
        dtype = op.dsts[0].kind
        tag = self.tag()
        if instr.tg4_offsets:
            calls = [
                f"sample(state.textures, {index}, 'tg4', {coords}, {count}, {dtype}, "
                f"offset=[int32({dx}), int32({dy})]{more})[3]"
                for dx, dy in instr.tg4_offsets
            ]
            self.globals["int32"] = np.int32
            self.line(f"t{tag} = [{', '.join(calls)}]")
        else:
            self.line(
                f"t{tag} = sample(state.textures, {index}, {instr.op!r}, {coords}, {count}, "
                f"{dtype}{more})"
            )
        for i, dst in enumerate(op.dsts):
            if not dst.used:
                continue
            if lanes:
                self.fresh(op, dst, f"full(t{tag}[{i}], {count})", owned=False)
            else:
                self.scalar(dst, f"uniform(t{tag}[{i}], {dst.kind})")
        self.file.dropped.append(f"t{tag}")

    def tex_arguments(self, instr: Any, groups: dict[str, list[LaneValue]], integer: bool) -> str:
        """Keyword arguments of the texture call, each with its comma."""
        text = ""
        if "lod" in groups:
            kind = "i4" if instr.info.lod == "int" else "f4"
            text += f", lod={self.read(groups['lod'][0], kind)}"
        for name, key, kind in (
            ("bias", "bias", "f4"),
            ("comparator", "compare", "f4"),
            ("ms_index", "sample_index", "i4"),
            ("min_lod", "min_lod", "f4"),
        ):
            if name in groups:
                text += f", {key}={self.read(groups[name][0], kind)}"
        for name, kind in (("ddx", "f4"), ("ddy", "f4"), ("offset", "i4")):
            if name in groups:
                text += f", {name}={self.read_all(groups[name], kind)}"
        if instr.op == "tg4":
            text += f", gather_component={instr.component}"
        if instr.info.implicit_lod:
            text += ", quads=quads"
        return text

    def read_all(self, values: list[LaneValue], kind: str) -> str:
        return "[" + ", ".join(self.read(v, kind) for v in values) + "]"


_OF_TEXELS = frozenset(("tex", "txb", "txl", "txd", "txf", "txf_ms"))


def _wanted(name: str, components: Sequence[LaneValue]) -> str:
    """The argument with the mask of texel components that are read; empty if all are."""
    used = sum(dst.used << number for number, dst in enumerate(components))
    if name not in _OF_TEXELS or len(components) != 4 or used in (0, 15):
        return ""
    return f", wanted={used}"
