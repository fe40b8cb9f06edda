"""Buffers and images: device memory, mapped memory as NumPy arrays, mirrors and copies."""
