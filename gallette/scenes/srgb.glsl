// --- fragment ---
#version 330
uniform sampler2D image;
uniform float alpha;
out vec4 color;
void main() { color = vec4(texelFetch(image, ivec2(gl_FragCoord.xy), 0).rgb, alpha); }
