// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/kernel/transforms/random_transforms.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "core/kernel/transforms/fields.hpp"

namespace tenon {
namespace {

constexpr int64_t kFactors[] = {1, 2, 3, 4, 5, 8, 16};
/// Attempts at one step: some kinds are legal for few axes.
constexpr int kTries = 8;
/// Kinds that take the loop of a reduction and one around it.
constexpr TransformKind kOfReductions[] = {TransformKind::kOnlineSoftmax,
                                           TransformKind::kPrecompute, TransformKind::kScan,
                                           TransformKind::kComputeAt};
/// Kinds that are rarely legal after others, so lists begin with them.
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
    for (const WrittenTransform& t : options_.first) {
      const std::variant<Transform, Refusal> found = resolve(chosen_.kernel, t);
      if (const auto* transform = std::get_if<Transform>(&found)) add(*transform);
    }
    // cache_reduction comes first: it takes unchanged axes only.
    const bool begun = !chosen_.list.empty();
    if (!begun && below_(3) == 0) cache_all();
    if (!begun && chosen_.list.empty() && !loops().empty() && below_(4)) begin();
    for (int step = 0; step < options_.steps; ++step) {
      const std::vector<int> axes = loops();
      if (axes.empty()) break;
      const TransformKind kind = draw_kind();
      try_at_random(kind, axes);
    }
    return std::move(chosen_);
  }

 private:
  std::vector<int> loops() const {
    std::vector<int> axes;
    walk(chosen_.kernel.body, [&](const Statement& s) {
      if (is_loop(s)) axes.push_back(s.axis);
    });
    return axes;
  }

  /// The loop of a reduction, running or not, and one around it.
  struct Place {
    int reduce, around;
  };

  std::vector<Place> places() const {
    std::vector<Place> out;
    std::vector<int> around;
    find_places(chosen_.kernel.body, around, out);
    return out;
  }

  void find_places(const std::vector<Statement>& body, std::vector<int>& around,
                   std::vector<Place>& out) const {
    for (const Statement& s : body) {
      if (is_loop(s)) {
        if (axis(s.axis).kind == AxisKind::kReduce)
          for (const int a : around) out.push_back({s.axis, a});
        around.push_back(s.axis);
      }
      find_places(s.body, around, out);
      if (is_loop(s)) around.pop_back();
    }
  }

  const KernelAxis& axis(int a) const { return chosen_.kernel.axes[a]; }
  const Expr& extent_of(int a) const { return axis(a).extent; }
  /// The axes of the last split.
  int outer_half() const { return static_cast<int>(chosen_.kernel.axes.size()) - 2; }
  int inner_half() const { return outer_half() + 1; }

  template <class T>
  T any_of(const std::vector<T>& all) {
    return all[below_(static_cast<uint32_t>(all.size()))];
  }

  bool try_at_random(TransformKind kind, const std::vector<int>& axes) {
    for (int tries = 0; tries < kTries; ++tries) {
      const std::optional<Transform> t = draw(kind, axes);
      if (!t) return false;
      if (!add(*t)) continue;
      if (kind == TransformKind::kStage && below_(2))
        add(transforms::MultiBuffer<int>{std::get<transforms::Stage<int>>(*t).at, 2 + below_(3)});
      return true;
    }
    return false;
  }

  /// Applies the first early kind that is legal, rarest first; leaves each out now and then.
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

  /// Applies the kind at a place, perhaps after a split of the outer loop.
  bool begin_at(TransformKind kind, Place place) {
    if (kind == TransformKind::kScan) {
      const Expr length = extent_of(place.reduce);
      if (length.is_const() && !(length == extent_of(place.around)) &&
          add(transforms::Split<int>{place.around, length.value()}))
        place.around = inner_half();
      for (const int a : loops())
        if (a != place.around) add(transforms::Reorder<int>{{a, place.around}});
      if (!add(transforms::Scan<int>{place.reduce, place.around})) return false;
      if (below_(2)) try_places(TransformKind::kComputeAt);
      return true;
    }
    if (below_(2) && add(transforms::Split<int>{place.around, draw_factor()}))
      place.around = outer_half();
    return add(drawn_for(kind, place, draw_factor()));
  }

  /// cooperative_load, with loops bound to the same number of threads.
  void share() {
    const std::vector<int> all = loops();
    const bool shares =
        std::ranges::any_of(all, [&](int a) { return add(transforms::CooperativeLoad<int>{a}); });
    if (!shares) return;
    const int64_t threads = below_(2) ? 4 : 2;
    for (const int a : loops()) {
      const AxisKind kind = axis(a).kind;
      if (below_(4) == 0) continue;
      if (kind == AxisKind::kReduce) add(transforms::Group<int>{a, threads});
      if (kind != AxisKind::kParallel) continue;
      const Bind place = below_(2) ? Bind::kBlockX : Bind::kBlockY;
      const Chosen before = chosen_;
      const bool is_bound =
          add(transforms::Split<int>{a, threads}) &&
          add(transforms::Bind<int>{below_(2) ? inner_half() : outer_half(), place});
      if (!is_bound) chosen_ = before;
    }
  }

  int64_t draw_factor() { return kFactors[below_(std::size(kFactors))]; }

  Transform drawn_for(TransformKind kind, const Place& place, int64_t factor) {
    auto out = make_transform<Transform>(kind);
    bool is_first = true;
    each_field(out, [&](auto field, std::string_view, auto& value) {
      using enum FieldKind;
      if constexpr (field == kAxis || field == kFreeAxis || field == kAt)
        value = std::exchange(is_first, false) ? place.reduce : place.around;
      if constexpr (field == kFactor) value = factor;
      if constexpr (field == kNumber)
        if (below_(4) == 0) value = draw_factor();
      if constexpr (field == kInner)
        if (below_(2)) value = place.reduce;
      if constexpr (field == kWord) value = below_(2) != 0;
    });
    return out;
  }

  /// Applies it; false if it is not legal.
  bool add(Transform t) {
    if (try_apply(chosen_.kernel, t)) return false;
    chosen_.list.push_back(std::move(t));
    return true;
  }

  void cache_all() {
    const int axes = static_cast<int>(chosen_.kernel.axes.size());
    for (int r = 0; r < axes; ++r)
      for (int later = 0; later < axes; ++later) add(transforms::CacheReduction<int>{r, later});
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

  /// Nothing if the kind needs a reduction and there is none.
  std::optional<Transform> draw(TransformKind kind, const std::vector<int>& axes) {
    if (std::ranges::count(kOfReductions, kind)) {
      const std::vector<Place> all = places();
      if (all.empty()) return std::nullopt;
      return drawn_for(kind, any_of(all), draw_factor());
    }
    const auto axis = [&] { return any_of(axes); };
    std::optional<int> first = axis();
    const auto next = [&] { return first ? *std::exchange(first, {}) : axis(); };
    const int64_t factor = draw_factor();
    auto out = make_transform<Transform>(kind);
    each_field(out, [&](auto field, std::string_view, auto& value) {
      using enum FieldKind;
      if constexpr (field == kAxis || field == kFreeAxis || field == kAt) {
        value = next();
      } else if constexpr (field == kAxes) {
        for (int i = 0; i < 2; ++i) value.push_back(next());
      } else if constexpr (field == kBuffer) {
        value.buffer =
            static_cast<int>(below_(static_cast<uint32_t>(chosen_.kernel.buffers.size())));
        if (below_(4) == 0) value.way = static_cast<int>(below_(3));
      } else if constexpr (field == kPlace) {
        value = static_cast<Bind>(static_cast<uint32_t>(Bind::kGridX) +
                                  below_(options_.threads ? 6 : 3));
      } else if constexpr (field == kFactor) {
        value = factor;
      } else if constexpr (field == kNumber) {
        if (below_(2)) value = factor;
      } else if constexpr (field == kInner) {
        if (below_(2)) value = axis();
      } else {
        value = below_(2) != 0;
      }
    });
    return out;
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
