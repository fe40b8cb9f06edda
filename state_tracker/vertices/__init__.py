"""Sources of vertices: buffers, vertex arrays, current values."""
