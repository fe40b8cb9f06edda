"""Shaders and programs: objects, linking, uniforms, queries, transform feedback."""
