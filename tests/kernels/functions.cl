// Built-in functions of several instructions. functions.spvasm was made of them by
//   clang -cc1 -no-opaque-pointers -triple spir64 -O1 -cl-std=CL2.0 -finclude-default-header
//     -emit-llvm-bc functions.cl -o functions.bc && llvm-spirv functions.bc -o functions.spv
__kernel void floats(__global float *o, __global const float *a, __global const float *c) {
  int i = get_global_id(0);
  float x = a[i], y = c[i], part;
  int exponent;
  o += i * 20;
  o[0] = sinpi(x); o[1] = cospi(x); o[2] = maxmag(x, y); o[3] = minmag(x, y);
  o[4] = fdim(x, y); o[5] = expm1(x * 0.01f); o[6] = log1p(fabs(x) * 0.01f); o[7] = cbrt(x);
  o[8] = pown(x, (int)y); o[9] = rootn(fabs(x), 3); o[10] = ilogb(x); o[11] = logb(y);
  o[12] = remainder(x, y); o[13] = nextafter(x, y);
  o[14] = fract(x, &part); o[15] = part;
  o[16] = frexp(x, &exponent); o[17] = exponent;
  o[18] = sincos(x, &part); o[19] = part;
}
__kernel void integers(__global int *o, __global const int *a, __global const int *c) {
  int i = get_global_id(0), x = a[i], y = c[i];
  uint u = x, v = y;
  o += i * 12;
  o[0] = ctz(x); o[1] = mad_hi(x, y, 5); o[2] = mad_hi(u, v, 5u); o[3] = mad_sat(x, y, x);
  o[4] = mad_sat(u, v, u); o[5] = abs_diff(x, y); o[6] = abs_diff(u, v);
  o[7] = upsample((short)x, (ushort)y); o[8] = bitselect(x, y, 0x00FF0FF0);
  o[9] = popcount(x); o[10] = clz(y); o[11] = upsample((uchar)x, (uchar)y);
}
__kernel void vectors(__global int *o, __global const int *in, __global const uint *mask) {
  int i = get_global_id(0);
  int3 t = vload3(i, in);
  int4 q = vload4(i, in), m = vload4(i + 1, in);
  vstore3(t.zyx, 3 * i, o);
  vstore4(q + m, 2 * i + 1, o + 1);
  uint4 by = vload4(i, mask);
  vstore2(shuffle(q, by).yw + shuffle2(q, m, by).xz, 6 * i + 5, o);
  prefetch(in, 4);
}
__kernel void halves(__global half *o, __global const half *in, __global float *f) {
  int i = get_global_id(0);
  float3 v = vload_half3(i, in);
  vstore_half3(v * 2.0f, i, o);
  f[i] = vload_half(i, in);
  vstore_half(f[i] + 1.0f, 3 * get_global_size(0) + i, o);
}
