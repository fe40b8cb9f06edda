"""The shader compiler: GLSL in, NIR out. Nothing here knows about GL contexts or drivers."""
