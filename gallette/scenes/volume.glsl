// --- vertex ---
#version 330
in vec2 position;
out vec2 p;
void main() {
    gl_Position = vec4(position, 0.0, 1.0);
    p = position;
}

// --- fragment ---
#version 330
uniform sampler3D density;
in vec2 p;
out vec4 color;
void main() {
    vec3 eye = vec3(p.x * 0.66 + 0.5, p.y * 0.5 + 0.5, -0.5);
    vec3 way = normalize(vec3(p * 0.3, 1.0));
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 48; i++) {
        vec3 at = eye + way * (0.4 + float(i) / 32.0);
        if (any(lessThan(at, vec3(0.0))) || any(greaterThan(at, vec3(1.0))))
            continue;
        vec4 here = textureLod(density, at, 0.0);
        float alpha = here.a * 0.15;
        sum += (1.0 - sum.a) * alpha * vec4(here.rgb, 1.0);
        if (sum.a > 0.9)
            break;
    }
    color = vec4(sum.rgb, sum.a > 0.0 ? 1.0 : 0.0);
}
