// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/budget/budget.hpp"

#include <algorithm>
#include <cmath>

#include "core/budget/traffic.hpp"
#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr uint32_t kRegisterStep = 8;  ///< registers of a thread are allocated in steps of 8
constexpr uint64_t kMostReserved =
    2 << 10;  ///< bytes of shared memory that the driver takes for a workgroup

class BudgetEstimator {
 public:
  BudgetEstimator(const sdk::ProgramView& program, const BudgetLaunch& launch,
                  const Capabilities& device)
      : program_(program), launch_(launch), device_(device), rates_(*device.rates) {}

  Budget run() {
    out_.name = program_.name();
    out_.grid = launch_.grid;
    out_.compiled = launch_.compiled;
    const uint32_t* block = program_.header().workgroup;
    std::copy_n(block, 3, out_.workgroup.begin());
    threads_ = uint64_t{block[0]} * block[1] * block[2];
    for (const uint64_t size : launch_.grid) workgroups_ *= static_cast<double>(size);
    width_ = std::clamp(device_.subgroup_max, 1u, 64u);
    find_residents();
    const uint64_t together = uint64_t{out_.resident} * units();
    const Traffic traffic = traffic_of(program_, launch_.grid, launch_.scalars, device_, together);
    look_at_a_workgroup(traffic);
    out_.cache_bytes = traffic.cache_bytes;
    out_.memory_bytes = traffic.memory_bytes;
    out_.waves = workgroups_ / static_cast<double>(together);
    find_time();
    return std::move(out_);
  }

 private:
  uint32_t units() const { return std::max(1u, device_.compute_units); }

  void find_residents() {
    const auto per = [](uint64_t held, uint64_t used) {
      return held && used ? held / used : uint64_t{UINT32_MAX};  // 0 is unknown
    };
    const uint64_t subgroups = (threads_ + width_ - 1) / width_;
    const uint64_t registers =
        (uint64_t{launch_.compiled.registers} + kRegisterStep - 1) / kRegisterStep * kRegisterStep;
    uint64_t shared = std::max(launch_.compiled.shared_bytes, program_.header().shared_bytes);
    const uint64_t unused = uint64_t{rates_.shared_bytes} - device_.max_shared_bytes;
    if (shared && rates_.shared_bytes > device_.max_shared_bytes && unused <= kMostReserved)
      shared += unused;
    const std::pair<uint64_t, const char*> limits[] = {
        {per(rates_.threads, subgroups * width_), "threads"},
        {per(rates_.registers, registers * subgroups * width_), "registers"},
        {per(rates_.shared_bytes, shared), "shared memory"},
        {per(rates_.workgroups, 1), "workgroups"}};
    const auto* least =
        std::ranges::min_element(limits, {}, &std::pair<uint64_t, const char*>::first);
    out_.resident = static_cast<uint32_t>(std::clamp<uint64_t>(least->first, 1, 1024));
    out_.resident_by = least->second;
    if (rates_.threads) {
      out_.occupancy = static_cast<double>(out_.resident * subgroups * width_) /
                       static_cast<double>(rates_.threads);
    }
  }

  void look_at_a_workgroup(const Traffic& traffic) {
    const auto place = place_of(static_cast<uint64_t>(workgroups_) / 2, launch_.grid);
    const auto subgroups = static_cast<uint32_t>((threads_ + width_ - 1) / width_);
    for (uint32_t subgroup = 0; subgroup < subgroups; ++subgroup) {
      const SubgroupTrace trace = trace_subgroup(
          program_, {.workgroup = place, .subgroup = subgroup, .width = width_}, launch_.scalars);
      out_.work += count_work(program_, trace, device_);
      add_costs(out_.accesses, addresses_of(program_, trace, device_), program_,
                std::max(1u, rates_.shared_banks));
    }
    parts_ = parts();
    busy_ = busy();
    const uint32_t looked_at[] = {0, subgroups - 1};
    for (const uint32_t subgroup : looked_at) {
      const SubgroupTrace trace = trace_subgroup(
          program_, {.workgroup = place, .subgroup = subgroup, .width = width_}, launch_.scalars);
      const Waits waits =
          longest_path(program_, trace, rates_, traffic.misses, out_.resident * busy_);
      out_.waits.path = std::max(out_.waits.path, waits.path);
      out_.waits.memory = std::max(out_.waits.memory, waits.memory);
    }
  }

  /// Clocks of one workgroup on each pipe of a multiprocessor.
  std::vector<Bound> parts() const {
    const Work& work = out_.work;
    double instructions = work.issues, moved = work.exchanges;
    const double line = std::max(1u, rates_.shared_banks) * static_cast<double>(kBankBytes);
    const double local = rates_.local_bytes ? static_cast<double>(rates_.local_bytes) : line;
    for (const AccessCost& access : out_.accesses) {
      const bool shared = is_shared(program_, access.param);
      const bool is_counted = access.kind == AccessKind::kFragmentLoad ||
                              access.kind == AccessKind::kFragmentStore ||
                              (access.kind == AccessKind::kCopy && shared);
      if (!is_counted) instructions += access.requests;
      if (shared) {
        moved += access.pieces;
      } else if (access.kind != AccessKind::kCopy) {
        moved += std::max(access.wavefronts, access.moved / local);
      }
    }
    double products = 0;
    for (const auto& [id, count] : work.atoms) {
      const auto atom = std::ranges::find(device_.atoms, id, &MatrixAtom::id);
      if (atom == device_.atoms.end()) continue;
      const bool is_16 = dtype_size(atom->a) == 2;
      const uint32_t rate =
          atom->tiles && is_16 ? rates_.peak_products_16 : rates_.products(atom->a);
      if (rate) products += count * atom->m * atom->n * atom->k / rate;
      const double elements = static_cast<double>(atom->m + atom->n) * atom->k;
      if (atom->tiles) moved += count * elements * static_cast<double>(dtype_size(atom->a)) / line;
    }
    const auto clocks = [](double amount, uint32_t rate) { return rate ? amount / rate : 0; };
    return {{"instructions", clocks(instructions, rates_.issues)},
            {"f32 arithmetic", clocks(work.floats, rates_.floats)},
            {"f64 arithmetic", clocks(work.doubles, rates_.doubles)},
            {"integer arithmetic", clocks(work.integers, rates_.integers)},
            {"special functions", clocks(work.specials, rates_.specials)},
            {"shared memory and L1", moved},
            {"matrix products", products}};
  }

  /// Clocks of a workgroup with all pipes overlapped. One subgroup uses the pipes in turn; others
  /// of its scheduler fill the gaps. So this is a p-norm of the times of the pipes, p being the
  /// number of subgroups of a scheduler.
  double busy() const {
    const double subgroups = std::ceil(static_cast<double>(threads_) / width_) * out_.resident;
    const double power = std::clamp(subgroups / std::max(1u, rates_.issues), 1.0, 16.0);
    double sum = 0, most = 0;
    for (const Bound& part : parts_) most = std::max(most, part.seconds);
    if (most == 0) return 0;
    for (const Bound& part : parts_) sum += std::pow(part.seconds / most, power);
    return most * std::pow(sum, 1 / power);
  }

  /// Bytes from and to the L2 cache. A request costs at least half of a line: on an H100, 80 slices
  /// answered 73 requests a clock and were 91 % busy.
  double cache_bytes() const {
    double cache_requests = 0;
    for (const AccessCost& access : out_.accesses) cache_requests += access.cache_requests;
    constexpr double kHalf = kRequestBytes / 2.0;
    return std::max(out_.cache_bytes, cache_requests * workgroups_ * kHalf);
  }

  void find_time() {
    const double clock = rates_.clock_mhz * 1e6;
    const double each_unit = std::ceil(workgroups_ / units());
    for (const Bound& part : parts_) {
      if (part.seconds > 0) out_.bounds.push_back({part.name, part.seconds * each_unit / clock});
    }
    // One workgroup alone is bound by latency. Several hide each other's latency.
    const double alone = std::max(out_.waits.path, busy_ + out_.waits.memory);
    const auto round = [&](double workgroups) { return std::max(workgroups * busy_, alone); };
    const double rounds = std::floor(each_unit / out_.resident);
    const double rest = each_unit - rounds * out_.resident;
    const double clocks = rounds * round(out_.resident) + (rest > 0 ? round(rest) : 0);
    const bool waits = alone > out_.resident * busy_;
    out_.bounds.push_back({waits ? "a unit, waiting" : "a unit, all of it", clocks / clock});
    if (rates_.cache_bytes)
      out_.bounds.push_back({"cache", cache_bytes() / (rates_.cache_bytes * clock)});
    out_.bounds.push_back({"memory", out_.memory_bytes / (rates_.memory_mbps * 1e6)});
    std::ranges::stable_sort(out_.bounds, std::greater(), &Bound::seconds);
    out_.seconds = out_.bounds.front().seconds;
  }

  const sdk::ProgramView& program_;
  const BudgetLaunch& launch_;
  const Capabilities& device_;
  const Rates& rates_;
  Budget out_;
  std::vector<Bound> parts_;  ///< clocks of a workgroup
  uint64_t threads_ = 1;
  uint32_t width_ = 32;
  double workgroups_ = 1, busy_ = 0;
};

}  // namespace

Budget budget_of(const sdk::ProgramView& program, const BudgetLaunch& launch,
                 const Capabilities& device) {
  if (!device.rates || !device.rates->clock_mhz || !device.rates->memory_mbps)
    throw Error(ErrorKind::kUnsupported,
                "[budget] expected a device whose properties have rates (tn_rates), got none");
  return BudgetEstimator(program, launch, device).run();
}

double matrix_peak(const Capabilities& device) {
  if (!device.rates) return 0;
  return 2.0 * device.rates->peak_products_16 * device.compute_units * device.rates->clock_mhz *
         1e6;
}

}  // namespace tenon
