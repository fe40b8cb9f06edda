#version 430
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Data { uint data[]; };
void main() { data[gl_GlobalInvocationID.x] = gl_GlobalInvocationID.x * 2u + data[0]; }
