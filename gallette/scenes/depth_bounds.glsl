// --- fragment ---
#version 330
in vec3 n;
out vec4 color;
void main() { color = vec4(n.y > 0.5 ? vec3(0.25) : vec3(0.125), 1.0); }

// --- lamp ---
#version 330
uniform vec3 light;
uniform vec2 bounds;  // of the stored depth; an empty range: whatever it is
uniform sampler2D stored;
out vec4 color;
void main()
{
    if (bounds.x < bounds.y) {
        float depth = texelFetch(stored, ivec2(gl_FragCoord.xy), 0).r;
        if (depth < bounds.x || depth > bounds.y)
            discard;
    }
    color = vec4(light, 1.0);
}
