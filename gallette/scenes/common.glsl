// --- full_screen ---
#version 330
in vec2 position;
out vec2 uv;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    uv = position * 0.5 + 0.5;
}

// --- positions ---
#version 330
in vec3 position;
out vec3 p;
void main() {
    gl_Position = vec4(position, 1.0);
    p = position;
}

// --- with_normals ---
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
out vec3 n;
void main() { gl_Position = matrix * vec4(position, 1.0); n = normal; }
