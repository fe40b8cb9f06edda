// --- vertex ---
#version 330
in vec2 position;
out vec2 uv;
void main() {
    gl_Position = vec4(position * 0.9, 0.0, 1.0);
    uv = position * 0.5 + 0.5;
}

// --- fragment ---
#version 330
in vec2 uv;
out vec4 color;
void main() {
    color = vec4(uv, 0.5 + 0.5 * sin(12.0 * length(uv - 0.5)), 1.0);
}
