// --- shown ---
#version 430
layout(std430, binding = 1) readonly buffer Values { vec4 values[]; };
uniform int columns;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy) / 8;
    color = fract(values[at.y * columns + at.x] * 0.25);
}

// --- reduction ---
#version 430
layout(local_size_x = 256) in;
layout(std430, binding = 0) readonly buffer Numbers { float numbers[]; };
layout(std430, binding = 1) writeonly buffer Sums { float sums[]; };
shared float part[256];
void main() {
    uint me = gl_LocalInvocationIndex;
    part[me] = numbers[gl_GlobalInvocationID.x];
    barrier();
    for (uint step = 128u; step > 0u; step >>= 1) {
        if (me < step)
            part[me] += part[me + step];
        barrier();
    }
    if (me == 0u)
        sums[gl_WorkGroupID.x] = part[0];
}

// --- nbody ---
#version 430
layout(local_size_x = 64) in;
layout(std430, binding = 0) readonly buffer Bodies { vec4 bodies[]; };
layout(std430, binding = 1) writeonly buffer Pulls { vec4 pulls[]; };
void main() {
    vec4 me = bodies[gl_GlobalInvocationID.x];
    vec3 pull = vec3(0.0);
    for (int k = 0; k < 1024; k++) {
        vec4 other = bodies[k];
        vec3 way = other.xyz - me.xyz;
        float near = dot(way, way) + 0.01;
        pull += way * (other.w / (near * sqrt(near)));
    }
    pulls[gl_GlobalInvocationID.x] = vec4(pull * 0.001, 1.0);
}

// --- geometry.geometry ---
#version 330
layout(points) in;
layout(triangle_strip, max_vertices = 4) out;
out vec2 uv;
void main() {
    vec2 at = gl_in[0].gl_Position.xy;
    for (int k = 0; k < 4; k++) {
        uv = vec2(k & 1, k >> 1);
        gl_Position = vec4(at + (uv - 0.5) * 0.012, 0.0, 1.0);
        EmitVertex();
    }
    EndPrimitive();
}

// --- geometry.fragment ---
#version 330
in vec2 uv;
out vec4 color;
void main() {
    color = vec4(uv, 0.5, 1.0);
}

// --- tessellation.vertex ---
#version 410
in vec2 position;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
}

// --- tessellation.tess_control ---
#version 410
layout(vertices = 4) out;
void main() {
    gl_out[gl_InvocationID].gl_Position = gl_in[gl_InvocationID].gl_Position;
    if (gl_InvocationID == 0) {
        for (int k = 0; k < 4; k++)
            gl_TessLevelOuter[k] = 12.0;
        gl_TessLevelInner[0] = gl_TessLevelInner[1] = 12.0;
    }
}

// --- tessellation.tess_evaluation ---
#version 410
layout(quads, equal_spacing, ccw) in;
out vec3 p;
void main() {
    vec4 low = mix(gl_in[0].gl_Position, gl_in[1].gl_Position, gl_TessCoord.x);
    vec4 high = mix(gl_in[3].gl_Position, gl_in[2].gl_Position, gl_TessCoord.x);
    gl_Position = mix(low, high, gl_TessCoord.y);
    vec2 wave = abs(fract(gl_Position.xy * 3.0) - 0.5);
    gl_Position.z = wave.x * wave.y;
    p = gl_Position.xyz;
}

// --- tessellation.fragment ---
#version 410
in vec3 p;
out vec4 color;
void main() {
    color = vec4(p.xy * 0.5 + 0.5, p.z * 4.0, 1.0);
}
