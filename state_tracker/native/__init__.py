"""The machine's own OpenGL, through EGL, behind gallette's Python interface."""
