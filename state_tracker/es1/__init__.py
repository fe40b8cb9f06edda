"""OpenGL ES 1.1: what it has that the compatibility profile has not."""
