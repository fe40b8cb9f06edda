// What kernels do beyond arithmetic and pointers. features.spvasm was made of them by
//   clang -cc1 -no-opaque-pointers -triple spir64 -O2 -cl-std=CL2.0 -finclude-default-header
//     -emit-llvm-bc features.cl -o features.bc && llvm-spirv features.bc -o features.spv
__kernel void collectives(__global int *o, __global float *f, __global const int *in) {
  size_t i = get_global_id(0);
  int v = in[i];
  o[i * 6] = work_group_reduce_add(v);
  o[i * 6 + 1] = work_group_scan_inclusive_add(v);
  o[i * 6 + 2] = work_group_scan_exclusive_max(v);
  o[i * 6 + 3] = work_group_broadcast(v, 3);
  o[i * 6 + 4] = work_group_all(v > 0);
  o[i * 6 + 5] = work_group_any(v > 5);
  f[i] = work_group_reduce_min((float)v * 0.5f);
}
__kernel void corner(__global int *o, __global const int *in) {
  size_t i = get_global_id(0) + get_global_size(0) * get_global_id(1);
  o[i] = work_group_broadcast(in[i], 1, 2);
}
__kernel void prints(__global const int *in, float x, long big) {
  int i = get_global_id(0);
  if (i < 2) printf("i=%d v=%5.2f %s %c%%\n", in[i], x * i, "text", 'a' + i);
  printf("%v4d|%08lx\n", (int4)(1, -2, 3, i), big);
}
__constant sampler_t texels =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
__constant sampler_t around = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;
__kernel void blur(__read_only image2d_t in, __write_only image2d_t out) {
  int x = get_global_id(0), y = get_global_id(1);
  float4 s = 0;
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) s += read_imagef(in, texels, (int2)(x + dx, y + dy));
  write_imagef(out, (int2)(x, y), s / 9.0f);
}
__kernel void lookups(__read_only image2d_t in, __global float4 *o, sampler_t s) {
  int i = get_global_id(0);
  float2 p = (float2)(i * 0.1f - 0.2f, 0.3f);
  o[2 * i] = read_imagef(in, around, p);
  o[2 * i + 1] = read_imagef(in, s, p * 6.0f);
}
__kernel void turned(__read_only image2d_t in, __write_only image2d_t out) {
  int2 p = (int2)(get_global_id(0), get_global_id(1));
  uint4 v = read_imageui(in, texels, get_image_dim(in) - 1 - p);
  write_imageui(out, p, v + 1);
}
__kernel void fetched(__global float *o, __global const float *in, __local float *t) {
  int l = get_local_id(0), n = get_local_size(0);
  event_t e = async_work_group_copy(t, in + get_group_id(0) * n, n, 0);
  wait_group_events(1, &e);
  o[get_global_id(0)] = t[n - 1 - l];
}
