"""What is told of pipelines: by a device that answers as the extension says, and by this one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from gallette.drivers.vulkan.pipeline.cache import executables
from gallette.state_tracker import GL, create_context
from tests.state_tracker.helpers import program, quad

from .device import needs_device


def _answers(rows: list[dict[str, Any]]) -> Any:
    def answer(device: int, info: Any, count: Any, found: Any) -> int:
        count._obj.value = len(rows)
        for made, row in zip(found._obj if found is not None else (), rows, strict=False):
            for name, value in row.items():
                setattr(made, name, value)
        return 0

    return answer


def _statistic(name: bytes, format: int, member: str, value: Any) -> dict[str, Any]:
    from gallette.drivers.vulkan.api.binding import make

    union = make("VkPipelineExecutableStatisticValueKHR", **{member: value})
    return {"name": name, "format": format, "value": union}


def test_executables_and_statistics_of_every_format_become_lines() -> None:
    vk = SimpleNamespace(
        vkGetPipelineExecutablePropertiesKHR=_answers(
            [{"name": b"fragment", "description": b"SIMD8"}]
        ),
        vkGetPipelineExecutableStatisticsKHR=_answers(
            [
                _statistic(b"spills", 0, "b32", 1),
                _statistic(b"offset", 1, "i64", -2),
                _statistic(b"instructions", 2, "u64", 34),
                _statistic(b"occupancy", 3, "f64", 0.5),
            ]
        ),
    )
    device = SimpleNamespace(handle=1, vk=vk, feature=lambda name: True)
    assert executables(device, 7) == [
        "fragment: SIMD8",
        "    spills: 1",
        "    offset: -2",
        "    instructions: 34",
        "    occupancy: 0.5",
    ]


@needs_device
def test_executables_of_drawn_shaders_are_listed() -> None:
    gl: Any = create_context("vulkan", version=(4, 5), size=(8, 8))
    quad(gl, program(gl))
    gl.draw_arrays(GL.TRIANGLE_STRIP, 0, 4)
    gl.finish()
    found = [gl.pipe.explain(shader)["variants"][0]["code"] for shader in gl.pipe.shaders]
    gl.release()
    assert found
    for code in found:
        assert "OpEntryPoint" in code
        assert code.splitlines()[-1].startswith("; ")
