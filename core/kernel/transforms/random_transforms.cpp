// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/random_transforms.hpp"

#include <iterator>

#include "core/support/error.hpp"

namespace tenon {
namespace {

constexpr int64_t kFactors[] = {1, 2, 3, 4, 5, 8, 16};

class Drawer {
 public:
  Drawer(Kernel kernel, const std::function<uint32_t(uint32_t)>& below,
         const RandomTransformOptions& options)
      : kernel_(std::move(kernel)), below_(below), options_(options) {}

  TransformList run() {
    for (const Transform& t : options_.first) add(t);
    // Only axes that nothing has changed can be kept, so that comes first.
    if (list_.empty() && below_(2)) keep_all();
    for (int step = 0; step < options_.steps; ++step) {
      const std::vector<std::string> axes = loops();
      if (axes.empty()) break;
      add(draw(axes));
    }
    return std::move(list_);
  }

 private:
  std::vector<std::string> loops() const {
    std::vector<std::string> axes;
    walk(kernel_.body, [&](const Statement& s) {
      if (s.kind == Statement::Kind::kLoop) axes.push_back(kernel_.axes[s.axis].name);
    });
    return axes;
  }

  /// If it is legal.
  void add(Transform t) {
    Kernel next = kernel_;
    try {
      apply_transform(next, t);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kInvalid) throw;
      return;
    }
    kernel_ = std::move(next);
    list_.push_back(std::move(t));
  }

  void keep_all() {
    const std::vector<KernelAxis> axes = kernel_.axes;
    for (const KernelAxis& r : axes)
      for (const KernelAxis& later : axes)
        add({TransformKind::kKeep, {r.name, later.name}, 0, Bind::kLoop});
  }

  Transform draw(const std::vector<std::string>& axes) {
    const auto axis = [&] { return axes[below_(static_cast<uint32_t>(axes.size()))]; };
    Transform t;
    t.names = {axis()};
    const int64_t factor = kFactors[below_(std::size(kFactors))];
    switch (below_(11)) {
      case 0:
      case 1:
        t.kind = TransformKind::kSplit;
        break;
      case 2:
        t.kind = TransformKind::kMerge;
        t.names.push_back(axis());
        break;
      case 3:
        t.kind = TransformKind::kPermute;
        t.names.push_back(axis());
        break;
      case 4:
        t.kind = TransformKind::kPad;
        break;
      case 5:
        t.kind = TransformKind::kUnroll;
        break;
      case 6:
        t.kind = options_.vectors ? TransformKind::kVectorize : TransformKind::kUnroll;
        break;
      case 7:
        t.kind = TransformKind::kBind;
        t.bind = static_cast<Bind>(static_cast<uint32_t>(Bind::kGridX) +
                                   below_(options_.threads ? 6 : 3));
        break;
      case 8:
        t.kind = options_.threads ? TransformKind::kGroup : TransformKind::kSplit;
        break;
      case 9:
        t.kind = TransformKind::kKeep;
        t.names.push_back(axis());
        break;
      default:
        t.kind = TransformKind::kStage;
        t.names.insert(t.names.begin(),
                       fmt::format("b{}", below_(static_cast<uint32_t>(kernel_.buffers.size()))));
        if (below_(2)) t.factor = factor;
    }
    const bool has_factor = t.kind == TransformKind::kSplit || t.kind == TransformKind::kPad ||
                            t.kind == TransformKind::kGroup;
    if (has_factor) t.factor = factor;
    return t;
  }

  Kernel kernel_;
  const std::function<uint32_t(uint32_t)>& below_;
  const RandomTransformOptions& options_;
  TransformList list_;
};

}  // namespace

TransformList random_transforms(Kernel kernel, const std::function<uint32_t(uint32_t)>& below,
                                const RandomTransformOptions& options) {
  return Drawer(std::move(kernel), below, options).run();
}

}  // namespace tenon
