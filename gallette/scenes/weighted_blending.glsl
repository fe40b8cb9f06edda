// --- vertex ---
#version 330
in vec3 position;
in vec4 tint;
out vec4 paint;
out float z;
void main() { gl_Position = vec4(position, 1.0); paint = tint; z = position.z; }

// --- fragment ---
#version 330
in vec4 paint;
in float z;
layout(location = 0) out vec4 sum;
layout(location = 1) out vec4 left;
void main() {
    float weight = paint.a * (1.5 - z);
    sum = vec4(paint.rgb * paint.a, paint.a) * weight;
    left = vec4(paint.a);
}

// --- compose ---
#version 330
uniform sampler2D sums;
uniform sampler2D rests;
out vec4 color;
void main() {
    vec4 sum = texelFetch(sums, ivec2(gl_FragCoord.xy), 0);
    float rest = texelFetch(rests, ivec2(gl_FragCoord.xy), 0).r;
    vec3 ground = vec3(0.1, 0.1, 0.15);
    color = vec4(mix(sum.rgb / max(sum.a, 1.0 / 4096.0), ground, rest), 1.0);
}
