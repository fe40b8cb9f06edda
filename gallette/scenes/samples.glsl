// --- vertex ---
#version 400
in vec2 position;
void main() { gl_Position = vec4(position, 0.0, 1.0); }

// --- fragment ---
#version 400
uniform bool each;
out vec4 color;
void main() {
    color = each ? vec4(vec3(gl_SampleID + 1) * 0.25, 1.0) : vec4(1.0, 0.8, 0.3, 1.0);
}

// --- show ---
#version 400
uniform sampler2DMS image;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    color = texelFetch(image, at / 2, (at.x & 1) | (at.y & 1) << 1);
}
