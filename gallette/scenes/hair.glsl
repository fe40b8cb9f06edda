// --- vertex ---
#version 330
in vec3 place;
in vec3 shade;
out vec3 mixed;
void main() {
    gl_Position = vec4(place, 1.0);
    mixed = shade;
}

// --- fragment ---
#version 330
in vec3 mixed;
out vec4 color;
void main() {
    color = vec4(mixed, 1.0);
}
