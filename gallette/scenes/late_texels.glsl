// --- fragment ---
#version 330
uniform sampler2D image;
uniform vec4 tint;
uniform int rounds;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 texel = texelFetch(image, at & 31, 0);
    if (((at.x >> 4) + (at.y >> 4) & 1) == 0) {
        vec4 base = tint * float(at.x & 15);
        vec4 sum = tint.wzyx * float(at.y & 15);
        for (int i = 0; i < rounds; i++)
            sum = fract(sum * 1.5 + base);
        color = base + sum * 0.5;
    } else {
        color = texel;
    }
}
