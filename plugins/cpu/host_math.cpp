// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the host that generated code may call: libm on one value or on an array in place.
#include "plugins/cpu/host_math.hpp"

#include <cmath>
#include <cstdint>

namespace tenon::cpu {
namespace {

template <double (*F)(double)>
double one_f64(double x) {
  return F(x);
}
template <double (*F)(double)>
void many_f64(double* x, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) x[i] = F(x[i]);
}
/// Computed in f64: error just above half a unit, for arguments of any size.
template <double (*F)(double)>
float one_f32(float x) {
  return static_cast<float>(F(x));
}
template <double (*F)(double)>
void many_f32(float* x, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) x[i] = static_cast<float>(F(x[i]));
}

double do_exp2(double x) { return std::exp2(x); }
double do_exp(double x) { return std::exp(x); }
double do_log2(double x) { return std::log2(x); }
double do_ln(double x) { return std::log(x); }
double do_sin(double x) { return std::sin(x); }
double do_cos(double x) { return std::cos(x); }
// Called by LLVM on hosts without the instruction.
double do_fma(double x, double y, double z) { return std::fma(x, y, z); }
float do_fmaf(float x, float y, float z) { return std::fma(x, y, z); }
double do_floor(double x) { return std::floor(x); }
float do_floorf(float x) { return std::floor(x); }
double do_trunc(double x) { return std::trunc(x); }
float do_truncf(float x) { return std::trunc(x); }

template <class F>
void* address(F* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

#if defined(__x86_64__)
// Compiler runtime functions for _Float16. Only their addresses are used.
extern "C" void __truncsfhf2();   // NOLINT(bugprone-reserved-identifier)
extern "C" void __extendhfsf2();  // NOLINT(bugprone-reserved-identifier)
#endif

std::span<const HostFunction> host_functions() {
  static const HostFunction kFunctions[] = {
    {"tenon_cpu_exp2_f64", address(one_f64<do_exp2>)},
    {"tenon_cpu_exp2_f64_many", address(many_f64<do_exp2>)},
    {"tenon_cpu_exp_f64", address(one_f64<do_exp>)},
    {"tenon_cpu_exp_f64_many", address(many_f64<do_exp>)},
    {"tenon_cpu_log2_f64", address(one_f64<do_log2>)},
    {"tenon_cpu_log2_f64_many", address(many_f64<do_log2>)},
    {"tenon_cpu_ln_f64", address(one_f64<do_ln>)},
    {"tenon_cpu_ln_f64_many", address(many_f64<do_ln>)},
    {"tenon_cpu_sin_f64", address(one_f64<do_sin>)},
    {"tenon_cpu_sin_f64_many", address(many_f64<do_sin>)},
    {"tenon_cpu_cos_f64", address(one_f64<do_cos>)},
    {"tenon_cpu_cos_f64_many", address(many_f64<do_cos>)},
    {"tenon_cpu_sin_f32", address(one_f32<do_sin>)},
    {"tenon_cpu_sin_f32_many", address(many_f32<do_sin>)},
    {"tenon_cpu_cos_f32", address(one_f32<do_cos>)},
    {"tenon_cpu_cos_f32_many", address(many_f32<do_cos>)},
    {"fma", address(do_fma)},
    {"fmaf", address(do_fmaf)},
    {"floor", address(do_floor)},
    {"floorf", address(do_floorf)},
    {"trunc", address(do_trunc)},
    {"truncf", address(do_truncf)},
#if defined(__x86_64__)
    {"__truncsfhf2", address(__truncsfhf2)},
    {"__extendhfsf2", address(__extendhfsf2)},
#endif
  };
  return kFunctions;
}

}  // namespace tenon::cpu
