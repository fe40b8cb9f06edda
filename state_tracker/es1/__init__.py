"""OpenGL ES 1.1: its features that the compatibility profile lacks."""
