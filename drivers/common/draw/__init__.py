"""From draw calls to primitives: fetch, vertex shading, assembly, clipping, capture."""
