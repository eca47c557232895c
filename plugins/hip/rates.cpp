// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rates of the devices in platform_amd.cpp: one die of MI250X, MI300X. Sources: AMD's white
// papers of CDNA 2 and 3 (products, arithmetic), the measurements of RRZE-HPC/gpu-benches on MI210
// and MI300X (clocks of memory, the shared cache's bytes, what a copy reaches). The latency of
// shared memory and what a unit holds are from memory of AMD's guides; nothing was measured by us.
#include "plugins/hip/rates.hpp"

#include <iterator>

#include "sdk/stream/rates.hpp"

namespace tenon::hip {
namespace {

constexpr std::string_view kArchitectures[] = {"gfx90a", "gfx942"};

constexpr sdk::RateRow<std::size(kArchitectures)> kRows[] = {
    {&tn_rates::clock_mhz, {1700, 2100}},
    {&tn_rates::memory_mbps, {1'380'000, 3'997'000}},
    {&tn_rates::cache_bytes, {2400, 12800}},
    {&tn_rates::memory_latency, {640, 880}},
    {&tn_rates::shared_latency, {64, 58}},
    {&tn_rates::issues, {2, 2}},
    {&tn_rates::floats, {64, 64}},
    {&tn_rates::doubles, {64, 64}},
    {&tn_rates::integers, {64, 64}},
    {&tn_rates::specials, {16, 16}},
    {&tn_rates::local_bytes, {64, 64}},
    {&tn_rates::shared_banks, {32, 32}},
    {&tn_rates::products_8, {512, 2048}},
    {&tn_rates::products_16, {512, 1024}},
    {&tn_rates::products_32, {128, 128}},
    {&tn_rates::products_64, {128, 128}},
    {&tn_rates::peak_products_16, {512, 1024}},
    {&tn_rates::registers, {131072, 131072}},
    {&tn_rates::threads, {2048, 2048}},
    {&tn_rates::workgroups, {16, 16}},
    {&tn_rates::shared_bytes, {65536, 65536}},
};

}  // namespace

const tn_rates* rates_of(std::string_view architecture) {
  static const auto tables = sdk::rate_tables(kRows);
  return sdk::find_rates(kArchitectures, tables, architecture);
}

}  // namespace tenon::hip
