"""vulkan: OpenGL on any Vulkan device, as Mesa's zink does it.

Shaders go from NIR to SPIR-V (`spirv/`), bound state becomes a pipeline and dynamic state
(`pipeline/`), draws and copies are recorded into command buffers (`batch.py`), and resources live
on the device with a mirror in mapped memory (`memory/`) that the host code in `drivers/common`
reads and writes where the device cannot do a job.
"""

from .screen import create_screen

__all__ = ["create_screen"]
