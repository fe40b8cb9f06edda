// --- vertex ---
#version 330
in vec3 position;
uniform mat4 matrix;
uniform vec4 cut;
out vec3 place;
out float gl_ClipDistance[1];
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    gl_ClipDistance[0] = dot(cut, vec4(position, 1.0));
    place = position;
}

// --- fragment ---
#version 330
uniform vec3 tint;
in vec3 place;
out vec4 color;
void main() {
    color = vec4((place * 0.5 + 0.5) * tint, 1.0);
}
