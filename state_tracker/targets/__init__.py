"""Render targets: framebuffers, renderbuffers, clears."""
