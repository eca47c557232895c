// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles with as many KiB of address space left as its argument says: the value, or an error.
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tenon/tenon.hpp"

namespace {

using namespace tenon;

uint64_t address_space() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  if (!file || std::fscanf(file, "%lu", &pages) != 1) std::abort();
  std::fclose(file);
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  const Tensor x = ones({48, 48}) + uniform(Key(7), {48, 48});
  (void)(x + 1.0f).sum().item<float>();  // what is made once is there
  const uint64_t most = address_space() + 1024 * std::strtoull(argv[1], nullptr, 10);
  const rlimit limit{most, most};
  setrlimit(RLIMIT_AS, &limit);
  try {
    const Tensor y =
        x.matmul(x.matrix_transpose()).softmax().layer_norm().gelu().sum(1).cumsum(0).sum();
    std::printf("value %d\n", y.item<float>() == y.item<float>());
  } catch (const tenon::Error& error) {
    std::printf("error %s\n",
                error.kind() == tenon::ErrorKind::kOutOfMemory ? "out of memory" : error.what());
  } catch (const std::bad_alloc&) {
    std::printf("bad_alloc\n");
  }
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "memory_program: %s\n", error.what());
  return 1;
}
