// --- fragment ---
#version 330
in vec3 n;
uniform vec3 tint;
out vec4 color;
void main() { color = vec4(tint * (0.6 + 0.4 * n.y), 1.0); }
