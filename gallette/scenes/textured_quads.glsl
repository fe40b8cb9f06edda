// --- vertex ---
#version 330
in vec3 position;
in vec2 coordinate;
in float level;
uniform mat4 matrix;
out vec2 uv;
flat out float lod;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    uv = coordinate;
    lod = level;
}

// --- fragment ---
#version 330
uniform sampler2D image;
uniform bool explicit_lod;
in vec2 uv;
flat in float lod;
out vec4 color;
void main() {
    color = vec4(explicit_lod ? textureLod(image, uv, lod).rgb : texture(image, uv).rgb, 1.0);
}
