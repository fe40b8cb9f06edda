"""ARB_sparse_texture and ARB_sparse_buffer."""

from . import commitment, pages

__all__ = ["commitment", "pages"]
