// Structures by value, jumps into loops, collectives of subgroups. extra.spvasm was made of them by
//   clang -cc1 -no-opaque-pointers -triple spir64 -O1 -cl-std=CL2.0 -cl-ext=+cl_khr_subgroups
//     -finclude-default-header -emit-llvm-bc extra.cl -o extra.bc && llvm-spirv extra.bc
typedef struct { float3 axis; float angle; int steps[5]; char tag; } Turn;
typedef struct { Turn first; short2 pair; long wide; Turn last[2]; } Turns;
__kernel void turned(__global float *o, Turn t) {
  int i = get_global_id(0);
  o[i] = t.axis.y * t.angle + t.steps[i % 5] + t.tag;
}
float weight(Turn t, int k) { t.steps[k] += 1; return t.steps[k] * t.angle + t.axis.z; }
__kernel void nested(__global float *o, Turns t, int k) {
  int i = get_global_id(0);
  o[i] = weight(t.last[i & 1], i % 5) + weight(t.first, k) + t.pair.y + (float)t.wide;
}
__kernel void copied(__global Turns *o, Turns t) {
  int i = get_global_id(0);
  t.pair.x += i;
  o[i] = t;
}
__kernel void crossed(__global uint *o, __global const uint *in, uint limit) {
  int i = get_global_id(0);
  uint x = in[i], n = 0;
  if (x & 1) goto odd;
even:
  n += 1;
  x = x / 2 + 3;
  if (n > limit) goto done;
  if (x % 3 == 0) goto even;
odd:
  n += 100;
  x = x * 3 + 1;
  if (n > 3000) goto done;
  if (x & 4) goto even;
  if (x & 8) goto odd;
  x ^= 5;
  goto even;
done:
  o[2 * i] = x;
  o[2 * i + 1] = n;
}
__kernel void machine(__global uint *o, __global const uchar *program, uint limit) {
  uint a = get_global_id(0), n = 0, at = program[a];
  if (at == 0) goto zero; else if (at == 1) goto one; else if (at == 2) goto two; else goto three;
zero:
  a += 7; if (++n > limit) goto end;
  if (program[n & 15] & 1) goto two;
one:
  for (uint k = 0; k < (a & 3); k++) { a = a * 5 + k; if (a & 64) goto three; }
  if (++n > limit) goto end;
  if (program[n & 15] & 2) goto zero;
two:
  a ^= a >> 3; if (++n > limit) goto end;
  if (program[n & 15] & 4) goto one;
  if (program[n & 15] & 8) goto zero;
  if (program[n & 15] & 16) goto two;
three:
  a -= 11; if (++n > limit) goto end;
  if (program[n & 15] & 4) goto one;
  goto two;
end:
  o[get_global_id(0)] = a * 1000 + n;
}
__kernel void wide_switch(__global int *o, __global const ulong *in) {
  size_t i = get_global_id(0);
  int r = 0;
  switch (in[i]) {
    case 1: r = 10; break;
    case 0x100000001UL: r = 20; break;
    case 3: r = 30;
    case 0xFFFFFFFFFFFFFFFFUL: r += 5; break;
    default: r = (int)i;
  }
  o[i] = r;
}
__kernel void subgroups(__global int *o, __global const int *in) {
  size_t i = get_global_id(0);
  int v = in[i], w = get_sub_group_size(), l = get_sub_group_local_id();
  __global int *p = o + i * 10;
  p[0] = sub_group_reduce_add(v);
  p[1] = sub_group_scan_inclusive_max(v);
  p[2] = sub_group_scan_exclusive_add(v);
  p[3] = sub_group_scan_exclusive_min(v);
  p[4] = sub_group_broadcast(v, 0);
  p[5] = sub_group_all(v > 0);
  p[6] = sub_group_any(v > 5);
  p[7] = w * 100 + l;
  p[8] = get_num_sub_groups() * 1000 + get_sub_group_id();
  p[9] = get_max_sub_group_size();
  sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
}
