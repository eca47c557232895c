// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/budget/traffic.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "core/budget/accesses.hpp"

namespace tenon {
namespace {

constexpr uint64_t kMostWorkgroups = 1024;  ///< that are traced
constexpr double kUsableCache =
    0.8;  ///< share of the cache that bound buffers may fill and stay cached

class TrafficCount {
 public:
  TrafficCount(const sdk::ProgramView& program, const std::array<uint64_t, 3>& grid,
               const std::vector<uint64_t>& scalars, const Capabilities& device)
      : program_(program), grid_(grid), scalars_(scalars), device_(device) {
    for (const uint64_t size : grid) workgroups_ *= std::max<uint64_t>(1, size);
    middle_ = place_of(workgroups_ / 2, grid);
  }

  Traffic run(uint64_t together) {
    find_footprints();
    count_distinct(std::min({together, workgroups_, kMostWorkgroups}));
    const double seen = static_cast<double>(std::min({together, workgroups_, kMostWorkgroups}));
    const double waves =
        std::max(1.0, static_cast<double>(workgroups_) / static_cast<double>(together));
    const double grown = static_cast<double>(std::min(together, workgroups_)) / seen;
    Traffic out;
    out.misses = misses_;
    std::map<uint32_t, double> wave_bytes, whole;
    double bound = 0;
    for (const Footprint& footprint : footprints_) {
      const auto all = static_cast<double>(workgroups_);
      out.cache_bytes += footprint.bytes * all;
      wave_bytes[footprint.param] += footprint.bytes * footprint.distinct * grown;
      whole[footprint.param] += footprint.bytes * all;
    }
    for (auto& [param, bytes] : whole) {
      const tn_param& row = program_.param(param);
      const double size =
          static_cast<double>(row.count) * sdk::dtype_bytes(static_cast<uint8_t>(row.dtype));
      if (size > 0) bytes = std::min(bytes, size);
      if (size > 0) wave_bytes[param] = std::min(wave_bytes[param], size);
      bound += bytes;
    }
    const bool is_cached =
        device_.l2_bytes && bound < kUsableCache * static_cast<double>(device_.l2_bytes);
    for (const auto& [param, bytes] : whole)
      out.memory_bytes += is_cached ? bytes : std::max(bytes, wave_bytes[param] * waves);
    out.memory_bytes = std::min(out.memory_bytes, std::max(out.cache_bytes, bound));
    return out;
  }

 private:
  /// Bytes touched by accesses to a buffer that loops advance equally.
  struct Footprint {
    uint32_t param = 0, op = 0;
    double bytes = 0;     ///< of a workgroup
    double distinct = 1;  ///< different footprints among concurrent workgroups
  };

  std::vector<AccessAddresses> trace(const std::array<uint64_t, 3>& workgroup, uint32_t subgroup,
                                     uint32_t width, uint32_t advanced) const {
    const SubgroupTrace traced = trace_subgroup(
        program_,
        {.workgroup = workgroup, .subgroup = subgroup, .width = width, .advanced = advanced},
        scalars_);
    std::vector<AccessAddresses> out = addresses_of(program_, traced, device_);
    std::erase_if(out, [&](const auto& access) { return !is_global(program_, access.param); });
    return out;
  }

  /// Measures how far each loop advances an access, and multiplies the sectors by its iterations.
  void find_footprints() {
    const uint32_t width = std::clamp(device_.subgroup_max, 1u, 64u);
    const uint32_t* block = program_.header().workgroup;
    const uint64_t threads = uint64_t{block[0]} * block[1] * block[2];
    const auto subgroups = static_cast<uint32_t>((threads + width - 1) / width);
    const SubgroupTrace first =
        trace_subgroup(program_, {.workgroup = middle_, .subgroup = 0, .width = width}, scalars_);
    std::map<uint32_t, double> factors;  // by op: how many times loops multiply its sectors
    const std::vector<AccessAddresses> still = trace(middle_, 0, width, UINT32_MAX);
    for (const AccessAddresses& access : still) factors[access.op] = access.is_known ? 1 : -1;
    const std::vector<uint32_t> closes = sdk::region_closes(program_);
    for (uint32_t loop = 0; loop < program_.op_count(); ++loop) {
      if (program_.op(loop).op != TN_OP_LOOP || first.trips[loop] <= 1) continue;
      std::map<uint32_t, uint64_t> before;
      for (const AccessAddresses& access : still) before.emplace(access.op, access.begins[0]);
      for (const AccessAddresses& access : trace(middle_, 0, width, loop)) {
        if (access.op < loop || access.op > closes[loop]) continue;
        const auto at = before.find(access.op);
        if (at == before.end()) continue;
        const uint64_t moved = access.begins[0] > at->second ? access.begins[0] - at->second
                                                             : at->second - access.begins[0];
        before.erase(at);  // only the first of adjacent accesses
        if (!access.is_known || moved == 0) continue;
        const double share = std::min(1.0, static_cast<double>(moved) / kSectorBytes);
        factors[access.op] *= std::max(1.0, first.trips[loop] * share);
      }
    }
    // Accesses that loops advance equally are merged, as they may share sectors.
    std::map<std::pair<uint32_t, double>, std::set<uint64_t>> sectors;
    std::map<std::pair<uint32_t, double>, uint32_t> first_op;
    std::map<std::pair<uint32_t, double>, std::set<uint32_t>> ops;
    std::map<std::pair<uint32_t, double>, double> asked;  // sectors, counted for each access
    std::map<uint32_t, double> anywhere;
    for (uint32_t subgroup = 0; subgroup < subgroups; ++subgroup) {
      for (const AccessAddresses& access : trace(middle_, subgroup, width, UINT32_MAX)) {
        const double factor = factors.contains(access.op) ? factors[access.op] : 1;
        if (!access.is_known) {
          anywhere[access.param] += access.times * static_cast<double>(access.begins.size());
          continue;
        }
        const std::pair key{access.param, factor};
        first_op.emplace(key, access.op);
        ops[key].insert(access.op);
        asked[key] += access.times * static_cast<double>(tenon::sectors(access));
        add_sectors(sectors[key], access);
      }
    }
    for (const auto& [key, held] : sectors) {
      const double share = static_cast<double>(held.size()) * key.second / asked[key];
      for (const uint32_t op : ops[key]) misses_[op] = std::min(1.0, share);
      footprints_.push_back(
          {key.first, first_op[key],
           static_cast<double>(held.size()) * static_cast<double>(kSectorBytes) * key.second, 1});
    }
    for (const auto& [param, count] : anywhere)
      footprints_.push_back({param, UINT32_MAX, count * static_cast<double>(kSectorBytes), -1});
  }

  void count_distinct(uint64_t together) {
    std::map<uint32_t, std::set<uint64_t>> begins;
    for (uint64_t w = 0; w < together; ++w) {
      for (const AccessAddresses& access : trace(place_of(w, grid_), 0, 1, UINT32_MAX))
        begins[access.op].insert(access.begins[0]);
    }
    for (Footprint& footprint : footprints_) {
      if (footprint.distinct < 0) {
        footprint.distinct = static_cast<double>(together);
      } else if (const auto at = begins.find(footprint.op); at != begins.end()) {
        footprint.distinct = static_cast<double>(at->second.size());
      }
    }
  }

  const sdk::ProgramView& program_;
  std::array<uint64_t, 3> grid_, middle_{};
  const std::vector<uint64_t>& scalars_;
  const Capabilities& device_;
  uint64_t workgroups_ = 1;
  std::vector<Footprint> footprints_;
  std::map<uint32_t, double> misses_;
};

}  // namespace

Traffic traffic_of(const sdk::ProgramView& program, const std::array<uint64_t, 3>& grid,
                   const std::vector<uint64_t>& scalars, const Capabilities& device,
                   uint64_t together) {
  return TrafficCount(program, grid, scalars, device).run(together);
}

}  // namespace tenon
