// --- vertex ---
#version 330
in vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    gl_PointSize = 3.0 + 8.0 * fract(position.x * 7.0);
}

// --- fragment ---
#version 330
uniform int points;
out vec4 color;
void main() {
    color = points == 1 ? vec4(gl_PointCoord, 0.5, 1.0) : vec4(1.0, 0.8, 0.2, 1.0);
}
