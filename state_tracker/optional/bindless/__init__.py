"""ARB_bindless_texture: handles of textures and images in place of units."""

from . import calls, residents

__all__ = ["calls", "residents"]
