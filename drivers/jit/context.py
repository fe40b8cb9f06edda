"""jit's pipe context: the shared one, with compiled blits and mipmaps."""

from __future__ import annotations

from gallette.compiler.disk_cache import DiskCache
from gallette.drivers.common.context import HostContext
from gallette.drivers.common.memory.resource import HostResource
from gallette.drivers.common.screen import HostScreen
from gallette.pipe.formats import Format
from gallette.pipe.resource import Resource
from gallette.pipe.state import BlitInfo

from .blits import halve, move

__all__ = ["JitContext"]


class JitContext(HostContext):
    """A pipe context whose programs are machine code."""

    def __init__(self, screen: HostScreen, cache: DiskCache | None) -> None:
        super().__init__(screen)
        self._cache = cache

    def blit(self, info: BlitInfo) -> None:
        self.execute_deferred()
        if not self.skipped and not move(info, self._cache):
            super().blit(info)

    def generate_mipmap(
        self,
        resource: Resource,
        format: Format,
        base_level: int,
        last_level: int,
        first_layer: int,
        last_layer: int,
    ) -> None:
        self.execute_deferred()
        assert isinstance(resource, HostResource)
        for level in range(base_level + 1, last_level + 1):
            for layer in range(first_layer, last_layer + 1):
                if not halve(resource, format, level, layer, self._cache):
                    super().generate_mipmap(
                        resource, format, base_level, last_level, first_layer, last_layer
                    )
                    return
            resource.touch()
