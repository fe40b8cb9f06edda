// --- fragment ---
#version 330
uniform sampler2D image;
uniform vec2 scale;  // texels per pixel, divided by the texture's size
out vec4 color;
uniform bool sharpened;
void main()
{
    vec3 found = texture(image, gl_FragCoord.xy * scale).rgb;
    color = vec4(sharpened ? step(0.5, found) : found, 1.0);
}
