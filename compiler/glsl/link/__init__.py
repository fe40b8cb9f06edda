"""The linker: from checked shaders to a program a driver can run."""
