#version 330
in vec3 n;
uniform sampler2D image;
out vec4 color;
void main() {
    vec3 sum = vec3(0.0);
    for (int i = 0; i < 3; i++)
        if (n[i] > 0.25) sum += texture(image, n.xy * float(i)).rgb;
    color = vec4(sum * n.z, 1.0);
}
