"""Resources in host memory, and the ways their pixels move without shaders."""
