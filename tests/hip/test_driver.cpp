// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The HIP plugin on a fake runtime (fake_driver.cpp), which LD_LIBRARY_PATH names.
#include <dlfcn.h>

#include <catch2/catch_test_macros.hpp>

#include "tests/stream/offline.hpp"

using namespace tenon::sdk;

TEST_CASE("the calling thread keeps its own current device") {
  OfflinePlugin plugin("hip");
  void* const library = dlopen("libamdhip64.so.7", RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  const auto set = reinterpret_cast<int (*)(int)>(dlsym(library, "hipSetDevice"));
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(library, "hipGetDevice"));
  const auto wrong = reinterpret_cast<int (*)()>(dlsym(library, "fake_hip_wrong"));
  REQUIRE((set && get && wrong));
  for (const int own : {1, 0}) {  // device 0 is the plugin's
    set(own);
    use_device(plugin, false, [&](const char* after) {
      INFO("after " << after);
      int current = -1;
      get(&current);
      CHECK(current == own);
      CHECK(wrong() == 0);
    });
  }
}
