"""Where vertices come from: buffers, vertex arrays, current values."""
