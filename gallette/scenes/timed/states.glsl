// --- placed ---
#version 330
in vec2 position;
uniform vec3 place;
out vec2 uv;
void main() {
    gl_Position = vec4(position * 0.03 + place.xy, place.z, 1.0);
    uv = position * 0.5 + 0.5;
}

// --- tinted ---
#version 330
uniform vec4 tint;
in vec2 uv;
out vec4 color;
void main() {
    color = tint * (0.5 + 0.5 * uv.x);
}

// --- textured ---
#version 330
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() {
    color = texture(image, uv);
}

// --- blended_quads.vertex ---
#version 330
in vec2 position;
in vec4 paint;
out vec4 c;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    c = paint;
}

// --- blended_quads.fragment ---
#version 330
in vec4 c;
out vec4 color;
void main() {
    color = c;
}
