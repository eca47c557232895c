// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of other libraries, opened at run time where they are installed.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace tenon::bench {

struct SgemmPeer {
  std::string name;     ///< "oneDNN 2.6"
  std::string missing;  ///< why it cannot be used; empty if it can
  std::function<void(int threads)> set_threads;
  /// c[m, n] = a[m, k] b[k, n], row-major.
  std::function<void(int m, int n, int k, const float* a, const float* b, float* c)> run;
};

/// oneDNN first, then OpenBLAS. Sets OPENBLAS_CORETYPE for the latter: left to itself the version
/// in use takes a kernel four times slower than the machine's own (docs/measured).
std::vector<SgemmPeer> sgemm_peers();

}  // namespace tenon::bench
