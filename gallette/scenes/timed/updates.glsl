// --- painted ---
#version 330
in vec2 position;
in vec3 paint;
out vec3 c;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    c = paint;
}

// --- strewn ---
#version 330
in vec2 position;
in vec4 place;
uniform vec2 at;
out vec3 c;
void main() {
    gl_Position = vec4(position * 0.01 + place.xy * 0.1 + at, 0.0, 1.0);
    c = vec3(place.zw, 1.0);
}

// --- plain ---
#version 330
in vec3 c;
out vec4 color;
void main() {
    color = vec4(c, 1.0);
}
