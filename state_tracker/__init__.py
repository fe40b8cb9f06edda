"""OpenGL on top of `pipe`: one table of GL functions, many readers."""
