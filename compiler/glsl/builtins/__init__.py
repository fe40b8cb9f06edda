"""What GLSL provides without being declared: functions, variables, constants, limits."""
