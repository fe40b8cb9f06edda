"""The machine's own OpenGL, through EGL, behind the same interface as ours."""
