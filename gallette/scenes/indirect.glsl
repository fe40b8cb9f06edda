// --- choose ---
#version 430
layout(local_size_x = 16) in;
struct Command { uint count, instances, first, base, padding; };  // moderngl steps by five
layout(std430, binding = 0) buffer Commands { Command command[]; };
uniform uint wanted;
void main() {
    uint i = gl_GlobalInvocationID.x;
    bool drawn = (i * 7u + wanted) % 3u != 0u;
    command[i] = Command(3u, drawn ? 1u + i % 3u : 0u, 3u * i, 0u, 0u);
}

// --- vertex ---
#version 430
in vec2 position;
in vec3 tint;
flat out vec3 paint;
void main() {
    gl_Position = vec4(position + vec2(0.0, 0.1875 * float(gl_InstanceID)), 0.0, 1.0);
    paint = tint / float(1 + gl_InstanceID);
}

// --- fragment ---
#version 430
flat in vec3 paint;
out vec4 color;
void main() { color = vec4(paint, 1.0); }
