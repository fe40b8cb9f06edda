// --- fragment ---
#version 330
uniform sampler2D image;
uniform vec2 scale;
out vec4 color;
void main() { color = vec4(texture(image, gl_FragCoord.xy * scale * 3.0 - 1.0).rgb, 1.0); }
