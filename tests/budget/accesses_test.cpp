// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sectors and banks of patterns that everyone knows.
#include <catch2/catch_test_macros.hpp>

#include "core/budget/accesses.hpp"

namespace tenon {
namespace {

AccessAddresses strided(uint32_t bytes, uint64_t stride, int threads = 32) {
  AccessAddresses access;
  access.bytes = bytes;
  for (int lane = 0; lane < threads; ++lane)
    access.begins.push_back(static_cast<uint64_t>(lane) * stride);
  return access;
}

TEST_CASE("sectors of a request") {
  CHECK(sectors(strided(4, 4)) == 4);
  CHECK(sectors(strided(16, 16)) == 16);
  CHECK(sectors(strided(4, 4096)) == 32);
  CHECK(sectors(strided(4, 0)) == 1);
  CHECK(sectors(strided(2, 2)) == 2);
}

TEST_CASE("wavefronts of the banks of shared memory") {
  CHECK(bank_wavefronts(strided(4, 4), 32) == 1);
  CHECK(bank_wavefronts(strided(4, 0), 32) == 1);     // all read one word
  CHECK(bank_wavefronts(strided(4, 8), 32) == 2);     // every second bank
  CHECK(bank_wavefronts(strided(4, 128), 32) == 32);  // a column of a tile 32 wide
  CHECK(bank_wavefronts(strided(4, 132), 32) == 1);   // and with room of one word after each row
  CHECK(bank_wavefronts(strided(16, 16), 32) == 4);   // 512 bytes
  CHECK(bank_wavefronts(strided(2, 2), 32) == 1);
  // The 8 rows of 16 bytes of a matrix, in rows of 64 bytes: every second one in the same banks.
  CHECK(bank_wavefronts(strided(16, 64, 8), 32) == 4);
  CHECK(bank_wavefronts(strided(16, 80, 8), 32) == 1);
}

}  // namespace
}  // namespace tenon
