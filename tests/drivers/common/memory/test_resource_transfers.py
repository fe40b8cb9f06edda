"""Resources, transfers, copies, blits and mipmaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gallette.drivers.common.memory import mipmap
from gallette.drivers.common.memory.blit import blit
from gallette.drivers.common.memory.mipmap import generate_mipmap
from gallette.drivers.common.memory.resource import (
    HostResource,
    copy_region,
    create_resource,
    transfer_map,
    transfer_unmap,
)
from gallette.drivers.common.memory.storage import ResourceError
from gallette.pipe.codecs import pack, texels, unpack, unpack_depth, unpack_stencil
from gallette.pipe.enums import Filter, MapFlags, Target
from gallette.pipe.formats import FORMATS
from gallette.pipe.resource import ResourceDesc, ResourceLedger
from gallette.pipe.state import BlitInfo, Box, ScissorState

RGBA8 = "R8G8B8A8_UNORM"


def make(
    format: str = RGBA8,
    width: int = 8,
    height: int = 8,
    target: Target = Target.TEXTURE_2D,
    fill: bool = True,
    **more: Any,
) -> HostResource:
    desc = ResourceDesc(target, FORMATS[format], width, height, **more)
    resource = create_resource(desc, ResourceLedger())
    if fill:
        rng = np.random.default_rng(width * 31 + height)
        for level in resource.storage:
            level[...] = rng.integers(0, 256, level.shape, np.uint8)
    return resource


def words(resource: HostResource, level: int = 0) -> Any:
    return resource.view(level, np.uint32)


def blit_boxes(
    dst: HostResource, dst_box: Box, src: HostResource, src_box: Box, **more: Any
) -> None:
    blit(BlitInfo(dst, 0, dst_box, dst.desc.format, src, 0, src_box, src.desc.format, **more))


# -- resources ---------------------------------------------------------------------------------


def test_contents_start_as_zero_and_the_ledger_knows_what_lives() -> None:
    ledger = ResourceLedger()
    desc = ResourceDesc(Target.TEXTURE_2D, FORMATS[RGBA8], 16, 4, last_level=4)
    resource = create_resource(desc, ledger)
    assert [level.shape for level in resource.storage] == [
        (1, 4, 64),
        (1, 2, 32),
        (1, 1, 16),
        (1, 1, 8),
        (1, 1, 4),
    ]
    assert not any(level.any() for level in resource.storage)
    assert ledger.live == [resource]
    resource.unref()
    assert ledger.live == []


@pytest.mark.parametrize(
    ("desc", "message"),
    [
        (ResourceDesc(Target.TEXTURE_2D, FORMATS[RGBA8], 1 << 20, 1 << 20), "out of memory"),
        (ResourceDesc(Target.TEXTURE_2D, FORMATS[RGBA8], 0, 4), "cannot have the size 0x4x1x1"),
        (
            ResourceDesc(Target.TEXTURE_2D, FORMATS[RGBA8], 4, 4, last_level=3),
            "too many for",
        ),
        (ResourceDesc(Target.TEXTURE_CUBE, FORMATS[RGBA8], 4, 8, array_size=6), "square faces"),
        (
            ResourceDesc(Target.TEXTURE_2D, FORMATS[RGBA8], 4, 4, last_level=1, samples=4),
            "has one level",
        ),
    ],
)
def test_absurd_resources_are_refused(desc: ResourceDesc, message: str) -> None:
    ledger = ResourceLedger()
    kind = MemoryError if message == "out of memory" else ResourceError
    with pytest.raises(kind, match=message):
        create_resource(desc, ledger)
    assert ledger.live == []


def test_transfers_are_windows_into_the_storage() -> None:
    resource = make()
    before = resource.writes
    transfer = transfer_map(resource, 0, MapFlags.WRITE, Box(2, 3, 0, 4, 2))
    assert transfer.data.shape == (1, 2, 16)
    transfer.data[...] = 7
    transfer_unmap(transfer)
    assert (words(resource)[0, 3:5, 2:6] == 0x07070707).all()
    assert resource.writes > before
    reading = resource.writes
    transfer_unmap(transfer_map(resource, 0, MapFlags.READ, Box(width=8, height=8)))
    assert resource.writes == reading


@pytest.mark.parametrize(
    "box", [Box(5, 0, 0, 4, 1), Box(-1, 0, 0, 2, 1), Box(0, 8), Box(0, 0, 1), Box(0, 0, 0, 1, -1)]
)
def test_transfers_outside_a_level_are_refused(box: Box) -> None:
    with pytest.raises(ResourceError, match="not inside level 0, 8x8x1"):
        transfer_map(make(), 0, MapFlags.READ, box)


def test_transfers_of_compressed_levels_are_whole_blocks() -> None:
    resource = make("DXT1_RGB", 10, 6)
    assert transfer_map(resource, 0, MapFlags.READ, Box(4, 4, 0, 6, 2)).data.shape == (1, 1, 16)
    with pytest.raises(ResourceError, match="whole blocks of DXT1_RGB"):
        transfer_map(resource, 0, MapFlags.READ, Box(0, 0, 0, 6, 4))


def test_buffers_read_as_words_even_with_an_odd_size() -> None:
    resource = make("R8_UNORM", 7, 1, Target.BUFFER, fill=False)
    resource.storage[0][0, 0, :] = 1
    assert resource.words().tolist() == [0x01010101, 0x00010101]
    with pytest.raises(ResourceError, match=r"bytes 4\.\.8 of a buffer of 7 bytes"):
        transfer_map(resource, 0, MapFlags.READ, Box(4, width=4))


# -- copies ------------------------------------------------------------------------------------


def test_copies_are_bit_for_bit_and_may_overlap() -> None:
    resource = make()
    before = words(resource).copy()
    copy_region(resource, 0, 1, 1, 0, resource, 0, Box(0, 0, 0, 6, 6))
    assert (words(resource)[0, 1:7, 1:7] == before[0, :6, :6]).all()


def test_copies_between_compressed_blocks_and_texels() -> None:
    src = make("DXT1_RGB", 8, 8)
    dst = make("R16G16B16A16_UINT", 2, 2, fill=False)
    copy_region(dst, 0, 0, 0, 0, src, 0, Box(0, 0, 0, 8, 8))
    assert (dst.storage[0] == src.storage[0]).all()
    back = make("DXT1_RGB", 8, 8, fill=False)
    copy_region(back, 0, 0, 0, 0, dst, 0, Box(0, 0, 0, 2, 2))
    assert (back.storage[0] == src.storage[0]).all()
    with pytest.raises(ResourceError, match="blocks differ in size"):
        copy_region(make(), 0, 0, 0, 0, src, 0, Box(0, 0, 0, 4, 4))


def test_copies_of_layers_and_slices() -> None:
    src = make(target=Target.TEXTURE_2D_ARRAY, array_size=4)
    dst = make(target=Target.TEXTURE_3D, depth=4, fill=False)
    copy_region(dst, 0, 0, 0, 2, src, 0, Box(0, 0, 1, 8, 8, 2))
    assert (dst.storage[0][2:] == src.storage[0][1:3]).all()


# -- blits -------------------------------------------------------------------------------------


def test_a_blit_of_equal_boxes_copies() -> None:
    src, dst = make(), make(fill=False)
    blit_boxes(dst, Box(1, 2, 0, 4, 4), src, Box(3, 3, 0, 4, 4))
    assert (words(dst)[0, 2:6, 1:5] == words(src)[0, 3:7, 3:7]).all()
    assert words(dst)[0].astype(bool).sum() == 16


@pytest.mark.parametrize("filter", Filter, ids=lambda f: f.name)
def test_negative_boxes_flip(filter: Filter) -> None:
    src, dst = make(), make(fill=False)
    full = Box(0, 0, 0, 8, 8)
    blit_boxes(dst, full, src, Box(8, 0, 0, -8, 8), filter=filter)
    assert (words(dst)[0] == words(src)[0][:, ::-1]).all()
    blit_boxes(dst, Box(0, 8, 0, 8, -8), src, full, filter=filter)
    assert (words(dst)[0] == words(src)[0][::-1]).all()
    blit_boxes(dst, Box(8, 8, 0, -8, -8), src, Box(8, 8, 0, -8, -8), filter=filter)
    assert (words(dst)[0] == words(src)[0]).all()


def test_nearest_scaling_repeats_texels() -> None:
    src, dst = make(width=4, height=4), make(fill=False)
    blit_boxes(dst, Box(0, 0, 0, 8, 8), src, Box(0, 0, 0, 4, 4))
    expected = words(src)[0].repeat(2, axis=0).repeat(2, axis=1)
    assert (words(dst)[0] == expected).all()


def test_linear_minification_by_two_is_the_mean() -> None:
    src, dst = make(), make(width=4, height=4, fill=False)
    blit_boxes(dst, Box(0, 0, 0, 4, 4), src, Box(0, 0, 0, 8, 8), filter=Filter.LINEAR)
    texel = src.storage[0].reshape(4, 2, 4, 2, 4).astype(float)
    mean = texel.mean(axis=(1, 3))
    assert np.abs(dst.storage[0].reshape(4, 4, 4) - mean).max() <= 1


def test_scissor_and_edges_limit_a_blit() -> None:
    src, dst = make(), make(fill=False)
    box = Box(0, 0, 0, 8, 8)
    blit_boxes(dst, box, src, box, scissor=ScissorState(2, 3, 5, 100))
    assert (words(dst)[0, 3:, 2:5] == words(src)[0, 3:, 2:5]).all()
    assert np.count_nonzero(words(dst)) == 15
    other = make(fill=False)
    blit_boxes(other, Box(-4, 4, 0, 8, 8), src, box)
    assert (words(other)[0, 4:, :4] == words(src)[0, :4, 4:]).all()
    assert np.count_nonzero(words(other)) == 16


def test_blits_convert_formats() -> None:
    src = make()
    for name in ("B8G8R8A8_UNORM", "R32G32B32A32_FLOAT", "B5G6R5_UNORM", "R8G8B8A8_SRGB"):
        dst = make(name, fill=False)
        blit_boxes(dst, Box(0, 0, 0, 8, 8), src, Box(0, 0, 0, 8, 8))
        expected = pack(FORMATS[name], unpack(src.desc.format, src.storage[0]))
        assert (dst.storage[0] == expected).all()


def test_a_mask_keeps_the_other_channels() -> None:
    src, dst = make(), make()
    dst.storage[0][...] = 9
    blit_boxes(dst, Box(0, 0, 0, 8, 8), src, Box(0, 0, 0, 8, 8), mask="ga")
    got = dst.storage[0].reshape(8, 8, 4)
    want = src.storage[0].reshape(8, 8, 4)
    assert (got[..., [0, 2]] == 9).all()
    assert (got[..., [1, 3]] == want[..., [1, 3]]).all()


def test_integers_clamp_between_signs() -> None:
    src = make("R32_SINT", 2, 1, fill=False)
    src.view(0, np.int32)[0, 0] = [-5, 7]
    dst = make("R8_UINT", 2, 1, fill=False)
    blit_boxes(dst, Box(0, 0, 0, 2, 1), src, Box(0, 0, 0, 2, 1))
    assert dst.storage[0].reshape(-1).tolist() == [0, 7]


def test_depth_and_stencil_are_blitted_apart() -> None:
    src, dst = make("Z24_UNORM_S8_UINT"), make("Z24_UNORM_S8_UINT", fill=False)
    box = Box(0, 0, 0, 8, 8)
    format = src.desc.format
    blit_boxes(dst, box, src, box, mask="z")
    raw, want = texels(format, dst.storage[0]), texels(format, src.storage[0])
    assert (unpack_depth(format, raw) == unpack_depth(format, want)).all()
    assert not unpack_stencil(format, raw).any()
    blit_boxes(dst, box, src, box, mask="s")
    assert (texels(format, dst.storage[0]) == want).all()
    wide = make("Z32_FLOAT_S8X24_UINT", fill=False)
    blit_boxes(wide, box, src, box, mask="zs")
    raw = texels(wide.desc.format, wide.storage[0])
    assert (unpack_stencil(wide.desc.format, raw) == unpack_stencil(format, want)).all()
    assert (unpack_depth(wide.desc.format, raw) == unpack_depth(format, want)).all()


def test_resolving_averages_samples_and_integers_take_the_first() -> None:
    src, dst = make(samples=4, fill=False), make(fill=False)
    for sample, value in enumerate((0, 100, 200, 100)):
        src.storage[0][sample] = value
    blit_boxes(dst, Box(0, 0, 0, 8, 8), src, Box(0, 0, 0, 8, 8))
    assert (dst.storage[0] == 100).all()
    numbers, first = make("R8_UINT", samples=4, fill=False), make("R8_UINT", fill=False)
    for sample in range(4):
        numbers.storage[0][sample] = 10 + sample
    blit_boxes(first, Box(0, 0, 0, 8, 8), numbers, Box(0, 0, 0, 8, 8))
    assert (first.storage[0] == 10).all()


def test_layers_are_blitted_together() -> None:
    src = make(target=Target.TEXTURE_2D_ARRAY, array_size=3)
    dst = make(target=Target.TEXTURE_2D_ARRAY, array_size=3, fill=False)
    blit_boxes(dst, Box(0, 0, 1, 8, 8, 2), src, Box(0, 0, 0, 8, 8, 2))
    assert (dst.storage[0][1:] == src.storage[0][:2]).all()
    assert not dst.storage[0][0].any()


# -- mipmaps -----------------------------------------------------------------------------------


def test_mipmaps_of_a_constant_are_constant_down_to_one_texel() -> None:
    for target, more in (
        (Target.TEXTURE_2D, {}),
        (Target.TEXTURE_3D, {"depth": 8}),
        (Target.TEXTURE_CUBE, {"array_size": 6}),
        (Target.TEXTURE_1D, {"height": 1}),
        (Target.TEXTURE_2D_ARRAY, {"array_size": 3}),
    ):
        resource = make(target=target, fill=False, last_level=3, **more)
        words(resource)[...] = 0x40C08020
        layers = resource.desc.array_size
        generate_mipmap(resource, resource.desc.format, 0, 3, 0, layers - 1)
        for level in range(4):
            assert (words(resource, level) == 0x40C08020).all()


def test_mipmaps_average_in_linear_light() -> None:
    resource = make("R8G8B8A8_SRGB", 2, 2, fill=False, last_level=1)
    words(resource)[0] = [[0xFFFFFFFF, 0xFF000000], [0xFF000000, 0xFFFFFFFF]]
    generate_mipmap(resource, resource.desc.format, 0, 1, 0, 0)
    assert resource.storage[1].reshape(-1).tolist() == [188, 188, 188, 255]


def test_mipmaps_of_chosen_layers_and_levels_leave_the_rest() -> None:
    resource = make(target=Target.TEXTURE_2D_ARRAY, array_size=2, last_level=3)
    before = [level.copy() for level in resource.storage]
    generate_mipmap(resource, resource.desc.format, 1, 2, 1, 1)
    assert (resource.storage[1] == before[1]).all()
    assert (resource.storage[2][0] == before[2][0]).all()
    assert (resource.storage[2][1] != before[2][1]).any()
    assert (resource.storage[3] == before[3]).all()


def test_mipmaps_of_integers_take_texels() -> None:
    resource = make("R8_UINT", fill=False, last_level=2)
    resource.storage[0][...] = 17
    generate_mipmap(resource, resource.desc.format, 0, 2, 0, 0)
    assert (resource.storage[2] == 17).all()


def test_mipmaps_of_depth_are_filtered() -> None:
    resource = make("Z32_FLOAT", 2, 1, fill=False, last_level=1)
    resource.view(0, np.float32)[0, 0] = [0.25, 0.75]
    generate_mipmap(resource, resource.desc.format, 0, 1, 0, 0)
    assert resource.view(1, np.float32).item() == 0.5


@pytest.mark.parametrize("name", ["R8_UNORM", "R8G8_UNORM", "B8G8R8A8_UNORM", "R8G8B8_UNORM"])
@pytest.mark.parametrize("size", [(64, 64), (1, 16), (32, 1), (8, 128), (2, 2)])
def test_means_of_bytes_are_what_filtering_gives(
    name: str, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []
    for quick in (True, False):
        if not quick:
            monkeypatch.setattr(mipmap, "_is_power", lambda extent: False)
        levels = max(size).bit_length() - 1
        resource = make(name, *size, last_level=levels)
        generate_mipmap(resource, resource.desc.format, 0, levels, 0, 0)
        made.append(resource.storage)
    for one, other in zip(*made, strict=True):
        np.testing.assert_array_equal(one, other)
