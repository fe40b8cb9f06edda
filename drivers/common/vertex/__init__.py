"""From draw calls to primitives: fetch, assembly, clipping, tessellation, stream output."""
