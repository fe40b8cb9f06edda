// --- vertex ---
#version 330
in vec3 position;
uniform mat4 matrix;
uniform vec3 place;
void main() { gl_Position = matrix * vec4(position * 0.75 + place, 1.0); }

// --- fragment ---
#version 330
out vec4 color;
void main() { color = vec4(1.0); }

// --- occlusion ---
#version 330
uniform sampler2D depths;
out vec4 color;
float away(ivec2 at) {  // the distance from the eye, from what the projection made of it
    float z = texelFetch(depths, clamp(at, ivec2(0), textureSize(depths, 0) - 1), 0).r;
    return 0.5 / (1.0 + 1.0 / 32.0 - z);
}
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    float here = away(at), hidden = 0.0;
    for (int y = -3; y <= 3; y++)
        for (int x = -3; x <= 3; x++) {
            float nearer = here - away(at + 2 * ivec2(x, y));
            hidden += nearer > 0.03125 ? 1.0 / (1.0 + 4.0 * nearer) : 0.0;
        }
    color = vec4(vec3(1.0 - hidden / 36.0), 1.0);
}

// --- smooth ---
#version 330
uniform sampler2D shade;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy), top = textureSize(shade, 0) - 1;
    float sum = 0.0;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < 4; x++)
            sum += texelFetch(shade, clamp(at + ivec2(x, y) - 2, ivec2(0), top), 0).r;
    color = vec4(vec3(0.95, 0.9, 0.8) * sum / 16.0, 1.0);
}
