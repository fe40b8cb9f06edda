// --- fragment ---
#version 330
uniform sampler2D image;
uniform vec4 tint;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    int limit = (at.x * 5 + at.y * 3) % 16;
    vec4 sum = vec4(0.0);
    vec4 light, shade;
    int round = 0;
    for (;;) {
        light = sum * 0.0625 + tint * float(round);
        shade = fract(sum + tint) * 0.25;
        if (round >= limit)
            break;
        sum += texelFetchOffset(image, ivec2(round, limit), 0, ivec2(2, 1));
        round++;
    }
    color = vec4(max(light.rgb, shade.rgb), 1.0 - light.a * shade.a);
}
