// --- fragment ---
#version 330
in vec3 n;
out vec4 color;
void main() {
    vec3 facing = gl_FrontFacing ? n : -n;
    vec3 paint = gl_FrontFacing ? vec3(0.9, 0.7, 0.2) : vec3(0.2, 0.4, 0.9);
    color = vec4(paint * (0.625 + 0.375 * facing.y), 1.0);
}
