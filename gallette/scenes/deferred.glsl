// --- geometry_vertex ---
#version 330
in vec3 position;
in vec3 normal;
in vec2 uv;
uniform mat4 matrix;
out vec3 p;
out vec3 n;
out vec2 t;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    p = position;
    n = normal;
    t = uv;
}

// --- geometry_fragment ---
#version 330
in vec3 p;
in vec3 n;
in vec2 t;
layout(location = 0) out vec4 albedo;
layout(location = 1) out vec4 normals;
layout(location = 2) out vec4 positions;
void main() {
    float checks = mod(floor(t.x * 16.0) + floor(t.y * 8.0), 2.0);
    albedo = vec4(mix(vec3(0.9, 0.3, 0.2), vec3(0.9, 0.85, 0.7), checks), 1.0);
    normals = vec4(normalize(n), 1.0);
    positions = vec4(p, 1.0);
}

// --- light_fragment ---
#version 330
uniform sampler2D albedo;
uniform sampler2D normals;
uniform sampler2D positions;
uniform vec3 lamps[3];
uniform vec3 colors[3];
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec4 a = texelFetch(albedo, at, 0);
    if (a.a == 0.0)
        discard;
    vec3 n = texelFetch(normals, at, 0).xyz;
    vec3 p = texelFetch(positions, at, 0).xyz;
    vec3 sum = vec3(0.05);
    for (int i = 0; i < 3; i++) {
        vec3 d = lamps[i] - p;
        sum += colors[i] * max(dot(n, normalize(d)), 0.0) / (0.3 + dot(d, d));
    }
    color = vec4(a.rgb * sum, 1.0);
}
