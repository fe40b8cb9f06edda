"""Resources in host memory, and transfers of their pixels without shaders."""
