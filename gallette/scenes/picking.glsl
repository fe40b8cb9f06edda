// --- vertex ---
#version 330
in vec3 position;
uniform mat4 matrix;
flat out int instance;
void main() {
    int column = gl_InstanceID % 4 - 2;
    int row = gl_InstanceID / 4 - 1;
    gl_Position = matrix * vec4(position * 0.4 + vec3(float(column) + 0.5, float(row), 0.0), 1.0);
    instance = gl_InstanceID;
}

// --- fragment ---
#version 330
flat in int instance;
out uvec2 number;
void main() { number = uvec2(uint(instance) + 1u, uint(gl_PrimitiveID)); }

// --- show ---
#version 330
uniform usampler2D numbers;
uniform uint chosen;
out vec4 color;
void main() {
    uvec2 number = texelFetch(numbers, ivec2(gl_FragCoord.xy), 0).rg;
    if (number.x == 0u) color = vec4(0.0);
    else if (number.x == chosen) color = vec4(1.0, float(number.y & 7u) / 8.0, 0.0, 1.0);
    else color = vec4(vec3(uvec3(number.x) >> uvec3(0u, 1u, 2u) & 1u) * 0.5 + 0.25, 1.0);
}
