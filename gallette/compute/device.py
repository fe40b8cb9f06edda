"""A driver for kernels, and launches on NumPy arrays.

A `Launch` lists the bindings; `Device.run` creates buffers and images from the arrays, runs the
grid, and copies the results back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from gallette.compiler.errors import GalletteError
from gallette.compiler.lazy_dataclass import field, lazy_dataclass
from gallette.compiler.nir.ir.modes import Stage
from gallette.compiler.nir.ir.shader import Shader
from gallette.compute.images import Image
from gallette.pipe.enums import Bind, MapFlags, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.loader import create_screen
from gallette.pipe.resource import Resource, ResourceDesc
from gallette.pipe.shader_handover import shader_for_driver
from gallette.pipe.state import (
    Box,
    ComputeInfo,
    ImageView,
    SamplerState,
    SamplerView,
    ShaderBuffer,
)

Array = npt.NDArray[Any]
Size = tuple[int, int, int]
STAGE = Stage.COMPUTE


@lazy_dataclass()
class Launch:
    """One launch: bytes of constant blocks, arrays by buffer, atomic counters by binding, images
    and textures by unit."""

    grid: Size
    block: Size
    constants: dict[int, bytes | Array] = field(default_factory=dict)
    arrays: dict[int, Array] = field(default_factory=dict)
    counters: dict[int, Array] = field(default_factory=dict)
    images: dict[int, Image] = field(default_factory=dict)
    textures: dict[int, tuple[Image, SamplerState]] = field(default_factory=dict)


class Device:
    """A driver with compute shaders."""

    def __init__(self, driver: str = "numpipe", **options: Any) -> None:
        self.screen = create_screen(driver, **options)
        if "compute" not in self.screen.caps.stages:
            self.screen.destroy()
            raise GalletteError(f"driver {driver!r} has no compute shaders")
        self.pipe = self.screen.context_create()

    def create(self, shader: Shader) -> Any:
        """The driver's shader, for the caller's reference."""
        return self.pipe.create_shader_state(STAGE, shader_for_driver(shader, self.screen.caps))

    def delete(self, handle: Any) -> None:
        self.pipe.delete_shader_state(handle)

    def close(self) -> None:
        self.pipe.destroy()
        self.screen.destroy()

    # Launches.

    def run(self, handle: Any, launch: Launch) -> None:
        """Run a launch; writable arrays hold the results afterwards."""
        made: list[Resource] = []
        samplers: list[Any] = []
        try:
            self._run(handle, launch, made, samplers)
        finally:
            self._unbind(launch)
            for state in samplers:
                self.pipe.delete_sampler_state(state)
            for resource in made:
                resource.unref()

    def _run(self, handle: Any, launch: Launch, made: list[Resource], samplers: list[Any]) -> None:
        pipe, caps = self.pipe, self.screen.caps
        if launch.arrays and max(launch.arrays) >= caps.max_shader_buffers:
            raise GalletteError(
                f"{len(launch.arrays)} arrays, but the driver has {caps.max_shader_buffers} buffers"
            )
        if launch.images and max(launch.images) >= caps.max_shader_images:
            raise GalletteError(
                f"{len(launch.images)} images, but the driver has {caps.max_shader_images}"
            )
        for index, data in launch.constants.items():
            raw = data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes()
            pipe.set_constant_buffer(STAGE, index, raw)
        back: list[tuple[Array, Resource]] = []
        for index, array in self._buffers(launch).items():
            resource = self._buffer(array)
            made.append(resource)
            pipe.set_shader_buffers(STAGE, index, [ShaderBuffer(resource, 0, resource.desc.width)])
            back.append((array, resource))
        shown: list[tuple[Image, Resource]] = []
        for index, image in launch.images.items():
            resource = self._texture(image)
            made.append(resource)
            last = resource.desc.array_size - 1
            pipe.set_shader_images(
                STAGE, index, [ImageView(resource, resource.desc.format, last_layer=last)]
            )
            shown.append((image, resource))
        for unit, (image, state) in launch.textures.items():
            resource = self._texture(image)
            made.append(resource)
            view = SamplerView(resource, resource.desc.format, resource.desc.target)
            pipe.set_sampler_views(STAGE, unit, [view])
            samplers.append(pipe.create_sampler_state(state))
            pipe.bind_sampler_states(STAGE, unit, [samplers[-1]])
        pipe.bind_shader_state(STAGE, handle)
        pipe.launch_grid(ComputeInfo(launch.grid, launch.block))
        for array, resource in back:
            if array.nbytes and array.flags.writeable:
                raw = pipe.buffer_read(resource, 0, array.nbytes)
                array.reshape(-1).view(np.uint8)[:] = np.frombuffer(raw, np.uint8)
        for image, resource in shown:
            if image.array.flags.writeable and image.array.nbytes:
                self._read_image(image, resource)

    def _unbind(self, launch: Launch) -> None:
        pipe = self.pipe
        for index in launch.constants:
            pipe.set_constant_buffer(STAGE, index)
        for index in self._buffers(launch):
            pipe.set_shader_buffers(STAGE, index, [None])
        for index in launch.images:
            pipe.set_shader_images(STAGE, index, [None])
        for unit in launch.textures:
            pipe.set_sampler_views(STAGE, unit, [None])
            pipe.bind_sampler_states(STAGE, unit, [None])
        pipe.bind_shader_state(STAGE, None)

    # Resources.

    def _buffers(self, launch: Launch) -> dict[int, Array]:
        """Arrays by the slot of their buffer: atomic counters follow all others."""
        first = self.screen.caps.max_shader_buffers
        return launch.arrays | {first + n: array for n, array in launch.counters.items()}

    def _buffer(self, array: Array) -> Resource:
        size = max(array.nbytes, 4)
        resource = self.screen.resource_create(
            ResourceDesc(Target.BUFFER, FORMATS["R8_UINT"], size, bind=Bind.SHADER_BUFFER)
        )
        if array.nbytes:
            self.pipe.buffer_subdata(resource, 0, array.reshape(-1).view(np.uint8))
        return resource

    def _texture(self, image: Image) -> Resource:
        width, height, depth = image.extent
        resource = self.screen.resource_create(
            ResourceDesc(
                image.target,
                image.format,
                width,
                height,
                depth,
                bind=Bind.SHADER_IMAGE | Bind.SAMPLER_VIEW,
            )
        )
        if image.array.nbytes:
            transfer = self.pipe.transfer_map(
                resource, 0, MapFlags.WRITE, Box(0, 0, 0, width, height, depth)
            )
            transfer.data[:] = image.rows
            self.pipe.transfer_unmap(transfer)
        return resource

    def _read_image(self, image: Image, resource: Resource) -> None:
        width, height, depth = image.extent
        transfer = self.pipe.transfer_map(
            resource, 0, MapFlags.READ, Box(0, 0, 0, width, height, depth)
        )
        image.rows[:] = transfer.data
        self.pipe.transfer_unmap(transfer)


def three(size: Any, what: str) -> Size:
    """One to three numbers, padded to three."""
    try:
        numbers: Sequence[int] = [int(size)] if np.ndim(size) == 0 else [int(n) for n in size]
    except (TypeError, ValueError, OverflowError):
        raise GalletteError(f"{what} is one to three numbers, not {size!r}") from None
    if not 1 <= len(numbers) <= 3 or any(not 0 <= n < 1 << 16 for n in numbers):
        raise GalletteError(f"{what} is one to three numbers below 65536, not {size!r}")
    if what == "block" and 0 in numbers:
        raise GalletteError("a workgroup has at least one invocation")
    x, y, z = [*numbers, 1, 1][:3]
    return (x, y, z)
