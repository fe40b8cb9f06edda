// More kernels of the tests. more.spvasm was made of them by
//   clang -cc1 -no-opaque-pointers -triple spir64 -O2 -cl-std=CL2.0 -finclude-default-header
//     -emit-llvm-bc more.cl -o more.bc && llvm-spirv more.bc -o more.spv
#define L get_local_id(0)
#define N get_local_size(0)
#define G get_global_id(0)
#define B barrier(CLK_LOCAL_MEM_FENCE)

// Reductions.
typedef struct { float value; int index; } Best;
__kernel void argmax(__global Best *out, __global const float *in, __local Best *t) {
  t[L].value = in[G]; t[L].index = G; B;
  for (uint s = N / 2; s > 0; s >>= 1) { if (L < s && t[L + s].value > t[L].value) t[L] = t[L + s]; B; }
  if (L == 0) out[get_group_id(0)] = t[0];
}
__kernel void dot_product(__global float *out, __global const float *a, __global const float *b, uint n) {
  float s = 0;
  for (uint i = G; i < n; i += get_global_size(0)) s += a[i] * b[i];
  s = work_group_reduce_add(s);
  if (L == 0) out[get_group_id(0)] = s;
}
__kernel void minmax(__global int *out, __global const int *in, int n) {
  for (int i = G; i < n; i += get_global_size(0)) { atomic_min(&out[0], in[i]); atomic_max(&out[1], in[i]); atomic_xor(&out[2], in[i]); }
}

// Scans.
__kernel void blelloch(__global int *d, __local int *t) {
  uint n = N; t[L] = d[G]; B;
  for (uint s = 1; s < n; s <<= 1) { uint i = (L + 1) * s * 2 - 1; if (i < n) t[i] += t[i - s]; B; }
  if (L == 0) t[n - 1] = 0; B;
  for (uint s = n / 2; s > 0; s >>= 1) { uint i = (L + 1) * s * 2 - 1; if (i < n) { int v = t[i - s]; t[i - s] = t[i]; t[i] += v; } B; }
  d[G] = t[L];
}
__kernel void segmented(__global int *d, __global const int *head, __local int2 *t) {
  t[L] = (int2)(d[G], head[G]); B;
  for (uint s = 1; s < N; s <<= 1) { int2 v = t[L]; if (L >= s && !v.y) { int2 w = t[L - s]; v = (int2)(v.x + w.x, w.y); } B; t[L] = v; B; }
  d[G] = t[L].x;
}
__kernel void compact(__global int *out, __global int *count, __global const int *in, uint n) {
  if (G < n && in[G] & 1) out[atomic_inc(count)] = in[G];
}

// Sorts.
__kernel void radix(__global uint *d, __local uint *t, __local uint *at) {
  uint v = d[G];
  for (uint bit = 0; bit < 8; bit++) {
    uint one = v >> bit & 1, before = work_group_scan_exclusive_add(1 - one), zeros = work_group_broadcast(before + 1 - one, N - 1);
    uint to = one ? zeros + L - before : before;
    t[to] = v; B; v = t[L]; B;
  }
  d[G] = v; at[L] = v;
}
__kernel void odd_even(__global short *d, __local short *t) {
  t[L] = d[G]; B;
  for (uint k = 0; k < N; k++) { uint i = 2 * L + (k & 1); if (i + 1 < N && t[i] > t[i + 1]) { short v = t[i]; t[i] = t[i + 1]; t[i + 1] = v; } B; }
  d[G] = t[L];
}
__kernel void rank_sort(__global float *out, __global const float *in, int n) {
  float v = in[G]; int r = 0;
  for (int i = 0; i < n; i++) r += in[i] < v || (in[i] == v && i < G);
  out[r] = v;
}

// Matrices and stencils.
__kernel void transpose(__global float *o, __global const float *in, int w, int h) {
  __local float t[8][9]; int x = get_local_id(0), y = get_local_id(1);
  t[y][x] = in[(get_group_id(1) * 8 + y) * w + get_group_id(0) * 8 + x]; B;
  o[(get_group_id(0) * 8 + y) * h + get_group_id(1) * 8 + x] = t[x][y];
}
__kernel void matvec(__global float *y, __global const float4 *m, __global const float4 *x, int n) {
  float s = 0; for (int k = 0; k < n / 4; k++) s += dot(m[G * (n / 4) + k], x[k]);
  y[G] = s;
}
__constant float weights[3][3] = {{0.0625f, 0.125f, 0.0625f}, {0.125f, 0.25f, 0.125f}, {0.0625f, 0.125f, 0.0625f}};
__kernel void convolve(__global float *o, __global const float *in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1); float s = 0;
  for (int j = 0; j < 3; j++) for (int i = 0; i < 3; i++) s += weights[j][i] * in[clamp(y + j - 1, 0, h - 1) * w + clamp(x + i - 1, 0, w - 1)];
  o[y * w + x] = s;
}
__kernel void jacobi(__global float *o, __global const float *in, __local float *t, int steps) {
  t[L + 1] = in[G]; if (L == 0) { t[0] = 0; t[N + 1] = 0; } B;
  for (int k = 0; k < steps; k++) { float v = 0.5f * (t[L] + t[L + 2]); B; t[L + 1] = v; B; }
  o[G] = t[L + 1];
}
__kernel void life(__global uchar *o, __global const uchar *in, int w, int h) {
  int x = get_global_id(0), y = get_global_id(1), n = 0;
  for (int j = -1; j <= 1; j++) for (int i = -1; i <= 1; i++) if (i || j) n += in[(y + j + h) % h * w + (x + i + w) % w];
  o[y * w + x] = n == 3 || (n == 2 && in[y * w + x]);
}

// Histograms.
__kernel void bytes(__global uint *out, __global const uchar4 *in, __local uint *bins) {
  for (uint i = L; i < 256; i += N) bins[i] = 0; B;
  uchar4 v = in[G]; atomic_inc(&bins[v.x]); atomic_inc(&bins[v.y]); atomic_inc(&bins[v.z]); atomic_inc(&bins[v.w]); B;
  for (uint i = L; i < 256; i += N) if (bins[i]) atomic_add(&out[i], bins[i]);
}

// Structures by pointer.
typedef struct { float4 axis[2]; uchar tag; double weight; short links[3]; } Inner;
typedef struct { int id; Inner inner[2]; ulong sum; } Outer;
void touch(__global Inner *p, int k) { p->axis[k & 1].y += p->weight; p->links[k % 3] = (short)(p->tag + k); }
__kernel void nested(__global Outer *o) {
  __global Outer *p = o + G;
  for (int k = 0; k < 2; k++) touch(&p->inner[k], p->id + k);
  p->sum = (ulong)p->id << 40 | p->inner[1].tag;
}
typedef struct Node { __global struct Node *next; int value; } Node;
__kernel void chain(__global Node *nodes, __global const int *order, __global int *sums, int n) {
  if (L + 1 < n) nodes[order[L]].next = nodes + order[L + 1];
  if (L == n - 1) nodes[order[L]].next = 0;
  barrier(CLK_GLOBAL_MEM_FENCE);
  int s = 0; for (__global Node *p = nodes + order[L]; p; p = p->next) s += p->value;
  sums[L] = s;
}

// Generic pointers.
void swap_values(int *a, int *b) { int v = *a; *a = *b; *b = v; }
__kernel void generic_swap(__global int *d, __local int *t) {
  int mine = d[G] * 10; t[L] = L;
  swap_values(&mine, &d[G]); B;
  swap_values(L & 1 ? (int *)&t[L] : (int *)&d[G], &mine); B;
  d[G] += t[L] + mine;
}
__kernel void generic_atomic(__global int *g, __local int *l, __global int *out) {
  if (L == 0) l[0] = 100; B;
  volatile int *p = L % 3 ? (volatile int *)g : (volatile int *)l;
  atomic_fetch_add((volatile atomic_int *)p, (int)L + 1); B;
  if (L == 0) out[0] = l[0];
}
typedef struct { float x[3]; int n; } Small;
float length_of(const Small *s) { float t = 0; for (int i = 0; i < s->n; i++) t += s->x[i] * s->x[i]; return sqrt(t); }
__kernel void generic_struct(__global float *o, __global Small *g, __local Small *l) {
  Small mine = {{1, 2, 3}, G % 4}; l[L] = g[G]; l[L].x[0] += 1; B;
  const Small *p = G & 1 ? (const Small *)&g[G] : G & 2 ? (const Small *)&l[L] : (const Small *)&mine;
  o[G] = length_of(p);
}

// Others.
__kernel void nbody(__global float4 *f, __global const float4 *p, int n) {
  float3 a = 0;
  for (int i = 0; i < n; i++) { float3 d = p[i].xyz - p[G].xyz; float r = rsqrt(dot(d, d) + 0.01f); a += d * (p[i].w * r * r * r); }
  f[G] = (float4)(a, 0);
}
__kernel void search(__global int *o, __global const float *sorted, __global const float *q, int n) {
  int lo = 0, hi = n; while (lo < hi) { int mid = (lo + hi) / 2; if (sorted[mid] < q[G]) lo = mid + 1; else hi = mid; }
  o[G] = lo;
}
__kernel void hash(__global ulong *d, uint rounds) {
  ulong v = d[G]; for (uint k = 0; k < rounds; k++) { v ^= v << 13; v ^= v >> 7; v ^= v << 17; } d[G] = v;
}
