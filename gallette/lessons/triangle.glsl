// --- vertex ---
#version 330
in vec2 position;
in vec3 shade;
out vec3 mixed;
void main() {
    mixed = shade;
    gl_Position = vec4(position, 0.0, 1.0);
}
// --- fragment ---
#version 330
in vec3 mixed;
uniform float light;
out vec4 color;
void main() {
    color = vec4(mixed * light, 1.0);
}
