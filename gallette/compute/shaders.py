"""GLSL's compute shaders as functions of NumPy arrays.

    shader = ComputeShader('''#version 430
        layout(local_size_x = 64) in;
        layout(std430, binding = 0) buffer Data { float data[]; };
        uniform float scale;
        void main() { data[gl_GlobalInvocationID.x] *= scale; }''')
    shader(array, 2.0, grid=4)

Arguments come in the order of `shader.arguments`: storage blocks by binding, uniform blocks, atomic
counters, images, samplers, then uniforms; or by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError, InputError
from gallette.compiler.glsl.api import CompileOptions, compile_shader, link_program
from gallette.compiler.lazy_dataclass import lazy_dataclass
from gallette.compiler.link.program import LinkedProgram, LinkOptions, Uniform
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compiler.nir.ir.types import Base
from gallette.compute.device import Device, Launch, three
from gallette.compute.images import Image
from gallette.pipe.enums import Filter, MipFilter, Wrap
from gallette.pipe.state import SamplerState

STAGE = Stage.COMPUTE
_DTYPES = {
    Base.FLOAT: "f4",
    Base.INT: "i4",
    Base.UINT: "u4",
    Base.BOOL: "u4",
    Base.DOUBLE: "f8",
    Base.INT64: "i8",
    Base.UINT64: "u8",
}
_LOOKUP = SamplerState(
    wrap_s=Wrap.CLAMP_TO_EDGE,
    wrap_t=Wrap.CLAMP_TO_EDGE,
    wrap_r=Wrap.CLAMP_TO_EDGE,
    min_img_filter=Filter.LINEAR,
    min_mip_filter=MipFilter.NONE,
)


@lazy_dataclass(frozen=True)
class ShaderArgument:
    """An argument: `kind` is storage, block, counters, image, sampler or uniform; `index` is its
    place.
    """

    name: str
    kind: str
    type: str
    index: int
    uniform: Uniform | None = None


class ComputeShader:
    """A compute shader on a driver; calling it with its arguments runs it."""

    def __init__(self, source: str, driver: str = "numpipe", name: str = "shader.comp") -> None:
        compiled = compile_shader(STAGE, [source], CompileOptions(), [name])
        if not compiled.ok:
            raise GalletteError(compiled.info_log.rstrip())
        linked = link_program([compiled], LinkOptions())
        if not linked.ok:
            raise GalletteError(linked.info_log.rstrip())
        self.linked = linked
        self.name = name
        info = linked.shaders[STAGE].info
        self.block = None if info.workgroup_size_variable else info.workgroup_size
        self.device = Device(driver)
        self.arguments = _arguments(linked)
        self.handle: Any = None

    @classmethod
    def from_file(cls, path: str | Path, driver: str = "numpipe") -> ComputeShader:
        """A compute shader from a file with GLSL."""
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise InputError(f"cannot read {path}: {error.strerror}") from None
        except UnicodeDecodeError:
            raise InputError(f"{path} is not text") from None
        return cls(text, driver, str(path))

    def shader(self) -> Shader:
        """The lowered shader; the caller owns its reference."""
        return self.linked.shaders[STAGE].ref()

    def __call__(self, *values: Any, grid: Any, block: Any = None, **named: Any) -> None:
        """Run `grid` workgroups; arrays change in place."""
        size = self.block
        if size is None:
            size = three(1 if block is None else block, "block")
            if size[0] * size[1] * size[2] > 1024:
                raise GalletteError(f"a workgroup of {size} has more than 1024 invocations")
        elif block is not None and three(block, "block") != size:
            raise GalletteError(f"{self.name} declares workgroups of {size}; leave the size out")
        launch = Launch(three(grid, "grid"), size)
        data = bytearray(self.linked.default_block_initial.ljust(self.linked.default_block_size))
        for argument, value in self._given(values, named):
            _bind(launch, data, argument, value)
        launch.constants[0] = bytes(data)
        if 0 in launch.grid:
            return
        if self.handle is None:
            self.handle = self.device.create(self.shader())
        self.device.run(self.handle, launch)

    def _given(
        self, values: tuple[Any, ...], named: Mapping[str, Any]
    ) -> list[tuple[ShaderArgument, Any]]:
        known = {a.name: a for a in self.arguments}
        if len(values) > len(self.arguments):
            raise GalletteError(
                f"{self.name} takes {len(self.arguments)} arguments, not {len(values)}"
            )
        given = dict(zip(known, values, strict=False))
        for name, value in named.items():
            if name not in known:
                raise GalletteError(
                    f"{self.name} has no argument {name!r}; arguments: {', '.join(known)}"
                )
            if name in given:
                raise GalletteError(f"{name} is given twice")
            given[name] = value
        missing = [a.name for a in self.arguments if a.name not in given and a.kind != "uniform"]
        if missing:
            raise GalletteError(f"{self.name} needs the arguments {', '.join(missing)}")
        return [(known[name], value) for name, value in given.items()]

    def close(self) -> None:
        """Release everything held by the driver."""
        if self.handle is not None:
            self.device.delete(self.handle)
            self.handle = None
        for shader in self.linked.shaders.values():
            shader.unref()
        self.linked.shaders.clear()
        self.device.close()

    def __enter__(self) -> ComputeShader:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _arguments(linked: LinkedProgram) -> list[ShaderArgument]:
    found = []
    for block in sorted(linked.storage_blocks, key=lambda b: b.binding):
        index = block.nir_index.get(STAGE, -1)
        found.append(ShaderArgument(block.name, "storage", "array", index))
    for block in linked.uniform_blocks:
        index = block.nir_index.get(STAGE, -1)
        found.append(ShaderArgument(block.name, "block", f"{block.size} bytes", index))
    for counters in linked.atomic_buffers:
        name = f"counters{counters.binding}"
        found.append(ShaderArgument(name, "counters", f"{counters.size} bytes", counters.binding))
    own = [u for u in linked.uniforms if u.block < 0 and u.atomic_buffer < 0 and not u.builtin]
    for uniform in own:
        if uniform.type.is_opaque and STAGE in uniform.opaque_index:
            kind = "image" if uniform.type.is_image else "sampler"
            first = uniform.opaque_index[STAGE]
            for k in range(max(uniform.array_size, 1)):
                name = _plain(uniform) + (f"[{k}]" if uniform.array_size else "")
                found.append(ShaderArgument(name, kind, str(uniform.type), first + k))
    for uniform in own:
        if not uniform.type.is_opaque:
            name = _plain(uniform)
            found.append(ShaderArgument(name, "uniform", str(uniform.type), 0, uniform))
    return found


def _plain(uniform: Uniform) -> str:
    return uniform.name.removesuffix("[0]") if uniform.array_size else uniform.name


def _bind(launch: Launch, data: bytearray, argument: ShaderArgument, value: Any) -> None:
    kind, where = argument.kind, f"argument {argument.name}"
    if kind == "uniform":
        assert argument.uniform is not None
        _store(data, argument.uniform, value)
    elif kind in ("image", "sampler"):
        image = Image(value) if isinstance(value, np.ndarray) else value
        if not isinstance(image, Image):
            raise GalletteError(f"{where} needs an Image (or a NumPy array of one)")
        if kind == "image":
            launch.images[argument.index] = image
        else:
            launch.textures[argument.index] = (image, _LOOKUP)
    else:
        if not isinstance(value, np.ndarray) or not value.flags.c_contiguous:
            raise GalletteError(f"{where} needs a contiguous NumPy array")
        of_kind: dict[str, dict[int, Any]] = {
            "block": launch.constants, "storage": launch.arrays, "counters": launch.counters,
        }  # fmt: skip
        of_kind[kind][argument.index] = value


def _store(data: bytearray, uniform: Uniform, value: Any) -> None:
    """Store a value (or an array of them) in the default block, element by element."""
    type = uniform.type
    dtype = np.dtype(_DTYPES[type.base])
    columns, rows = (type.columns, type.rows) if type.is_matrix else (1, type.components)
    count = max(uniform.array_size, 1)
    try:
        values = np.asarray(value)
        values = (values != 0).astype(dtype) if type.base is Base.BOOL else values.astype(dtype)
        shaped: npt.NDArray[Any] = values.reshape(-1, columns, rows)
    except (ValueError, TypeError):
        raise GalletteError(f"uniform {uniform.name} is a {type}, not {value!r}") from None
    # As in GL, elements beyond those that are used go nowhere.
    for k, element in enumerate(shaped[:count]):
        start = uniform.offset + k * uniform.array_stride
        if type.is_matrix and uniform.row_major:
            element = element.T
        for c, column in enumerate(element):
            at = start + c * uniform.matrix_stride
            raw = np.ascontiguousarray(column).tobytes()
            data[at : at + len(raw)] = raw
