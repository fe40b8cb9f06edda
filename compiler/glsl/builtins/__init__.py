"""What GLSL declares itself: functions, variables, constants, limits."""
