"""The names that GLSL declares itself: functions, variables, constants, limits."""
