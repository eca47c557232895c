// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/campaign/buckets.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "conformance/cases/abi/programs.hpp"
#include "conformance/cases/graphs/cells.hpp"
#include "core/support/error.hpp"
#include "sdk/program/text.hpp"

namespace tenon::conformance::campaign {
namespace {

/// The op with what makes another op of it.
std::string op_text(const Node& node) {
  std::string text(op_info(node.op).text);
  if (const auto* view = std::get_if<ViewAttr>(&node.attr))
    text = graphs::view_name(static_cast<int>(view->kind));
  if (const auto* reduce = std::get_if<ReduceAttr>(&node.attr))
    text += fmt::format(".{}", op_info(reduce->op).text);
  if (const auto* cast = std::get_if<CastAttr>(&node.attr)) text += cast->bits ? ".bits" : "";
  if (const auto* store = std::get_if<StoreAttr>(&node.attr))
    text += store->mode == StoreMode::kAdd ? ".add" : ".last";
  return text;
}

std::string typed_text(const Node& node) {
  return fmt::format("{} {}", op_text(node), dtype_name(node.dtype));
}

/// The ops of a program, each once.
std::string ops_of(const abi::SequenceStep& step) {
  std::string error;
  const sdk::Program program = sdk::parse_program(step.text, error);
  if (!error.empty()) return " (none)";
  std::set<std::string> ops;
  for (uint32_t i = 0; i < program.view().op_count(); ++i) {
    const tn_op& op = program.view().op(i);
    if (op.op != TN_OP_CONST && op.op != TN_OP_PARAM && op.op != TN_OP_INDEX)
      ops.insert(fmt::format("{} {}", sdk::op_text(op.op), sdk::dtype_text(op.dtype)));
  }
  return fmt::format(" {}", fmt::join(ops, ", "));
}

bool is_leaf(const Node& node) { return node.op == Op::PARAM || node.op == Op::CONST; }

}  // namespace

std::string bucket_of(const Reproducer& shrunk, const std::string& transform) {
  std::string text = fmt::format("{} {}", status_name(shrunk.outcome.status), shrunk.outcome.kind);
  if (!transform.empty()) text += " " + transform.substr(0, transform.find(' '));
  const Case& test = shrunk.test;
  // A limit has no part in the case beside which it was tried.
  if (shrunk.outcome.kind == "limit")
    return text + " " + shrunk.outcome.text.substr(0, shrunk.outcome.text.find(" is claimed"));
  if (test.refusal) text += " refusal";
  if (test.sequence) {
    text += " " + test.sequence->check;
    for (const abi::SequenceStep& step : test.sequence->steps) {
      text += "; " + step.verb;
      if (abi::is_program(step)) text += ops_of(step);
    }
    return text;
  }
  std::map<const Node*, size_t> numbers;
  for (const NodeRef& node : topological(test.graph.outputs)) {
    text += "; " + typed_text(*node);
    for (const NodeRef& source : node->sources)
      text += fmt::format(" {}", numbers.at(source.get()));
    numbers.emplace(node.get(), numbers.size());
  }
  return text;
}

bool contains_ops(const Case& test, const Case& shrunk) {
  if (test.sequence || shrunk.sequence) return test.sequence && shrunk.sequence;
  std::set<std::string> has;
  for (const NodeRef& node : topological(test.graph.outputs)) has.insert(typed_text(*node));
  return std::ranges::all_of(topological(shrunk.graph.outputs), [&](const NodeRef& node) {
    return is_leaf(*node) || has.contains(typed_text(*node));
  });
}

std::string few_ops(const Case& shrunk) {
  constexpr size_t kMost = 4;
  if (shrunk.sequence) return {};
  std::set<std::string> ops;
  for (const NodeRef& node : topological(shrunk.graph.outputs))
    if (!is_leaf(*node)) ops.insert(typed_text(*node));
  return ops.size() > kMost ? std::string() : fmt::format("{}", fmt::join(ops, ", "));
}

std::string main_op(const Case& shrunk) {
  if (shrunk.sequence || shrunk.graph.outputs.empty()) return shrunk.cell.op;
  return op_text(*shrunk.graph.outputs.front());
}

}  // namespace tenon::conformance::campaign
