"""Vulkan for Python: a table generated from Khronos' registry, structs and commands by ctypes."""
