"""The state of a draw in words, and its uniforms by name."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import numpy as np

from gallette.inspector.frames import Frame, Texture
from gallette.inspector.surfaces import read_texture
from gallette.pipe.formats import Format

_DTYPES = {"f": "f4", "d": "f8", "i": "i4", "I": "u4", "b": "u4", "q": "i8", "Q": "u8"}


def _word(value: Any) -> str:
    if isinstance(value, enum.Enum):
        return str(value.name)
    if isinstance(value, Format):
        return value.name
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, bool):
        return str(value).lower()
    if is_dataclass(value) and not isinstance(value, type):
        return ", ".join(f"{k} {v}" for k, v in _fields(value, all=False)) or "defaults"
    if isinstance(value, tuple | list):
        return "; ".join(map(_word, value))
    label = getattr(getattr(value, "desc", None), "label", "")
    return label or str(value)


def _fields(state: Any, all: bool = True) -> Iterator[tuple[str, str]]:
    for field in fields(state):
        value = getattr(state, field.name)
        if not all and field.default is not MISSING and value == field.default:
            continue
        yield field.name.replace("_", " "), _word(value)


def bound_state(bound: Any) -> dict[str, str]:
    """All bound state, by group and field."""
    found: dict[str, str] = {}
    groups = {
        "rasterizer": bound.rasterizer.state,
        "depth, stencil, alpha": bound.depth_stencil_alpha.state,
        "blend": bound.blend.state,
    }
    for group, state in groups.items():
        for name, text in _fields(state):
            found[f"{group}: {name}"] = text
    for i, rt in enumerate(bound.blend.state.rt):
        found.pop("blend: rt", None)
        for name, text in _fields(rt):
            found[f"blend {i}: {name}"] = text
    found["viewport"] = _word(bound.viewports[0])
    found["scissor"] = _word(bound.scissors[0])
    found["blend colour"] = _word(bound.blend_color)
    found["stencil reference"] = _word(bound.stencil_ref)
    for i, element in enumerate(bound.elements.state):
        found[f"attribute {i}"] = _word(element)
    for i, buffer in enumerate(bound.vertex_buffers):
        if buffer is not None:
            label = buffer.buffer.desc.label or "a buffer"
            found[f"vertex buffer {i}"] = f"{label}, offset {buffer.offset}, stride {buffer.stride}"
    for stage, bindings in bound.stages.items():
        for i, cso in enumerate(bindings.samplers):
            if cso is not None and i < len(bindings.views) and bindings.views[i] is not None:
                found[f"{stage.value} sampler {i}"] = _word(cso.state)
    frame = bound.framebuffer
    for i, surface in enumerate(frame.cbufs):
        if surface is not None:
            found[f"target colour {i}"] = _surface(surface)
    if frame.zsbuf is not None:
        found["target depth"] = _surface(frame.zsbuf)
    return found


def _surface(surface: Any) -> str:
    desc = surface.resource.desc
    label = desc.label or "a resource"
    samples = f", {desc.samples} samples" if desc.samples > 1 else ""
    return f"{label} ({surface.format.name} {desc.width}x{desc.height}{samples})"


def textures_of(frame: Frame, pipe: Any) -> list[Texture]:
    """The textures of the bound stages, with pictures."""
    found = []
    for stage, bindings in pipe.bound.stages.items():
        if pipe.bound.shaders.get(stage) is None:
            continue
        for unit, view in enumerate(bindings.views):
            if view is None:
                continue
            desc = view.resource.desc
            picture = read_texture(pipe, view)
            name = frame.keep(picture) if picture is not None else ""
            size = f"{desc.width}x{desc.height}"
            label = desc.label or f"{view.target.name.lower()}"
            found.append(Texture(stage.value, unit, label, view.format.name, size, name))
    return found


def uniforms_of(gl: Any) -> list[tuple[str, str, str]]:
    """The active uniforms of the program in use: name, type, value in words."""
    executable = gl.programs.executable
    if executable is None:
        return []
    found = []
    storage = executable.uniforms
    for index, uniform in enumerate(executable.linked.uniforms):
        if uniform.builtin:
            continue
        kind = uniform.type.without_array
        if kind.is_opaque:
            units = storage.units.get(index, [])
            found.append((uniform.name, str(uniform.type), f"unit {', '.join(map(str, units))}"))
            continue
        data = storage.data if uniform.block < 0 else _block_bytes(gl, uniform.block)
        if data is None or uniform.offset < 0:
            continue
        found.append((uniform.name, str(uniform.type), _values(uniform, kind, bytes(data))))
    return found


def _block_bytes(gl: Any, block: int) -> bytes | None:
    """The contents of the buffer bound for a uniform block."""
    for bindings in gl.pipe.bound.stages.values():
        constants = bindings.constants
        if block + 1 < len(constants) and constants[block + 1] is not None:
            return bytes(constants[block + 1].data)
    return None


def _values(uniform: Any, kind: Any, data: bytes) -> str:
    letter = {"float": "f4", "int": "i4", "uint": "u4", "bool": "u4", "double": "f8"}.get(
        kind.base.name.lower(), "f4"
    )
    dtype = np.dtype(letter)
    columns, rows = (kind.columns, kind.rows) if kind.is_matrix else (1, kind.components)
    texts = []
    for element in range(min(max(1, uniform.array_size), 16)):
        at = uniform.offset + element * uniform.array_stride
        parts = []
        for c in range(columns):
            start = at + c * uniform.matrix_stride
            raw = data[start : start + rows * dtype.itemsize]
            if len(raw) < rows * dtype.itemsize:
                return "outside the buffer"
            values = np.frombuffer(raw, dtype)
            spelt = [("true" if v else "false") if kind.base.name == "BOOL" else f"{v:.6g}"
                     for v in values.tolist()]  # fmt: skip
            parts.append(", ".join(spelt))
        texts.append(" | ".join(parts))
    return "; ".join(texts)
