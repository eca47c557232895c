// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/kernel_work.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "core/ir/flops.hpp"

namespace tenon {
namespace {

constexpr size_t kMostOps = 6;  ///< that the text names

double elements_of(const Node& node, const SymbolValues& symbols) {
  double count = 1;
  for (const Dim& dim : node.shape) count *= static_cast<double>(dim.evaluate(symbols));
  return count;
}

double bytes_of(const Node& node, const SymbolValues& symbols) {
  return elements_of(node, symbols) * static_cast<double>(dtype_size(node.dtype));
}

std::string word_of(const Node& node) {
  if (const auto* reduce = std::get_if<ReduceAttr>(&node.attr))
    return fmt::format("reduce.{}", op_info(reduce->op).text);
  return std::string(op_info(node.op).text);
}

/// Names of the ops that compute, each once, in order.
std::vector<std::string> words_of(const std::vector<NodeRef>& nodes) {
  std::vector<std::string> words;
  for (const NodeRef& node : nodes) {
    if (node->op == Op::PARAM || node->op == Op::CONST || node->op == Op::VIEW ||
        node->op == Op::INDEX)
      continue;
    const std::string word = word_of(*node);
    if (std::ranges::find(words, word) == words.end()) words.push_back(word);
  }
  if (words.empty()) words.emplace_back("move");
  if (words.size() > kMostOps) {
    words.resize(kMostOps);
    words.emplace_back("..");
  }
  return words;
}

/// Bytes that one use of a node reads of it.
double read_by(const Node& user, size_t operand, const Node& source, const SymbolValues& symbols) {
  const double all = bytes_of(source, symbols);
  if (user.op == Op::STORE && operand == 0) return 0;  // written in place
  const auto* view = std::get_if<ViewAttr>(&user.attr);
  if ((view && view->kind == ViewKind::kShrink) || (user.op == Op::TAKE && operand == 0))
    return std::min(all, bytes_of(user, symbols));
  return all;
}

/// Bytes written of an output.
double written_to(const Node& node, bool in_place, const SymbolValues& symbols) {
  if (in_place && node.op == Op::STORE)
    return std::min(bytes_of(node, symbols), bytes_of(*node.sources[2], symbols));
  return bytes_of(node, symbols);
}

}  // namespace

KernelWork work_of(const KernelCall& call, const SymbolValues& symbols) {
  const std::vector<NodeRef> nodes = topological(call.graph.outputs);
  std::map<const Node*, double> read;  // of params
  KernelWork work;
  for (const NodeRef& node : nodes) {
    work.flops += flops_of(*node, [&](const Node& of) { return elements_of(of, symbols); });
    for (size_t i = 0; i < node->sources.size(); ++i) {
      const Node& source = *node->sources[i];
      if (source.op != Op::PARAM || source.as<ParamAttr>().is_dim) continue;
      double& most = read[&source];
      most = std::min(bytes_of(source, symbols), most + read_by(*node, i, source, symbols));
    }
  }
  for (const auto& [param, bytes] : read) work.bytes += bytes;
  std::vector<std::string> types;
  for (size_t o = 0; o < call.graph.outputs.size(); ++o) {
    const Node& output = *call.graph.outputs[o];
    work.bytes += written_to(output, o < call.alias.size() && call.alias[o] >= 0, symbols);
    if (types.size() < 2) types.push_back(type_string(output));
  }
  if (call.graph.outputs.size() > types.size())
    types.push_back(fmt::format("{} more", call.graph.outputs.size() - types.size()));
  work.text = fmt::format("{} -> {}", fmt::join(words_of(nodes), " "), fmt::join(types, ", "));
  return work;
}

}  // namespace tenon
