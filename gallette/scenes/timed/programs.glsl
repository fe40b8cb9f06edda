// --- soft_shadows.vertex ---
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
uniform mat4 lamp;
out vec3 n;
out vec4 seen;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    n = normal;
    seen = lamp * vec4(position, 1.0);
}

// --- foliage.vertex ---
#version 330
in vec2 corner;
in vec4 place;
uniform mat4 matrix;
out vec2 uv;
out float shade;
void main() {
    vec2 turned = vec2(cos(place.w), sin(place.w)) * (corner.x - 0.5);
    vec3 at = place.xyz + vec3(turned.x, corner.y, turned.y) * 0.5;
    gl_Position = matrix * vec4(at, 1.0);
    uv = corner;
    shade = 0.5 + 0.5 * fract(place.w);
}

// --- foliage.fragment ---
#version 330
uniform sampler2D leaf;
in vec2 uv;
in float shade;
out vec4 color;
void main() {
    vec4 texel = texture(leaf, uv);
    if (texel.a < 0.5)
        discard;
    color = vec4(texel.rgb * shade, 1.0);
}

// --- soft_shadows.lit ---
#version 330
uniform sampler2DShadow shadows;
in vec3 n;
in vec4 seen;
out vec4 color;
void main() {
    vec3 at = seen.xyz / seen.w * 0.5 + 0.5;
    float light = 0.0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            light += texture(shadows, at + vec3(vec2(x, y) / 1024.0, -0.002));
    float facing = max(dot(normalize(n), normalize(vec3(1.0, 2.0, 1.0))), 0.0);
    color = vec4(vec3(0.8, 0.7, 0.5) * (0.2 + 0.8 * facing * light / 9.0), 1.0);
}

// --- effects.make ---
#version 330
in vec2 uv;
out vec4 color;
void main() {
    vec2 cell = fract(uv * 8.0) - 0.5;
    color = vec4(vec3(uv, 0.5) * (0.1 / (dot(cell, cell) + 0.02)), 1.0);
}

// --- effects.bright ---
#version 330
uniform sampler2D image;
in vec2 uv;
out vec4 color;
void main() {
    vec3 c = texture(image, uv).rgb;
    color = vec4(max(c - 1.0, vec3(0.0)), 1.0);
}

// --- effects.blur ---
#version 330
uniform sampler2D image;
uniform vec2 step;
in vec2 uv;
out vec4 color;
const float weights[5] = float[](0.227027, 0.194594, 0.121621, 0.054054, 0.016216);
void main() {
    vec3 sum = texture(image, uv).rgb * weights[0];
    for (int i = 1; i < 5; i++) {
        sum += texture(image, uv + step * float(i)).rgb * weights[i];
        sum += texture(image, uv - step * float(i)).rgb * weights[i];
    }
    color = vec4(sum, 1.0);
}

// --- effects.mix ---
#version 330
uniform sampler2D image;
uniform sampler2D glow;
in vec2 uv;
out vec4 color;
void main() {
    vec3 c = texture(image, uv).rgb + texture(glow, uv).rgb;
    color = vec4(pow(c / (1.0 + c), vec3(1.0 / 2.2)), 1.0);
}

// --- instances.vertex ---
#version 330
in vec3 position;
in vec3 normal;
in vec2 uv;
uniform mat4 matrix;
layout(std140) uniform Places { mat4 places[64]; };
out vec3 n;
out vec2 at;
void main() {
    mat4 place = places[gl_InstanceID];
    gl_Position = matrix * (place * vec4(position, 1.0));
    n = mat3(place) * normal;
    at = uv * 4.0;
}

// --- instances.fragment ---
#version 330
uniform sampler2D image;
in vec3 n;
in vec2 at;
out vec4 color;
void main() {
    float light = 0.3 + 0.7 * max(dot(normalize(n), vec3(0.6, 0.64, 0.48)), 0.0);
    color = vec4(texture(image, at).rgb * light, 1.0);
}

// --- text.vertex ---
#version 330
in vec2 position;
in vec2 uv;
in vec4 paint;
uniform vec2 scale;
out vec2 at;
out vec4 ink;
void main() {
    gl_Position = vec4(position * scale - 1.0, 0.0, 1.0);
    at = uv;
    ink = paint;
}

// --- text.fragment ---
#version 330
uniform sampler2D glyphs;
in vec2 at;
in vec4 ink;
out vec4 color;
void main() {
    color = vec4(ink.rgb, ink.a * texture(glyphs, at).r);
}

// --- deferred_lights.fill_vertex ---
#version 330
in vec3 position;
in vec3 normal;
uniform mat4 matrix;
out vec3 n;
out vec3 p;
void main() {
    gl_Position = matrix * vec4(position, 1.0);
    n = normal;
    p = position;
}

// --- deferred_lights.fill_fragment ---
#version 330
in vec3 n;
in vec3 p;
layout(location = 0) out vec4 albedo;
layout(location = 1) out vec4 normal;
layout(location = 2) out vec4 place;
void main() {
    albedo = vec4(fract(p * 3.0), 1.0);
    normal = vec4(normalize(n), 1.0);
    place = vec4(p, 1.0);
}

// --- deferred_lights.light ---
#version 330
uniform sampler2D albedo;
uniform sampler2D normal;
uniform sampler2D place;
uniform vec3 lamp;
uniform vec3 paint;
out vec4 color;
void main() {
    ivec2 at = ivec2(gl_FragCoord.xy);
    vec3 to = lamp - texelFetch(place, at, 0).xyz;
    float d = dot(to, to);
    float facing = max(dot(texelFetch(normal, at, 0).xyz, to * inversesqrt(d)), 0.0);
    color = vec4(texelFetch(albedo, at, 0).rgb * paint * facing / (1.0 + 4.0 * d), 1.0);
}
