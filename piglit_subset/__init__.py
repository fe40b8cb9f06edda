"""A runner for piglit-style shader_test files, and the tests bundled with it."""
