// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PoCL 3.1 (Debian 12): a program whose binary was asked for leaves memory behind when it is
// released.
//   cc pocl_program_binaries.c -lOpenCL && POCL_KERNEL_CACHE=0 ./a.out
// Expected: about 0 bytes more for each program. Seen: 3 to 5 KB, on and on; 0.5 to 1 KB with the
// cache on disk, and 32 to 300 bytes without clGetProgramInfo.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

int main(void) {
  const char* source = "__kernel void f(__global float* x) { x[get_global_id(0)] += 1; }";
  cl_platform_id platform;
  cl_device_id device;
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  size_t before = 0;
  for (int i = 0; i <= 100; ++i) {
    cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    size_t size = 0;
    clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    unsigned char* binary = malloc(size);
    clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL);
    free(binary);
    clReleaseProgram(program);
    const size_t now = mallinfo2().uordblks;
    if (i % 20 == 0 && i)
      printf("programs %3d to %3d: %ld bytes each\n", i - 19, i, ((long)now - (long)before) / 20);
    if (i % 20 == 0) before = now;
  }
}
