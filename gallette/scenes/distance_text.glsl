// --- fragment ---
#version 330
uniform sampler2D field;
uniform vec2 scale;
uniform float soft;
uniform float outline;
out vec4 color;
void main() {
    float d = texture(field, gl_FragCoord.xy * scale).r;
    float inside = clamp((d - 0.5) / soft + 0.5, 0.0, 1.0);
    float around = clamp((d - 0.5 + outline) / soft + 0.5, 0.0, 1.0);
    color = mix(vec4(0.1, 0.2, 0.4, around), vec4(1.0, 0.9, 0.6, 1.0), inside);
}
