// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the kernel f over one buffer, on the first device of the first platform.
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void run(const char* source, void* data, size_t bytes, size_t threads) {
  cl_platform_id platform;
  cl_device_id device;
  char name[256] = "", version[256] = "";
  clGetPlatformIDs(1, &platform, NULL);
  clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL);
  clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL);
  clGetDeviceInfo(device, CL_DRIVER_VERSION, sizeof version, version, NULL);
  printf("%s, %s\n", name, version);
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  if (clBuildProgram(program, 1, &device, "", NULL, NULL) != CL_SUCCESS) {
    static char log[1 << 16];
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    puts(log);
    exit(3);
  }
  cl_kernel kernel = clCreateKernel(program, "f", NULL);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, bytes, data, NULL);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &threads, NULL, 0, NULL, NULL);
  clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, data, 0, NULL, NULL);
}

static inline void print(const float* x, int count) {
  for (int i = 0; i < count; ++i) {
    unsigned bits;
    memcpy(&bits, x + i, 4);
    printf("%08x%c", bits, i + 1 < count ? ' ' : '\n');
  }
}
