// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How values were computed, for gradients by what they were computed from. Internal to the library.
//
// A run leaves its graph with the values that it gave, and weak references to the values that it
// took: memory is held by who holds tensors. A gradient goes on through a value to what computed
// it. A value that is gone is computed again, from a history of at most kMostGenerations runs;
// beyond, only the identities of ancestors that are still there are known. Where a path needs more,
// the gradient is an error, never a missing term.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/ir/remap.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/dtype.hpp"

namespace tenon {

/// Runs through whose results a gradient still goes when these are gone.
inline constexpr int kMostGenerations = 64;

/// Values from which others were computed before the history that is kept.
struct Ancestors {
  std::map<uint64_t, std::weak_ptr<const Node>> own;  ///< by identity
  std::set<std::shared_ptr<const Ancestors>> more;
};

struct Origin {
  struct Input {
    uint64_t identity = 0;  ///< of the PARAM that owned the value; 0: `number` is the value
    std::weak_ptr<const Node> node;
    Scalar number;
    Made made;                                   ///< how to compute the value again, or,
    std::shared_ptr<const Ancestors> forgotten;  ///< where the history ends, from what it came
  };
  std::string call;           ///< that ran the graph
  GraphRef graph;             ///< none: no gradient goes through it
  std::vector<Input> inputs;  ///< the values of the graph's params
  int generation = 0;         ///< runs before it that are kept
};

/// A run of `graph` on PARAMs that own values. In place of one that is null: the number of its
/// place.
std::shared_ptr<const Origin> make_origin(std::string call, GraphRef graph,
                                          const std::vector<NodeRef>& inputs,
                                          const std::vector<Scalar>& numbers = {});
/// Another tensor's value. Without a gradient: a path through it is an error.
Made made_from(const char* call, Builder& builder, const NodeRef& x, bool has_gradient);
/// Of a PARAM that owns a buffer.
const Made& made_of(const Node& node);

/// Nodes as they were before values were read, as far as this matters to gradients of some outputs
/// by `wrt`, and the other way round.
class History {
 public:
  /// `op` is for messages. Throws kInvalid where a value is computed from one of `wrt` in a way
  /// that is not known any more.
  History(const char* op, Builder& builder, const std::vector<NodeRef>& outputs,
          const std::vector<NodeRef>& wrt);

  std::vector<NodeRef> before(const std::vector<NodeRef>& nodes) const;
  /// Values that are there need not be computed again. Throws kInvalid for one that is needed and
  /// gone.
  std::vector<NodeRef> after(const std::vector<NodeRef>& nodes) const;

 private:
  /// A run, and its results that are looked at: places and identities.
  struct Run {
    std::shared_ptr<const Origin> origin;
    std::vector<std::pair<size_t, uint64_t>> results;
  };

  enum class Dependence : uint8_t { kNone, kOriginal, kTarget };

  /// Runs after the value of that identity, from which the values below these nodes came, oldest
  /// first.
  std::vector<Run> runs_since(uint64_t identity, const std::vector<NodeRef>& nodes);
  /// Whether it is one of `wrt`, or may be computed from one.
  bool is_known(uint64_t identity) const;
  bool is_known(const Ancestors& ancestors) const;
  /// What the results of a run may depend on, as far as its inputs tell.
  Dependence dependence_of(const Origin& origin) const;
  void expand(const Run& run, Dependence dependence);
  std::vector<NodeRef> results_of(const Run& run);
  NodeRef value_of(const std::shared_ptr<const Origin>& origin, size_t input);
  /// The node that a value was before it was read; the value's if what it was made from is gone.
  NodeRef original_of(const NodeRef& value) const;
  bool has_original_below(const NodeRef& node) const;
  /// Those of `wrt` that other tensors have as they were before they were read.
  void expand_leaves(const std::vector<NodeRef>& outputs);
  /// Throws where a path leads through what is not known any more.
  void check(const std::vector<NodeRef>& outputs) const;

  const char* op_;
  Builder& builder_;
  std::set<uint64_t> leaves_;       ///< values among `wrt`
  std::set<uint64_t> targets_;      ///< PARAMs that `wrt` are, or are made of
  std::vector<NodeRef> constants_;  ///< those of `wrt` that are made of no PARAM
  /// Values among `wrt`, with what they were before they were read, and of which PARAMs. Others
  /// were made of them then.
  std::vector<std::pair<NodeRef, NodeRef>> originals_;
  std::set<uint64_t> made_of_;
  bool has_constant_original_ = false;
  std::map<uint64_t, NodeRef> alive_;  ///< values that are there, by identity
  std::map<uint64_t, NodeRef> expanded_;
  struct Gone {
    NodeRef param;  ///< in place of the value
    std::shared_ptr<const Origin> needed_by;
  };
  std::map<uint64_t, Gone> gone_;
  std::vector<std::pair<NodeRef, std::string>> unknown_;  ///< in place of values, and why
  Remapped origins_, read_;
};

}  // namespace tenon
