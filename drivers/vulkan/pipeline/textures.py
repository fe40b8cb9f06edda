"""Samplers and views, found by their descriptions, and the dummies for empty bindings."""

from __future__ import annotations

import ctypes

from gallette.drivers.vulkan.api.binding import Row, constant, row
from gallette.drivers.vulkan.device.device import Device
from gallette.drivers.vulkan.memory.formats import COLOR, DEPTH, STENCIL, vulkan_format
from gallette.drivers.vulkan.memory.resources import VulkanTexture
from gallette.drivers.vulkan.memory.storage import Allocator, DeviceBuffer, DeviceImage
from gallette.pipe.enums import Filter, MipFilter, Reduction, Swizzle, Target, Wrap
from gallette.pipe.formats import FORMATS, Format
from gallette.pipe.state import SamplerState, SamplerView, Surface

_WRAPS = {
    Wrap.REPEAT: 0, Wrap.MIRROR_REPEAT: 1, Wrap.CLAMP_TO_EDGE: 2, Wrap.CLAMP_TO_BORDER: 3,
    Wrap.CLAMP: 3, Wrap.MIRROR_CLAMP_TO_EDGE: 4, Wrap.MIRROR_CLAMP: 3,
    Wrap.MIRROR_CLAMP_TO_BORDER: 3,
}  # fmt: skip
"""VkSamplerAddressMode; what this leaves to do is `folds` of variants."""
_NEAREST = {Wrap.CLAMP: Wrap.CLAMP_TO_EDGE, Wrap.MIRROR_CLAMP: Wrap.MIRROR_CLAMP_TO_EDGE}
"""What is the same where no border texel has a share."""
_VIEW_TYPES = {
    Target.TEXTURE_1D: 0, Target.TEXTURE_2D: 1, Target.TEXTURE_RECT: 1, Target.TEXTURE_3D: 2,
    Target.TEXTURE_CUBE: 3, Target.TEXTURE_1D_ARRAY: 4, Target.TEXTURE_2D_ARRAY: 5,
    Target.TEXTURE_CUBE_ARRAY: 6,
}  # fmt: skip
_BORDERS: dict[tuple[float, ...], int] = {(0.0,) * 4: 0, (0.0, 0.0, 0.0, 1.0): 2, (1.0,) * 4: 4}
_CUSTOM_BORDER = constant("VK_BORDER_COLOR_FLOAT_CUSTOM_EXT")  # of integers: the next number
_SHAPES = {"1D": (0, 0, 4), "2D": (1, 1, 5), "3D": (2, 2, 2), "Cube": (1, 3, 6), "2DMS": (1, 1, 5),
           "ExternalOES": (1, 1, 1)}  # fmt: skip
"""By dimensions: VkImageType, and VkImageViewType without and with layers."""
_DUMMY_FORMATS = {"f": 37, "i": 42, "u": 41}  # R8G8B8A8 as unorm, sint and uint


class Samplers:
    """The samplers of a screen, and the dummy textures and buffers for empty bindings."""

    def __init__(self, device: Device, allocator: Allocator) -> None:
        self.device, self.allocator = device, allocator
        self._samplers: dict[object, int] = {}
        self._dummies: dict[object, tuple[DeviceImage, int]] = {}
        self._buffer: DeviceBuffer | None = None

    def sampler(self, state: SamplerState | None, format: Format | None, is_cube: bool) -> int:
        """The sampler for a texture of a format. Devices have few, so equal ones are one."""
        key: object = (state, format, is_cube)
        found = self._samplers.get(key)
        if found is None:
            state = state or SamplerState(min_mip_filter=MipFilter.NONE)
            info = self._described(state, format, is_cube)
            found = self._samplers.get(info)
            if found is None:
                found = self._samplers[info] = self.device.new("Sampler", **dict(info[1:]))
            self._samplers[key] = found
        return found

    def _described(self, state: SamplerState, format: Format | None, is_cube: bool) -> Row:
        device, limits = self.device, self.device.physical.limits
        u, v, w = (_WRAPS[wrap] for wrap in wraps(state))
        found = None if format is None else vulkan_format(format)
        integer = format is not None and (
            format.is_pure_integer or (format.has_stencil and not format.has_depth)
        )
        # Results of comparisons may be filtered whatever the format: lavapipe filters no depth.
        linear = format is None or state.compare_enabled
        if found is not None and not linear and not integer:
            linear = bool(device.physical.format_features(found.number)[1] & 0x1000)
        border, chain = _border(state, format), None
        color = _BORDERS.get(border, 0) + integer
        if border not in _BORDERS:
            value = row("ClearColorValue", float32=border)
            if integer:
                words = tuple(ctypes.c_int32(int(x)).value for x in border)
                value = row("ClearColorValue", int32=words)
            number = 37 if found is None else found.number
            chain = row("SamplerCustomBorderColorCreateInfoEXT", customBorderColor=value,
                        format=number)  # fmt: skip
            color = _CUSTOM_BORDER + integer
        if state.reduction is not Reduction.MEAN and device.feature("samplerFilterMinmax"):
            mode = 1 if state.reduction is Reduction.MIN else 2
            chain = row("SamplerReductionModeCreateInfo", pNext=chain, reductionMode=mode)
        mips = state.min_mip_filter is not MipFilter.NONE
        anisotropic = state.max_anisotropy > 1 and linear
        hard = is_cube and not state.seamless_cube_map and device.feature("nonSeamlessCubeMap")
        return row(
            "SamplerCreateInfo", pNext=chain, flags=4 * hard, borderColor=color,
            magFilter=int(linear and state.mag_img_filter is Filter.LINEAR),
            minFilter=int(linear and state.min_img_filter is Filter.LINEAR),
            mipmapMode=int(linear and state.min_mip_filter is MipFilter.LINEAR),
            addressModeU=u, addressModeV=v, addressModeW=w,
            mipLodBias=max(-16.0, min(state.lod_bias, limits.maxSamplerLodBias)),
            anisotropyEnable=int(anisotropic),
            maxAnisotropy=min(state.max_anisotropy, limits.maxSamplerAnisotropy),
            compareEnable=int(state.compare_enabled), compareOp=int(state.compare_func),
            minLod=max(state.min_lod, 0.0) if mips else 0.0,
            maxLod=max(state.max_lod, max(state.min_lod, 0.0)) if mips else 0.25,
        )  # fmt: skip

    def dummy(self, shape: tuple[str, bool, str, bool], storage: bool) -> tuple[DeviceImage, int]:
        """An image of a shape with one texel, and a view of it."""
        key = (*shape, storage)
        found = self._dummies.get(key)
        if found is None:
            dim, array, letter, shadow = shape
            layers, kind, view = 6 if dim == "Cube" else 1, _SHAPES[dim][0], _SHAPES[dim][1 + array]
            format = 124 if shadow else _DUMMY_FORMATS[letter]  # D16
            samples = 4 if dim == "2DMS" else 1
            image = DeviceImage(
                self.device, self.allocator, flags=0x10 if dim == "Cube" else 0, imageType=kind,
                format=format, extent=(1, 1, 1), mipLevels=1, arrayLayers=layers, samples=samples,
                usage=0x2 | (0x8 if storage else 0x4) | (0x20 if shadow else 0),
            )  # fmt: skip
            aspect = DEPTH if shadow else COLOR
            made = image.view(view, format, aspect, (0, 1), (0, layers))
            found = self._dummies[key] = image, made
        return found

    def zeros(self) -> DeviceBuffer:
        """A buffer of zeros."""
        if self._buffer is None:
            self._buffer = DeviceBuffer(self.device, self.allocator, 65536)
            self._buffer.bytes[:] = 0
        return self._buffer


def wraps(state: SamplerState) -> tuple[Wrap, Wrap, Wrap]:
    """The wrap modes of a sampler, as far as its filters distinguish them."""
    found = state.wrap_s, state.wrap_t, state.wrap_r
    if Filter.LINEAR in (state.min_img_filter, state.mag_img_filter):
        return found
    s, t, r = (_NEAREST.get(wrap, wrap) for wrap in found)
    return s, t, r


def _border(state: SamplerState, format: Format | None) -> tuple[float, ...]:
    """The border's colour as the image stores it: before the view's swizzle."""
    if 3 not in [_WRAPS[wrap] for wrap in wraps(state)]:
        return (0.0, 0.0, 0.0, 0.0)
    r, g, b, a = state.border_color
    letters = "".join(c.name for c in format.channels) if format is not None else ""
    if letters == "A":
        return (a, 0.0, 0.0, 1.0)
    if letters == "LA":
        return (r, a, 0.0, 1.0)
    return (r, g, b, a)


def texture_view(texture: VulkanTexture, view: SamplerView) -> int:
    """The view that a shader samples."""
    stored = texture.stored
    if stored is not None and not view.format.is_srgb and stored.is_srgb:
        stored = FORMATS[stored.name.replace("SRGB", "UNORM")]
    elif stored is not None and view.format.is_srgb:
        stored = FORMATS[stored.name.replace("UNORM", "SRGB")]
    found = vulkan_format(stored or view.format)
    assert found is not None
    aspect = found.aspect
    if view.sample_stencil:
        aspect = STENCIL
    elif aspect & DEPTH:
        aspect = DEPTH
    elif texture.format.aspect & STENCIL and not texture.format.aspect & DEPTH:
        aspect = STENCIL
    native = {Swizzle.ZERO: 1, Swizzle.ONE: 2}
    swizzle = tuple(native.get(s) or found.swizzle[int(s)] for s in view.swizzle)
    desc = texture.desc
    last = min(view.last_level, desc.last_level)
    levels = view.first_level, max(1, last - view.first_level + 1)
    layers = (view.first_layer, view.last_layer - view.first_layer + 1)
    if view.target is Target.TEXTURE_3D:
        layers = (0, 1)
    elif not view.target.is_array:
        layers = (view.first_layer, 6 if view.target.is_cube else 1)
    kind = _VIEW_TYPES[view.target]
    number = found.number if found.aspect == COLOR else texture.format.number
    return texture.image.view(kind, number, aspect, levels, layers, swizzle, 0x4)


def surface_view(texture: VulkanTexture, surface: Surface) -> int:
    """The view that is drawn to."""
    found = vulkan_format(surface.format)
    assert found is not None
    count = surface.last_layer - surface.first_layer + 1
    one_dimensional = texture.desc.target in (Target.TEXTURE_1D, Target.TEXTURE_1D_ARRAY)
    kind = (4 if count > 1 else 0) if one_dimensional else (5 if count > 1 else 1)
    usage = 0x10 if found.aspect == COLOR else 0x20
    number = found.number if found.aspect == COLOR else texture.format.number
    layers = (surface.first_layer, count)
    return texture.image.view(kind, number, found.aspect, (surface.level, 1), layers, usage=usage)


def image_view(
    texture: VulkanTexture, format: Format, level: int, layers: tuple[int, int],
    shape: tuple[str, bool, str, bool],
) -> int:  # fmt: skip
    """The view that a shader loads from and stores to."""
    found = vulkan_format(format)
    assert found is not None
    dim, array, _, _ = shape
    kind = _SHAPES[dim][1 + array]
    if dim == "3D":
        layers = (0, 1)
    return texture.image.view(kind, found.number, COLOR, (level, 1), layers, usage=0x8)
