"""The OpenGL Shading Language front end: source text to NIR, and the linker."""
