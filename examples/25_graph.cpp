// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 25: who goes with whom when a club breaks in two? A graph network knows two of 34 members,
// and who meets whom (Kipf and Welling, 2017).
#include <tenon/nn/nn.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/train.hpp>

#include "options.hpp"
#include "record.hpp"

namespace nn = tenon::nn;
using namespace tenon;

namespace {

constexpr int64_t kMembers = 34;

/// The karate club of W. W. Zachary, "An Information Flow Model for Conflict and Fission in Small
/// Groups", Journal of Anthropological Research 33, 1977: which members, counted from 1, meet
/// outside of it. Each row: a member, and those after it.
const std::vector<std::vector<int64_t>> kMeet{
    {1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 18, 20, 22, 32},
    {2, 3, 4, 8, 14, 18, 20, 22, 31},
    {3, 4, 8, 9, 10, 14, 28, 29, 33},
    {4, 8, 13, 14},
    {5, 7, 11},
    {6, 7, 11, 17},
    {7, 17},
    {9, 31, 33, 34},
    {10, 34},
    {14, 34},
    {15, 33, 34},
    {16, 33, 34},
    {19, 33, 34},
    {20, 34},
    {21, 33, 34},
    {23, 33, 34},
    {24, 26, 28, 30, 33, 34},
    {25, 26, 28, 32},
    {26, 32},
    {27, 30, 34},
    {28, 34},
    {29, 32, 34},
    {30, 33, 34},
    {31, 33, 34},
    {32, 33, 34},
    {33, 34}};
/// Those who stayed with the instructor, member 1; the others followed the president, member 34.
const std::vector<int64_t> kStayed{1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 17, 18, 20, 22};

Tensor normalised_club() {
  std::vector<int64_t> from, to;
  for (const std::vector<int64_t>& row : kMeet) {
    for (size_t i = 1; i < row.size(); ++i) {
      from.push_back(row[0] - 1);
      to.push_back(row[i] - 1);
    }
  }
  const auto edges = static_cast<int64_t>(from.size());
  from.insert(from.end(), to.begin(), to.end());
  return nn::normalised_adjacency(
      nn::adjacency(tensor<int64_t>(from, {2, edges}), kMembers, /*both_ways=*/true));
}

struct Gcn {
  nn::GCNConv conv1{kMembers, 16}, conv2{16, 2};
  TENON_MODULE(Gcn, conv1, conv2)
  /// Features [members, n] to logits of both sides [members, 2].
  Tensor operator()(const Tensor& x, const Tensor& graph) const {
    return conv2(conv1(x, graph).relu(), graph);
  }
};

}  // namespace

int main(int count, char** words) try {
  const Options options = parse_options(
      count, words, "Says who goes with whom, of a club of which it knows two members.", 200);
  std::vector<int64_t> sides(kMembers, 1), known(kMembers, -100);  // -100: does not count
  for (const int64_t member : kStayed) sides[static_cast<size_t>(member - 1)] = 0;
  known.front() = 0;
  known.back() = 1;
  const Tensor graph = normalised_club(), features = eye(kMembers);
  const std::vector<tenon::Key> keys = Key(options.seed).split();
  Gcn model(keys[0]);
  record(options, model, keys[1], [&](const Key&) {
    return formats::NamedTensors{{"graph", graph}};
  });
  const auto loss = [](Gcn& m, const std::vector<Tensor>& all) {
    return nn::cross_entropy(m(all[0], all[1]), all[2]);
  };
  const auto labels = tensor<int64_t>(known, {kMembers});
  const nn::Optimizer optimizer = nn::adamw({.learning_rate = 1e-2, .weight_decay = 5e-4});
  train::Result learned;
  if (options.steps > 0)
    learned = train::fit(model, optimizer, std::vector{features, graph, labels}, loss,
                         {.steps = options.steps, .key = keys[1]});
  const std::vector<int64_t> answers = model(features, graph).argmax(1).to_vector<int64_t>();
  int right = 0;
  for (size_t i = 1; i + 1 < kMembers; ++i) right += answers[i] == sides[i] ? 1 : 0;
  print(learned, options, right / (kMembers - 2.0));
  if (options.json) return 0;
  for (const int64_t side : {0, 1}) {
    std::printf("with member %d:", side == 0 ? 1 : 34);
    for (size_t i = 0; i < kMembers; ++i)
      if (answers[i] == side) std::printf(" %zu%s", i + 1, answers[i] == sides[i] ? "" : "(wrong)");
    std::printf("\n");
  }
  std::printf("%d of %d that it was not told are right\n", right, static_cast<int>(kMembers) - 2);
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "25_graph: %s\n", error.what());
  return 3;
}
