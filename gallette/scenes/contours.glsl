// --- heights ---
#version 330
out vec4 height;
void main() {
    vec2 at = gl_FragCoord.xy - vec2(96.0, 72.0);
    height = vec4(1000.0 + dot(at, at) * 0.0009765625);
}

// --- lines ---
#version 330
uniform sampler2D heights;
out vec4 color;
void main() {
    float height = texelFetch(heights, ivec2(gl_FragCoord.xy), 0).x;
    float line = fract(height * 4.0);
    color = vec4(line, line * line, 0.25, 1.0);
}
