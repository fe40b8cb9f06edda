// --- heights ---
#version 430
layout(local_size_x = 8, local_size_y = 8) in;
layout(std430, binding = 0) buffer Heights {
    float height[];
};
void main() {
    // Bits of the place, mixed, and averaged over a neighbourhood: hills without a sine.
    ivec2 at = ivec2(gl_GlobalInvocationID.xy);
    float sum = 0.0;
    for (int y = -4; y <= 4; y++)
        for (int x = -4; x <= 4; x++) {
            uint h = uint(at.x + x + 64) * 73856093u ^ uint(at.y + y + 64) * 19349663u;
            h ^= h >> 13u;
            sum += float((h * 83492791u) >> 24u);
        }
    height[at.y * 64 + at.x] = sum / (81.0 * 255.0);
}

// --- vertex ---
#version 430
in vec2 place;
void main() {
    gl_Position = vec4(place, 0.0, 1.0);
}

// --- control ---
#version 430
layout(vertices = 4) out;
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        for (int i = 0; i < 4; i++)
            gl_TessLevelOuter[i] = 8.0;
        gl_TessLevelInner[0] = gl_TessLevelInner[1] = 8.0;
    }
}

// --- evaluation ---
#version 430
layout(quads, equal_spacing, ccw, point_mode) in;
layout(std430, binding = 0) buffer Heights {
    float height[];
};
uniform mat4 matrix;
out float up;
void main() {
    vec2 low = mix(gl_in[0].gl_Position.xy, gl_in[1].gl_Position.xy, gl_TessCoord.x);
    vec2 high = mix(gl_in[2].gl_Position.xy, gl_in[3].gl_Position.xy, gl_TessCoord.x);
    vec2 at = mix(low, high, gl_TessCoord.y);
    ivec2 cell = clamp(ivec2(at * 63.0 + 0.5), ivec2(0), ivec2(63));
    up = height[cell.y * 64 + cell.x];
    gl_PointSize = 4.0;
    gl_Position = matrix * vec4(at.x * 2.0 - 1.0, up * 1.6 - 1.1, 1.0 - at.y * 2.0, 1.0);
}

// --- fragment ---
#version 430
in float up;
out vec4 color;
void main() {
    float t = clamp((up - 0.42) * 6.0, 0.0, 1.0);
    color = vec4(mix(vec3(0.15, 0.4, 0.2), vec3(0.95, 0.9, 0.8), t), 1.0);
}
