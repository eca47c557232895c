// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/bench/peers.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>

namespace tenon::bench {
namespace {

template <class F>
F* symbol(void* library, const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

void* open_first(const std::vector<const char*>& names, std::string& missing) {
  for (const char* name : names)
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  const char* reason = dlerror();
  missing = reason ? reason : "cannot be opened";
  return nullptr;
}

struct DnnlVersion {  // the first members of dnnl_version_t
  int major, minor, patch;
};

SgemmPeer one_dnn() {
  SgemmPeer out{"oneDNN", "", {}, {}};
  void* library = open_first({"libdnnl.so.2", "libdnnl.so.3"}, out.missing);
  if (!library) return out;
  using Sgemm = int(char, char, int64_t, int64_t, int64_t, float, const float*, int64_t,
                    const float*, int64_t, float, float*, int64_t);
  Sgemm* sgemm = symbol<Sgemm>(library, "dnnl_sgemm");
  const auto version = symbol<const DnnlVersion*()>(library, "dnnl_version");
  // Its threads are OpenMP's, of the library it was linked with.
  const auto set_threads = symbol<void(int)>(library, "omp_set_num_threads");
  if (!sgemm || !set_threads) {
    out.missing = !sgemm ? "no dnnl_sgemm" : "not built with OpenMP";
    return out;
  }
  if (version) {
    const DnnlVersion* v = version();
    out.name += " " + std::to_string(v->major) + "." + std::to_string(v->minor);
  }
  out.set_threads = set_threads;
  out.run = [sgemm](int m, int n, int k, const float* a, const float* b, float* c) {
    sgemm('N', 'N', m, n, k, 1, a, k, b, n, 0, c, n);
  };
  return out;
}

SgemmPeer open_blas() {
  SgemmPeer out{"OpenBLAS", "", {}, {}};
#if defined(__x86_64__)
  // Over what the environment says: a peer that is held back proves nothing.
  if (__builtin_cpu_supports("avx512f")) setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 1);
#endif
  unsetenv("OPENBLAS_L2_SIZE");
  void* library = open_first({"libopenblas.so.0", "libopenblas.so"}, out.missing);
  if (!library) return out;
  using Sgemm = void(int, int, int, int, int, int, float, const float*, int, const float*, int,
                     float, float*, int);
  Sgemm* sgemm = symbol<Sgemm>(library, "cblas_sgemm");
  const auto core = symbol<char*()>(library, "openblas_get_corename");
  const auto set_threads = symbol<void(int)>(library, "openblas_set_num_threads");
  if (!sgemm || !set_threads) {
    out.missing = !sgemm ? "no cblas_sgemm" : "no openblas_set_num_threads";
    return out;
  }
  if (core) out.name += std::string(" ") + core();
  out.set_threads = set_threads;
  out.run = [sgemm](int m, int n, int k, const float* a, const float* b, float* c) {
    constexpr int kRowMajor = 101, kNoTranspose = 111;
    sgemm(kRowMajor, kNoTranspose, kNoTranspose, m, n, k, 1, a, k, b, n, 0, c, n);
  };
  return out;
}

}  // namespace

std::vector<SgemmPeer> sgemm_peers() {
  setenv("OMP_WAIT_POLICY", "passive", 0);  // idle threads of a peer leave the cores to the others
  return {one_dnn(), open_blas()};
}

}  // namespace tenon::bench
