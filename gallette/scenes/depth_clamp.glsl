// --- fragment ---
#version 330
in vec3 n;
out vec4 color;
void main() { color = vec4(n * 0.5 + 0.5, 1.0); }
