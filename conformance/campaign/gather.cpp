// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/gather.hpp"

#include <algorithm>
#include <list>
#include <map>
#include <tuple>

#include "conformance/campaign/buckets.hpp"
#include "conformance/campaign/reduce_failure.hpp"
#include "conformance/campaign/regressions.hpp"
#include "core/support/error.hpp"

namespace tenon::conformance::campaign {
namespace {

constexpr int kMostFlaky = 3;  ///< cases of a group that are tried until one comes again
constexpr int kMostExplained =
    4;  ///< graphs that are shrunk although a smaller failure explains them

/// Failures that are taken to be the same before any is shrunk.
struct Group {
  std::vector<const Finished*> members;
  bool is_graph = false;
};

bool can_reduce(const Finished& finished) {
  switch (finished.outcome.status) {
    case Status::kFail:
    case Status::kCrash:
    case Status::kTimeout:
    case Status::kDeviceLost:
      return true;
    case Status::kFlaky:
    case Status::kXpass:
    case Status::kPass:
    case Status::kUnsupported:
    case Status::kVacuous:
    case Status::kXfail:
    case Status::kToolError:
      return false;
  }
  return false;
}

class Gatherer {
 public:
  Gatherer(const CampaignOptions& options, report::Report& report)
      : options_(options), report_(report), reducer_(options) {}

  void run(const std::vector<Finished>& failures) {
    for (Group* group : in_order(failures)) take(*group);
    for (Group* group : explained_) take_explained(*group);
    for (auto& [key, entry] : entries_) finish(entry);
  }

 private:
  struct Entry {
    Reduced reduced;
    const Finished* first = nullptr;
  };

  /// One failure a cell and kind; of graphs each is its own.
  static std::string key_of(const Finished& f) {
    if (is_graph(f)) return fmt::format("graph {}", f.index);
    return fmt::format("{} {} {} {}", f.cell.op, f.cell.dtype, status_name(f.outcome.status),
                       f.outcome.kind);
  }
  static bool is_graph(const Finished& f) {
    return f.cell.op == "graph" || f.cell.op == "api.sequence";
  }

  /// Cells first, and of these one for each op and kind before the other dtypes.
  std::vector<Group*> in_order(const std::vector<Finished>& failures) {
    std::map<std::string, Group*> by_key;
    for (const Finished& finished : failures) {
      Group*& group = by_key[key_of(finished)];
      if (!group) group = &groups_.emplace_back(Group{{}, is_graph(finished)});
      group->members.push_back(&finished);
    }
    std::map<std::string, int> seen;
    std::vector<std::pair<int, Group*>> ranked;
    for (Group& group : groups_) {
      const Finished& f = *group.members.front();
      const int rank = group.is_graph ? 1 << 20 : seen[f.cell.op + " " + f.outcome.kind]++;
      ranked.emplace_back(rank, &group);
    }
    std::ranges::stable_sort(ranked, {}, &std::pair<int, Group*>::first);
    std::vector<Group*> out;
    for (const auto& [rank, group] : ranked) out.push_back(group);
    return out;
  }

  /// On a device that was lost too often, what lost it is looked at and nothing else.
  bool may_reduce(const Finished& finished) const {
    if (gone_ || (options_.lost && finished.outcome.status != Status::kDeviceLost)) return false;
    return can_reduce(finished);
  }

  void take(Group& group) {
    if (group.is_graph && explained_by(*group.members.front()))
      explained_.push_back(&group);
    else
      shrink_one(group);
  }

  /// A graph with all that a smaller failure has is most likely that failure again.
  Entry* explained_by(const Finished& finished) {
    if (!may_reduce(finished)) return nullptr;
    const Case test = reducer_.make(finished);
    for (auto& [key, entry] : entries_) {
      const Reproducer& shrunk = entry.reduced.reproducer;
      if (shrunk.test.graph.outputs.empty() && !shrunk.test.sequence) continue;
      if (same_failure(shrunk.outcome, finished.outcome) && contains_ops(test, shrunk.test))
        return &entry;
    }
    return nullptr;
  }

  void take_explained(Group& group) {
    if (explained_shrunk_++ < kMostExplained && shrunk_ < options_.most_shrunk)
      return shrink_one(group);
    if (Entry* entry = explained_by(*group.members.front()))
      entry->reduced.failure.same += group.members.size();
    else
      shrink_one(group);
  }

  void shrink_one(Group& group) {
    int flaky = 0;
    while (flaky < kMostFlaky && !group.members.empty() && shrunk_ < options_.most_shrunk &&
           !(options_.stopped && options_.stopped()) && may_reduce(*group.members.front())) {
      const Finished& finished = *group.members.front();
      ++shrunk_;
      Reduced reduced = reducer_.reduce(finished);
      if (reduced.failure.reproducer.empty() && reduced.failure.status != Status::kFlaky) {
        gone_ = reduced.gone;
        break;
      }
      if (reduced.failure.status != Status::kFlaky) {
        reduced.failure.same = group.members.size() - 1;
        const std::string key = bucket_of(reduced.reproducer, reduced.failure.transform);
        return merge(key, {std::move(reduced), &finished});
      }
      ++flaky;
      count_flaky(finished);
      const std::string key = "flaky " + reduced.failure.name;  // before it is moved
      merge(key, {std::move(reduced), &finished});
      group.members.erase(group.members.begin());
    }
    if (group.members.empty()) return;
    const Finished& finished = *group.members.front();
    Reduced named;
    named.failure = reducer_.describe(finished);
    named.failure.same = group.members.size() - 1;
    const std::string key = "not shrunk " + named.failure.name;
    merge(key, {std::move(named), &finished});
  }

  /// The smallest case stays.
  void merge(const std::string& key, Entry entry) {
    const auto [place, is_new] = entries_.try_emplace(key, entry);
    if (is_new) return;
    report::Failure& now = place->second.reduced.failure;
    const uint64_t same = now.same + entry.reduced.failure.same + 1;
    const auto size = [](const report::Failure& f) { return std::tuple(f.nodes, f.elements); };
    if (size(entry.reduced.failure) < size(now)) place->second = std::move(entry);
    place->second.reduced.failure.same = same;
  }

  void count_flaky(const Finished& finished) {
    const auto from = static_cast<size_t>(finished.outcome.status);
    const auto to = static_cast<size_t>(Status::kFlaky);
    --report_.counts[from], ++report_.counts[to];
    report::CellRow& row = report_.cells[{finished.cell.op, finished.cell.dtype}];
    --row.counts[from], ++row.counts[to];
  }

  void finish(Entry& entry) {
    report::Failure& failure = entry.reduced.failure;
    if (options_.regressions && !failure.reproducer.empty())
      write_regression(*options_.regressions, options_.worker.target, entry.reduced.reproducer,
                       failure.transform);
    found_.emplace_back(entry.first->index, std::move(failure));
  }

 public:
  /// What is most exact comes first: a byte outside of a buffer. The rest by index of the first
  /// case.
  std::vector<report::Failure> entries() {
    std::ranges::stable_sort(found_, {}, [](const auto& one) {
      return std::pair(one.second.kind != "guard", one.first);
    });
    std::vector<report::Failure> out;
    for (auto& [index, failure] : found_) out.push_back(std::move(failure));
    return out;
  }

 private:
  const CampaignOptions& options_;
  report::Report& report_;
  FailureReducer reducer_;
  std::list<Group> groups_;
  std::vector<Group*> explained_;
  std::map<std::string, Entry> entries_;  ///< by bucket
  std::vector<std::pair<uint64_t, report::Failure>> found_;
  int shrunk_ = 0, explained_shrunk_ = 0;
  bool gone_ = false;  ///< the device does not start any more
};

}  // namespace

void gather_failures(const CampaignOptions& options, const std::vector<Finished>& failures,
                     report::Report& report) {
  Gatherer gatherer(options, report);
  gatherer.run(failures);
  for (report::Failure& failure : gatherer.entries()) report.failures.push_back(std::move(failure));
}

}  // namespace tenon::conformance::campaign
