// --- head ---
#version 430
struct Item { float a; float b; };
layout(std430, binding = 0) buffer Data { Item items[16]; float total; };
uniform int i;
uniform int j;
out vec4 color;
// --- another member ---
void main() {
    float before = items[i].a;
    items[i].b = 2.0;
    color = vec4(before + items[i].a);
}
// --- overwritten ---
void main() {
    items[i].b = 1.0;
    float x = items[i].a;
    items[i].b = 2.0;
    color = vec4(x);
}
// --- another element ---
void main() {
    float before = items[3].a;
    items[4].a = 2.0;
    color = vec4(before + items[3].a);
}
// --- may be the same element ---
void main() {
    float before = items[i].a;
    items[j].a = 2.0;
    color = vec4(before + items[i].a);
}
// --- a struct, copied and changed ---
void main() {
    Item mine = items[i];
    mine.b = mine.a + 1.0;
    items[i] = mine;
    color = vec4(items[i].a, items[i].b, 0.0, 1.0);
}
// --- two members in a loop ---
void main() {
    for (int k = 0; k < 4; k++) {
        items[k].a = float(k);
        items[k].b = items[k].a * 2.0;
    }
    color = vec4(items[3].b);
}
// --- behind a branch ---
void main() {
    float before = items[i].a;
    if (before > 0.0) {
        items[i].b = before;
    }
    color = vec4(items[i].a);
}
// --- past a store of unknown place ---
void main() {
    float x = total;
    items[j].b = x;
    items[i].b = x * 2.0;
    color = vec4(x + total);
}
// --- just stored ---
void main() {
    total = float(i);
    items[j].a = 2.0;
    color = vec4(total);
}
