// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rates of the devices in targets.cpp. Sources:
//   units and what they hold: CUDA C++ Programming Guide, "Technical Specifications per Compute
//     Capability" and "Throughput of Native Arithmetic Instructions";
//   products: the white papers of Turing, Ampere, Ada and Hopper; what mma.sync reaches of Hopper's
//     peak, 0.65: Luo et al., arXiv 2402.13499, table VIII; on one H100 our own kernel stays below
//     it (docs/measured/gpu.md);
//   clocks of memory and of the shared cache, their bytes, what a copy reaches: the measurements of
//     RRZE-HPC/gpu-benches (A100, A40, L40, H200); H100: docs/measured/gpu.md, `add`. Turing's are
//     from its white paper and were not measured.
#include "plugins/cuda/rates.hpp"

#include <iterator>

#include "sdk/stream/rates.hpp"

namespace tenon::cuda {
namespace {

constexpr int kArchitectures[] = {75, 80, 86, 89, 90};

constexpr sdk::RateRow<std::size(kArchitectures)> kRows[] = {
    {&tn_rates::clock_mhz, {1620, 1410, 1800, 2490, 1830}},
    {&tn_rates::memory_mbps, {600'000, 1'737'000, 721'000, 797'000, 2'951'000}},
    {&tn_rates::cache_bytes, {1280, 3830, 1427, 2090, 4950}},
    {&tn_rates::memory_latency, {500, 530, 550, 624, 650}},
    {&tn_rates::shared_latency, {25, 29, 29, 30, 29}},
    {&tn_rates::issues, {4, 4, 4, 4, 4}},
    {&tn_rates::floats, {64, 64, 128, 128, 128}},
    {&tn_rates::doubles, {2, 32, 2, 2, 64}},
    {&tn_rates::integers, {64, 64, 64, 64, 64}},
    {&tn_rates::specials, {16, 16, 16, 16, 16}},
    {&tn_rates::local_bytes, {64, 128, 64, 64, 128}},
    {&tn_rates::shared_banks, {32, 32, 32, 32, 32}},
    {&tn_rates::products_8, {1024, 2048, 1024, 1024, 2660}},
    {&tn_rates::products_16, {512, 1024, 512, 512, 1330}},
    {&tn_rates::products_32, {0, 512, 256, 256, 665}},
    {&tn_rates::products_64, {0, 64, 0, 0, 128}},
    {&tn_rates::peak_products_16, {512, 1024, 512, 512, 2048}},
    {&tn_rates::registers, {65536, 65536, 65536, 65536, 65536}},
    {&tn_rates::threads, {1024, 2048, 1536, 1536, 2048}},
    {&tn_rates::workgroups, {16, 32, 16, 24, 32}},
    {&tn_rates::shared_bytes, {65536, 167936, 102400, 102400, 233472}},
};

}  // namespace

const tn_rates* rates_of(int architecture) {
  static const auto tables = sdk::rate_tables(kRows);
  return sdk::find_rates(kArchitectures, tables, architecture);
}

}  // namespace tenon::cuda
