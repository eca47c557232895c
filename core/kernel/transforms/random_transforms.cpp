// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/random_transforms.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace tenon {
namespace {

constexpr int64_t kFactors[] = {1, 2, 3, 4, 5, 8, 16};
/// For a step, until it is legal: some kinds fit few of the axes.
constexpr int kTries = 8;
/// Of the loop of a reduction and of one around it.
constexpr TransformKind kOfReductions[] = {TransformKind::kOnlineSoftmax,
                                           TransformKind::kPrecompute, TransformKind::kScan,
                                           TransformKind::kComputeAt};
/// Kinds that want loops nearly as the tree had them, so that lists begin with them.
constexpr TransformKind kEarly[] = {TransformKind::kOnlineSoftmax, TransformKind::kPrecompute,
                                    TransformKind::kScan, TransformKind::kComputeAt,
                                    TransformKind::kStage};

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
    const bool begun = !chosen_.list.empty();
    if (!begun && below_(3) == 0) cache_all();
    if (!begun && chosen_.list.empty() && !loops().empty() && below_(4)) begin();
    for (int step = 0; step < options_.steps; ++step) {
      const std::vector<std::string> axes = loops();
      if (axes.empty()) break;
      const TransformKind kind = draw_kind();
      try_at_random(kind, axes);
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

  /// The loop of a reduction, running or not, and one around it.
  struct Place {
    std::string reduce, around;
  };

  std::vector<Place> places() const {
    std::vector<Place> out;
    std::vector<std::string> around;
    find_places(chosen_.kernel.body, around, out);
    return out;
  }

  void find_places(const std::vector<Statement>& body, std::vector<std::string>& around,
                   std::vector<Place>& out) const {
    for (const Statement& s : body) {
      const bool is_loop = s.kind == Statement::Kind::kLoop;
      if (is_loop) {
        const KernelAxis& axis = chosen_.kernel.axes[s.axis];
        if (axis.kind == AxisKind::kReduce)
          for (const std::string& a : around) out.push_back({axis.name, a});
        around.push_back(axis.name);
      }
      find_places(s.body, around, out);
      if (is_loop) around.pop_back();
    }
  }

  template <class T>
  T any_of(const std::vector<T>& all) {
    return all[below_(static_cast<uint32_t>(all.size()))];
  }

  bool try_at_random(TransformKind kind, const std::vector<std::string>& axes) {
    for (int tries = 0; tries < kTries; ++tries) {
      const std::optional<Transform> t = draw(kind, axes);
      if (!t) return false;
      if (!add(*t)) continue;
      if (kind == TransformKind::kStage && below_(2))
        add({TransformKind::kMultiBuffer, {t->names[1]}, 2 + below_(3), Bind::kLoop});
      return true;
    }
    return false;
  }

  /// The first of the early kinds that is legal somewhere, each now and then left out: the rarest
  /// come first.
  void begin() {
    for (const TransformKind kind : kEarly) {
      if (below_(4) == 0) continue;
      if (kind == TransformKind::kStage ? try_at_random(kind, loops()) : try_places(kind)) return;
    }
  }

  bool try_places(TransformKind kind) {
    const std::vector<Place> all = places();
    const uint32_t first = all.empty() ? 0 : below_(static_cast<uint32_t>(all.size()));
    for (size_t i = 0; i < all.size(); ++i) {
      const Chosen before = chosen_;
      const Place& place = all[(first + i) % all.size()];
      if (begin_at(kind, place)) {
        if (options_.threads && below_(2)) share();
        return true;
      }
      chosen_ = before;
    }
    return false;
  }

  /// Of several loops inside, or of a part of one; of a running result the innermost.
  bool begin_at(TransformKind kind, Place place) {
    if (kind == TransformKind::kScan) {
      const Expr length = extent_of(place.reduce);
      if (length.is_const() && !(length == extent_of(place.around)) &&
          add({TransformKind::kSplit, {place.around}, length.value(), Bind::kLoop}))
        place.around += ".i";
      for (const std::string& a : loops())
        if (a != place.around) add({TransformKind::kReorder, {a, place.around}, 0, Bind::kLoop});
      if (!add({kind, {place.reduce, place.around}, 0, Bind::kLoop})) return false;
      if (below_(2)) try_places(TransformKind::kComputeAt);
      return true;
    }
    if (below_(2) && add({TransformKind::kSplit, {place.around}, draw_factor(), Bind::kLoop}))
      place.around += ".o";
    return add(drawn_for(kind, place, draw_factor()));
  }

  /// What a workgroup's threads fill together, in loops that they take parts of: as many of each.
  void share() {
    const std::vector<std::string> all = loops();
    const bool shares = std::ranges::any_of(all, [&](const std::string& a) {
      return add({TransformKind::kCooperativeLoad, {a}, 0, Bind::kLoop});
    });
    if (!shares) return;
    const int64_t threads = below_(2) ? 4 : 2;
    for (const std::string& a : loops()) {
      const auto kind = chosen_.kernel.axes[chosen_.kernel.axis(a)].kind;
      if (below_(4) == 0) continue;
      if (kind == AxisKind::kReduce) add({TransformKind::kGroup, {a}, threads, Bind::kLoop});
      if (kind != AxisKind::kParallel) continue;
      const Bind place = below_(2) ? Bind::kBlockX : Bind::kBlockY;
      const Chosen before = chosen_;
      const bool is_bound = add({TransformKind::kSplit, {a}, threads, Bind::kLoop}) &&
                            add({TransformKind::kBind, {a + (below_(2) ? ".i" : ".o")}, 0, place});
      if (!is_bound) chosen_ = before;
    }
  }

  const Expr& extent_of(const std::string& axis) const {
    return chosen_.kernel.axes[chosen_.kernel.axis(axis)].extent;
  }

  int64_t draw_factor() { return kFactors[below_(std::size(kFactors))]; }

  Transform drawn_for(TransformKind kind, const Place& place, int64_t factor) {
    Transform t{kind, {place.reduce, place.around}, 0, Bind::kLoop};
    for (const TransformArgument argument : transform_info(kind).arguments) {
      if (argument == TransformArgument::kFactor) t.factor = factor;
      if (argument == TransformArgument::kOptionalInner && below_(2))
        t.names.push_back(place.reduce);
      if (argument == TransformArgument::kOptionalPad && below_(4) == 0) t.pad = draw_factor();
      if (argument == TransformArgument::kOptionalSums) t.sums = below_(2) != 0;
    }
    return t;
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
    const bool wants_threads =
        kind == TransformKind::kGroup || kind == TransformKind::kCooperativeLoad;
    if (wants_threads && !options_.threads) return TransformKind::kSplit;
    return kind;
  }

  /// Nothing if there is no reduction for it.
  std::optional<Transform> draw(TransformKind kind, const std::vector<std::string>& axes) {
    if (std::ranges::count(kOfReductions, kind)) {
      const std::vector<Place> all = places();
      if (all.empty()) return std::nullopt;
      return drawn_for(kind, any_of(all), draw_factor());
    }
    const auto axis = [&] { return any_of(axes); };
    Transform t;
    std::optional<std::string> first = axis();
    const int64_t factor = draw_factor();
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
          if (below_(2)) t.pad = factor;
          break;
        case kOptionalInner:
          if (below_(2)) t.names.push_back(axis());
          break;
        case kOptionalComputed:
          t.computed = below_(2) != 0;
          break;
        case kOptionalLines:
          t.lines = below_(4) == 0;
          break;
        case kOptionalSums:
          t.sums = below_(2) != 0;
          break;
        case kOptionalAcross:
          if (below_(2)) t.across = factor;
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
