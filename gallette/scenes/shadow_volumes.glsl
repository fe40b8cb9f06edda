// --- vertex ---
#version 330
in vec3 position;
uniform mat4 matrix;
void main() { gl_Position = matrix * vec4(position, 1.0); }

// --- fragment ---
#version 330
uniform vec4 tint;
out vec4 color;
void main() { color = tint; }
