// --- vertex ---
#version 330
in vec2 position;
in vec4 tint;
out vec4 t;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    t = tint;
}

// --- fragment ---
#version 330
in vec4 t;
out vec4 color;
void main() {
    color = t;
}
