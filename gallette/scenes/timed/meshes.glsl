// --- flat ---
#version 330
uniform vec3 paint;
out vec4 color;
void main() {
    color = vec4(paint, 1.0);
}

// --- tiny_triangles.fragment ---
#version 330
in vec3 p;
out vec4 color;
void main() {
    color = vec4(p * 0.5 + 0.5, 1.0);
}
