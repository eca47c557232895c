// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/budget/accesses.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tenon {
namespace {

constexpr uint32_t kWidest = 16;  ///< bytes a thread in one access

uint32_t param_of(const sdk::ProgramView& program, uint32_t value) {
  return static_cast<uint32_t>(program.op(value).imm);
}

class Addresses {
 public:
  Addresses(const sdk::ProgramView& program, const SubgroupTrace& trace, const Capabilities& device)
      : program_(program),
        trace_(trace),
        device_(device),
        places_(sdk::allocation_places(program)) {}

  std::vector<AccessAddresses> run() {
    for (uint32_t i = 0; i < program_.op_count(); ++i) {
      if (trace_.active[i] && trace_.times[i] > 0) visit(i);
    }
    return std::move(out_);
  }

 private:
  void visit(uint32_t i) {
    const tn_op& op = program_.op(i);
    const auto operands = program_.operands(op);
    switch (op.op) {
      case TN_OP_TAKE:
        return plain(i, AccessKind::kLoad, op.lanes,
                     operands.size() > 2 ? std::optional(operands[2]) : std::nullopt);
      case TN_OP_STORE:
        return plain(i, AccessKind::kStore, program_.op(operands[2]).lanes,
                     operands.size() > 3 ? std::optional(operands[3]) : std::nullopt);
      case TN_OP_ATOMIC:
        return plain(i, AccessKind::kAtomic, 1, std::nullopt);
      case TN_OP_ASYNC_COPY:
        threads(i, AccessKind::kCopy, operands[2], operands[3], static_cast<uint32_t>(op.imm), 1,
                std::nullopt);
        threads(i, AccessKind::kCopy, operands[0], operands[1], static_cast<uint32_t>(op.imm), 1,
                std::nullopt);
        out_[out_.size() - 2].cache_requests = cache_requests(out_[out_.size() - 2], out_.back());
        return;
      case TN_OP_MATRIX_LOAD:
        return fragment(i, AccessKind::kFragmentLoad);
      case TN_OP_MATRIX_STORE:
        return fragment(i, AccessKind::kFragmentStore);
      default:
        return;
    }
  }

  /// Requests to the cache: one for each pair of a global and a shared line of kRequestBytes.
  /// Measured on an H100, where pieces of 16 bytes for 8 lines took 8 requests.
  static uint64_t cache_requests(const AccessAddresses& from, const AccessAddresses& to) {
    if (!from.is_known || !to.is_known) return from.begins.size();
    std::set<std::pair<uint64_t, uint64_t>> lines;
    for (size_t k = 0; k < from.begins.size(); ++k)
      for (const uint64_t end : {uint64_t{0}, uint64_t{from.bytes} - 1})
        lines.emplace((from.begins[k] + end) / kRequestBytes, (to.begins[k] + end) / kRequestBytes);
    return lines.size();
  }

  uint32_t element_bytes(uint32_t param) const {
    return std::max(1u, sdk::dtype_bytes(static_cast<uint8_t>(program_.param(param).dtype)));
  }

  void plain(uint32_t i, AccessKind kind, uint32_t lanes, std::optional<uint32_t> mask) {
    const tn_op& op = program_.op(i);
    const auto operands = program_.operands(op);
    const uint32_t size = element_bytes(param_of(program_, operands[0]));
    const bool is_whole = lanes == 1 || (op.flags & TN_OP_ALIGNED);
    const uint32_t whole = lanes * size;
    const uint32_t bytes = is_whole ? std::min(whole, kWidest) : size;
    threads(i, kind, operands[0], operands[1], bytes, std::max(1u, whole / bytes), mask);
  }

  /// Adds `count` adjacent accesses of `bytes` a thread.
  void threads(uint32_t i, AccessKind kind, uint32_t buffer, uint32_t index, uint32_t bytes,
               uint32_t count, std::optional<uint32_t> mask) {
    const uint32_t param = param_of(program_, buffer);
    if (!is_shared(program_, param) && !is_global(program_, param)) return;
    const uint32_t size = element_bytes(param);
    const bool is_known = trace_.values[index].is_known;
    for (uint32_t k = 0; k < count; ++k) {
      AccessAddresses access{i, param, kind, bytes, is_known, trace_.times[i], {}};
      for (uint32_t lane = 0; lane < trace_.width; ++lane) {
        if (!(trace_.active[i] >> lane & 1)) continue;
        if (mask && trace_.values[*mask].is_known && !trace_.values[*mask].bits[lane]) continue;
        // Unknown addresses count as one sector each, without bank conflicts.
        const uint64_t at = is_known
                                ? static_cast<uint64_t>(trace_.number(program_, index, lane)) * size
                            : is_shared(program_, param) ? uint64_t{lane} * bytes
                                                         : uint64_t{lane} * kSectorBytes;
        access.begins.push_back(places_[param].offset + at + uint64_t{k} * bytes);
      }
      if (!access.begins.empty()) out_.push_back(std::move(access));
    }
  }

  /// Adds the accesses of a matrix fragment by rows in memory, as the layout over threads is
  /// unknown. For 16-bit elements one access is an 8 x 8 matrix: 8 rows of 16 bytes. For wider ones
  /// it is one element for each of 32 threads.
  void fragment(uint32_t i, AccessKind kind) {
    const tn_op& op = program_.op(i);
    const auto operands = program_.operands(op);
    const auto atom = std::ranges::find(device_.atoms, static_cast<uint32_t>(op.imm & UINT32_MAX),
                                        &MatrixAtom::id);
    const uint32_t param = param_of(program_, operands[0]);
    if (atom == device_.atoms.end() || (!is_shared(program_, param) && !is_global(program_, param)))
      return;
    const uint64_t role = op.imm & TN_MATRIX_ROLE;
    // The matrix unit reads operands of tiles itself. Several subgroups store their sums once.
    if (atom->tiles && role != TN_MATRIX_C) return;
    const uint32_t together = std::max(1u, static_cast<uint32_t>(atom->subgroup) / trace_.width);
    if (trace_.subgroup % together != 0) return;
    int rows = role == TN_MATRIX_B ? atom->k : atom->m;
    int columns = role == TN_MATRIX_A ? atom->k : atom->n;
    const bool is_transposed = op.imm & TN_MATRIX_TRANSPOSED;
    if (is_transposed) std::swap(rows, columns);
    const int size = static_cast<int>(element_bytes(param));
    const bool is_known =
        trace_.values[operands[1]].is_known && trace_.values[operands[2]].is_known;
    const auto lane = static_cast<uint32_t>(std::countr_zero(trace_.active[i]));
    const int64_t begin = is_known ? trace_.number(program_, operands[1], lane) : 0;
    const int64_t stride = is_known ? trace_.number(program_, operands[2], lane) : columns;
    const bool is_down = size >= 4 && role == TN_MATRIX_B && !is_transposed;
    const int high = std::min(rows, is_down || (size >= 4 && role == TN_MATRIX_C) ? 4 : 8);
    const int wide = std::min(columns, std::max(1, (size >= 4 ? 128 / high : 16) / size));
    for (int r = 0; r < rows; r += high) {
      for (int c = 0; c < columns; c += wide) {
        AccessAddresses access{i,        param,           kind, static_cast<uint32_t>(wide * size),
                               is_known, trace_.times[i], {}};
        for (int k = 0; k < std::min(high, rows - r); ++k) {
          access.begins.push_back(places_[param].offset +
                                  static_cast<uint64_t>(begin + (r + k) * stride + c) *
                                      static_cast<uint64_t>(size));
        }
        out_.push_back(std::move(access));
      }
    }
  }

  const sdk::ProgramView& program_;
  const SubgroupTrace& trace_;
  const Capabilities& device_;
  std::vector<sdk::AllocationPlace> places_;
  std::vector<AccessAddresses> out_;
};

/// Bytes of a wavefront without bank conflicts: one word of every bank.
uint64_t wavefront_bytes(uint32_t banks) { return banks * kBankBytes; }

}  // namespace

bool is_shared(const sdk::ProgramView& program, uint32_t param) {
  return program.param(param).space == TN_SPACE_SHARED;
}

bool is_global(const sdk::ProgramView& program, uint32_t param) {
  return program.param(param).kind == TN_PARAM_BUFFER;
}

std::vector<AccessAddresses> addresses_of(const sdk::ProgramView& program,
                                          const SubgroupTrace& trace, const Capabilities& device) {
  return Addresses(program, trace, device).run();
}

void add_sectors(std::set<uint64_t>& sectors, const AccessAddresses& access) {
  for (const uint64_t begin : access.begins) {
    for (uint64_t s = begin / kSectorBytes; s <= (begin + access.bytes - 1) / kSectorBytes; ++s)
      sectors.insert(s);
  }
}

uint64_t sectors(const AccessAddresses& access) {
  std::set<uint64_t> all;
  add_sectors(all, access);
  return all.size();
}

uint64_t bank_wavefronts(const AccessAddresses& access, uint32_t banks) {
  const size_t together = std::max<size_t>(1, wavefront_bytes(banks) / std::max(4u, access.bytes));
  uint64_t wavefronts = 0;
  for (size_t first = 0; first < access.begins.size(); first += together) {
    std::map<uint64_t, std::set<uint64_t>> words;
    const size_t end = std::min(access.begins.size(), first + together);
    for (size_t k = first; k < end; ++k) {
      const uint64_t begin = access.begins[k];
      for (uint64_t w = begin / kBankBytes; w <= (begin + access.bytes - 1) / kBankBytes; ++w)
        words[w % banks].insert(w);
    }
    size_t most = 0;
    for (const auto& [bank, held] : words) most = std::max(most, held.size());
    wavefronts += most;
  }
  return wavefronts;
}

void add_costs(std::vector<AccessCost>& costs, const std::vector<AccessAddresses>& accesses,
               const sdk::ProgramView& program, uint32_t banks) {
  for (const AccessAddresses& access : accesses) {
    const auto at = std::ranges::find_if(costs, [&](const AccessCost& cost) {
      return cost.param == access.param && cost.kind == access.kind && cost.bytes == access.bytes;
    });
    AccessCost& cost =
        at != costs.end() ? *at
                          : costs.emplace_back(AccessCost{
                                .param = access.param, .kind = access.kind, .bytes = access.bytes});
    const double moved = static_cast<double>(access.begins.size()) * access.bytes;
    const bool shared = is_shared(program, access.param);
    const uint64_t wavefronts = bank_wavefronts(access, banks),
                   pieces = shared ? wavefronts : sectors(access);
    cost.wavefronts += access.times * static_cast<double>(wavefronts);
    const double unit = shared ? static_cast<double>(wavefront_bytes(banks)) : kSectorBytes;
    cost.requests += access.times;
    cost.cache_requests += access.times * static_cast<double>(access.cache_requests);
    cost.moved += access.times * moved;
    cost.pieces += access.times * static_cast<double>(pieces);
    cost.least += access.times * std::max(1.0, moved / unit);
    cost.is_known = cost.is_known && access.is_known;
  }
}

}  // namespace tenon
