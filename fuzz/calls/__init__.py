"""What the functions of OpenGL may be called with, for fuzzers that call any of them."""
