#version 330
in vec3 world; in vec3 n; in vec2 uv; out vec4 color;
uniform sampler2D albedo_map; uniform sampler2D rough_map;
uniform vec3 eye; uniform int light_count; uniform vec3 fog_color; uniform float fog_density;
struct Light { vec3 position; vec3 color; float radius; };
uniform Light lights[4];
const float PI = 3.14159265;
float distribution(float nh, float r) {
    float a = r * r; float a2 = a * a;
    float d = nh * nh * (a2 - 1.0) + 1.0;
    return a2 / (PI * d * d);
}
float geometry(float nv, float nl, float r) {
    float k = (r + 1.0) * (r + 1.0) / 8.0;
    float a = nv / (nv * (1.0 - k) + k);
    float b = nl / (nl * (1.0 - k) + k);
    return a * b;
}
vec3 fresnel(float c, vec3 f0) { return f0 + (1.0 - f0) * pow(1.0 - c, 5.0); }
vec3 tone(vec3 c) {
    c = c / (c + vec3(1.0));
    return pow(c, vec3(1.0 / 2.2));
}
void main() {
    vec3 albedo = texture(albedo_map, uv).rgb;
    float rough = clamp(texture(rough_map, uv).r + 0.05 * SALT, 0.05, 1.0);
    vec3 N = normalize(n);
    vec3 V = normalize(eye - world);
    vec3 f0 = mix(vec3(0.04), albedo, 0.3);
    vec3 sum = vec3(0.0);
    for (int i = 0; i < light_count; i++) {
        vec3 d = lights[i].position - world;
        float dist = length(d);
        if (dist > lights[i].radius) continue;
        vec3 L = d / dist;
        vec3 H = normalize(V + L);
        float nl = max(dot(N, L), 0.0);
        float nv = max(dot(N, V), 0.001);
        float nh = max(dot(N, H), 0.0);
        vec3 F = fresnel(max(dot(H, V), 0.0), f0);
        float D = distribution(nh, rough);
        float G = geometry(nv, nl, rough);
        vec3 spec = D * G * F / (4.0 * nv * nl + 0.001);
        vec3 kd = (vec3(1.0) - F) * 0.7;
        sum += (kd * albedo / PI + spec) * lights[i].color * nl / (dist * dist);
    }
    sum += albedo * 0.03;
    float fog = exp(-fog_density * length(eye - world));
    color = vec4(tone(mix(fog_color, sum, fog)), 1.0);
}
