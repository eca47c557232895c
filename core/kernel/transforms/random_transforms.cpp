// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/random_transforms.hpp"

#include <iterator>
#include <utility>

namespace tenon {
namespace {

constexpr int64_t kFactors[] = {1, 2, 3, 4, 5, 8, 16};
/// For a step, until it is legal: some kinds fit few of the axes.
constexpr int kTries = 8;

class Drawer {
 public:
  Drawer(Kernel kernel, const std::function<uint32_t(uint32_t)>& below,
         const RandomTransformOptions& options)
      : chosen_{std::move(kernel), {}}, below_(below), options_(options) {
    for (const TransformInfo& info : all_transforms()) weights_ += info.weight;
  }

  Chosen run() {
    for (const Transform& t : options_.first) add(t);
    // Only axes that nothing has changed can be cached, so that comes first.
    if (chosen_.list.empty() && below_(2)) cache_all();
    for (int step = 0; step < options_.steps; ++step) {
      const std::vector<std::string> axes = loops();
      if (axes.empty()) break;
      const TransformKind kind = draw_kind();
      for (int tries = 0; tries < kTries && !add(draw(kind, axes)); ++tries) {
      }
    }
    return std::move(chosen_);
  }

 private:
  std::vector<std::string> loops() const {
    std::vector<std::string> axes;
    walk(chosen_.kernel.body, [&](const Statement& s) {
      if (s.kind == Statement::Kind::kLoop) axes.push_back(chosen_.kernel.axes[s.axis].name);
    });
    return axes;
  }

  /// If it is legal.
  bool add(Transform t) {
    if (try_apply(chosen_.kernel, t)) return false;
    chosen_.list.push_back(std::move(t));
    return true;
  }

  void cache_all() {
    const std::vector<KernelAxis> axes = chosen_.kernel.axes;
    for (const KernelAxis& r : axes)
      for (const KernelAxis& later : axes)
        add({TransformKind::kCacheReduction, {r.name, later.name}, 0, Bind::kLoop});
  }

  TransformKind draw_kind() {
    uint32_t left = below_(weights_);
    TransformKind kind = TransformKind::kSplit;
    for (const TransformInfo& info : all_transforms()) {
      kind = info.kind;
      if (left < info.weight) break;
      left -= info.weight;
    }
    if (kind == TransformKind::kVectorize && !options_.vectors) return TransformKind::kUnroll;
    if (kind == TransformKind::kGroup && !options_.threads) return TransformKind::kSplit;
    return kind;
  }

  Transform draw(TransformKind kind, const std::vector<std::string>& axes) {
    const auto axis = [&] { return axes[below_(static_cast<uint32_t>(axes.size()))]; };
    Transform t;
    std::optional<std::string> first = axis();
    const int64_t factor = kFactors[below_(std::size(kFactors))];
    t.kind = kind;
    for (const TransformArgument argument : transform_info(t.kind).arguments) {
      using enum TransformArgument;
      switch (argument) {
        case kAxis:
        case kFreeAxis:
          t.names.push_back(first ? *std::exchange(first, {}) : axis());
          break;
        case kBuffer:
          t.names.push_back(
              fmt::format("b{}", below_(static_cast<uint32_t>(chosen_.kernel.buffers.size()))));
          if (below_(4) == 0) t.names.back() += fmt::format(".{}", below_(3));
          break;
        case kPlace:
          t.bind = static_cast<Bind>(static_cast<uint32_t>(Bind::kGridX) +
                                     below_(options_.threads ? 6 : 3));
          break;
        case kFactor:
          t.factor = factor;
          break;
        case kOptionalPad:
          if (below_(2)) t.factor = factor;
          break;
        case kOptionalInner:
          if (below_(2)) t.names.push_back(axis());
          break;
        case kOptionalComputed:
          t.computed = below_(2) != 0;
          break;
        case kNone:
        case kMoreAxes:
        case kAt:
          break;
      }
    }
    return t;
  }

  Chosen chosen_;
  const std::function<uint32_t(uint32_t)>& below_;
  const RandomTransformOptions& options_;
  uint32_t weights_ = 0;
};

}  // namespace

Chosen random_transforms(Kernel kernel, const std::function<uint32_t(uint32_t)>& below,
                         const RandomTransformOptions& options) {
  return Drawer(std::move(kernel), below, options).run();
}

}  // namespace tenon
