// --- vertex ---
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
uniform vec4 keep;
out vec3 n;
out float gl_ClipDistance[1];
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    gl_ClipDistance[0] = dot(keep, vec4(position, 1.0));
    n = normal;
}

// --- fragment ---
#version 330
in vec3 n;
uniform vec3 tint;
out vec4 color;
void main() { color = vec4(tint * (0.55 + 0.45 * n.y), 1.0); }

// --- surface ---
#version 330
in vec3 n;
uniform sampler2D above;
uniform sampler2D below;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    ivec2 wave = ivec2((at.x / 6 + at.y / 3) % 3 - 1, (at.y / 4) % 3 - 1);
    ivec2 top = textureSize(above, 0) - 1;
    vec3 reflected = texelFetch(above, clamp(at + wave, ivec2(0), top), 0).rgb;
    vec3 seen = texelFetch(below, clamp(at - wave, ivec2(0), top), 0).rgb;
    color = vec4(mix(seen * vec3(0.5, 0.7, 0.8), reflected, 0.375), 1.0);
}
