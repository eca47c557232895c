// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products: Einstein's sums, and those that are one.
#include <fmt/ranges.h>

#include <limits>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <tuple>

#include "core/support/error.hpp"
#include "frontend/tensor/axes.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/linalg.hpp"
#include "tenon/move.hpp"

namespace tenon {
namespace {

/// So many are contracted in the best order; of more, pairs are chosen greedily.
constexpr size_t kMostTensors = 5;

using Labels = std::vector<int>;  ///< letters, and numbers below 0 for the axes of an ellipsis

struct Term {
  Tensor x;
  Labels labels;
};

bool has(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

/// Sums over axes that nobody else has, and puts the others in an order.
Term reduced_to(Term term, const std::set<int>& needed) {
  std::vector<int> gone;
  Labels kept;
  for (size_t i = 0; i < term.labels.size(); ++i) {
    if (needed.contains(term.labels[i]))
      kept.push_back(term.labels[i]);
    else
      gone.push_back(static_cast<int>(i));
  }
  if (!gone.empty()) term.x = term.x.sum(gone, /*keepdims=*/false, term.x.dtype());
  return {std::move(term.x), kept};
}

Term in_order(const Term& term, const Labels& order) {
  std::vector<int> axes;
  for (const int label : order)
    axes.push_back(static_cast<int>(std::ranges::find(term.labels, label) - term.labels.begin()));
  return {term.x.transpose(std::move(axes)), order};
}

/// A label that stands twice is a diagonal.
Term without_repeats(Term term) {
  for (size_t i = 0; i < term.labels.size(); ++i) {
    for (size_t j = i + 1; j < term.labels.size();) {
      if (term.labels[i] != term.labels[j]) {
        ++j;
        continue;
      }
      const int label = term.labels[i];
      term.x = diagonal(term.x, 0, static_cast<int>(i), static_cast<int>(j));
      term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(j));
      term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(i));
      term.labels.push_back(label);
      return without_repeats(std::move(term));
    }
  }
  return term;
}

class Einsum {
 public:
  Einsum(const std::string& text, const std::vector<Tensor>& tensors) : text_(text) {
    std::string in = text, out;
    std::erase(in, ' ');
    const size_t arrow = in.find("->");
    const bool implicit = arrow == std::string::npos;
    if (!implicit) out = in.substr(arrow + 2), in = in.substr(0, arrow);
    std::vector<std::string> words(1);
    for (const char c : in) {
      if (c == ',')
        words.emplace_back();
      else
        words.back() += c;
    }
    TN_REQUIRE(words.size() == tensors.size(), "[einsum] expected {} tensors for '{}', got {}",
               words.size(), text, tensors.size());
    for (size_t i = 0; i < words.size(); ++i) add(words[i], tensors[i]);
    if (implicit) {
      if (ellipsis_ > 0) out = "...";
      for (const auto& [label, times] : times_)
        if (label > 0 && times == 1) out += static_cast<char>(label);
    }
    output_ = parsed(out, ellipsis_);
    const std::set<int> once(output_.begin(), output_.end());
    TN_REQUIRE(once.size() == output_.size(),
               "[einsum] expected each label once in the result, got '{}'", text);
    for (const int label : output_)
      TN_REQUIRE(sizes_.contains(label),
                 "[einsum] expected labels of the result that a tensor has, got '{}'", text);
    for (int axis = -ellipsis_; axis < 0; ++axis)
      TN_REQUIRE(once.contains(axis), "[einsum] expected an ellipsis in the result too, got '{}'",
                 text);
  }

  Tensor run() {
    for (Term& term : terms_) {
      const auto kept = needed(&term, nullptr);
      term = reduced_to(without_repeats(grown(std::move(term))), kept);
    }
    if (terms_.size() > kMostTensors) contract_greedily();
    while (terms_.size() > 1) {
      const auto [i, j] = next_pair();
      contract(i, j);
    }
    return in_order(terms_[0], output_).x;
  }

 private:
  Labels parsed(const std::string& word, int ellipsis) const {
    Labels labels;
    for (size_t i = 0; i < word.size(); ++i) {
      const bool letter = (word[i] >= 'a' && word[i] <= 'z') || (word[i] >= 'A' && word[i] <= 'Z');
      if (word.compare(i, 3, "...") == 0) {
        for (int axis = -ellipsis; axis < 0; ++axis) labels.push_back(axis);
        i += 2;
        ellipsis = 0;
      } else {
        TN_REQUIRE(letter, "[einsum] expected letters, commas, '...' and '->', got '{}'", text_);
        labels.push_back(word[i]);
      }
    }
    return labels;
  }

  void add(const std::string& word, const Tensor& x) {
    parsed(word, 0);  // what is no letter is told first
    const bool any = word.find("...") != std::string::npos;
    const int letters = static_cast<int>(word.size()) - (any ? 3 : 0);
    const int left = x.rank() - letters;
    TN_REQUIRE(left >= 0 && (any || left == 0),
               "[einsum] expected a tensor of rank {} for '{}', got rank {}", letters, word,
               x.rank());
    ellipsis_ = std::max(ellipsis_, left);
    Term term{x, parsed(word, left)};
    for (size_t i = 0; i < term.labels.size(); ++i) {
      const int label = term.labels[i];
      const Dim& size = dims_of(x)[i];
      const auto [known, fresh] = sizes_.emplace(label, size);
      if (label < 0 && known->second.is_const(1)) known->second = size;
      TN_REQUIRE(known->second == size || (label < 0 && size.is_const(1)),
                 "[einsum] expected one size for each label of '{}', got {} and {}", text_,
                 to_string(known->second), to_string(size));
      ++times_[label];
    }
    terms_.push_back(std::move(term));
  }

  /// Axes of an ellipsis broadcast.
  Term grown(Term term) const {
    Shape shape;
    for (const int label : term.labels) shape.push_back(sizes_.at(label));
    term.x = term.x.broadcast_to(to_sizes(shape));
    return term;
  }

  /// Labels of the result and of all terms but two.
  std::set<int> needed(const Term* a, const Term* b) const {
    std::set<int> labels(output_.begin(), output_.end());
    for (const Term& term : terms_)
      if (&term != a && &term != b) labels.insert(term.labels.begin(), term.labels.end());
    return labels;
  }

  /// Of symbols the largest sizes.
  double count_of(const std::set<int>& labels) const {
    double size = 1;
    for (const int label : labels) size *= static_cast<double>(sizes_.at(label).max());
    return size;
  }

  /// Puts the product of two terms, i < j, in the place of the first.
  void contract(size_t i, size_t j) {
    Term product = contracted(terms_[i], terms_[j]);
    terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(j));
    terms_[i] = std::move(product);
  }

  /// Contracts the pair of terms with a label in common that frees most elements, until few terms
  /// are left: `greedy` of opt_einsum (https://dgasmith.github.io/opt_einsum). Each pair is looked
  /// at once. Terms without common labels are joined last, small ones first.
  void contract_greedily() {
    struct Pair {
      double growth;                             ///< elements of the product less those of the two
      size_t first, second;                      ///< numbers of terms
      bool operator<(const Pair& other) const {  // the greatest is the queue's top
        return std::tie(other.growth, other.first, other.second) < std::tie(growth, first, second);
      }
    };
    std::priority_queue<Pair> pairs;
    std::vector<size_t> numbers(terms_.size());  // of terms_: each product has a new one
    std::iota(numbers.begin(), numbers.end(), size_t{0});
    size_t next = terms_.size();
    std::map<int, int> holders = times_of_labels();
    const auto add_pairs = [&](size_t at, size_t end) {
      for (size_t k = 0; k < end; ++k) {
        const Labels &a = terms_[at].labels, &b = terms_[k].labels;
        if (k == at || std::ranges::none_of(a, [&](int label) { return has(b, label); })) continue;
        const double growth = size_of_product(a, b, holders) - count_of({a.begin(), a.end()}) -
                              count_of({b.begin(), b.end()});
        const auto [low, high] = std::minmax({numbers[at], numbers[k]});
        pairs.push({growth, low, high});
      }
    };
    for (size_t i = 0; i < terms_.size(); ++i) add_pairs(i, i);
    while (terms_.size() > kMostTensors && !pairs.empty()) {
      const Pair pair = pairs.top();
      pairs.pop();
      const auto one = std::ranges::find(numbers, pair.first),
                 other = std::ranges::find(numbers, pair.second);
      if (one == numbers.end() || other == numbers.end()) continue;
      const auto [i, j] = std::minmax({static_cast<size_t>(one - numbers.begin()),
                                       static_cast<size_t>(other - numbers.begin())});
      for (const size_t k : {i, j})
        for (const int label : terms_[k].labels) --holders[label];
      contract(i, j);
      for (const int label : terms_[i].labels) ++holders[label];
      numbers.erase(numbers.begin() + static_cast<std::ptrdiff_t>(j));
      numbers[i] = next++;
      add_pairs(i, terms_.size());
    }
    while (terms_.size() > kMostTensors) {
      std::ranges::stable_sort(terms_, {}, [&](const Term& term) {
        return count_of({term.labels.begin(), term.labels.end()});
      });
      contract(0, 1);
    }
  }

  /// The number of terms that have each label.
  std::map<int, int> times_of_labels() const {
    std::map<int, int> out;
    for (const Term& term : terms_)
      for (const int label : term.labels) ++out[label];
    return out;
  }

  double size_of_product(const Labels& a, const Labels& b, std::map<int, int>& holders) const {
    std::set<int> kept;
    for (const Labels* labels : {&a, &b})
      for (const int label : *labels)
        if (has(output_, label) || holders[label] > has(a, label) + has(b, label))
          kept.insert(label);
    return count_of(kept);
  }

  /// Multiplications of the best order from here on, and its first pair. Tries every order.
  double cheapest(const std::vector<std::set<int>>& left, std::pair<size_t, size_t>* first) const {
    if (left.size() < 2) return 0;
    double best = std::numeric_limits<double>::infinity();
    for (size_t i = 0; i < left.size(); ++i) {
      for (size_t j = i + 1; j < left.size(); ++j) {
        std::set<int> all = left[i], used(output_.begin(), output_.end()), kept;
        all.insert(left[j].begin(), left[j].end());
        std::vector<std::set<int>> rest;
        for (size_t k = 0; k < left.size(); ++k) {
          if (k == i || k == j) continue;
          used.insert(left[k].begin(), left[k].end());
          rest.push_back(left[k]);
        }
        for (const int label : all)
          if (used.contains(label)) kept.insert(label);
        rest.push_back(std::move(kept));
        const double cost = count_of(all) + cheapest(rest, nullptr);
        if (cost >= best) continue;
        best = cost;
        if (first) *first = {i, j};
      }
    }
    return best;
  }

  std::pair<size_t, size_t> next_pair() const {
    std::vector<std::set<int>> left;
    for (const Term& term : terms_) left.emplace_back(term.labels.begin(), term.labels.end());
    std::pair<size_t, size_t> first{0, 1};
    cheapest(left, &first);
    return first;
  }

  /// One matrix product: [batch, rows, inner] x [batch, inner, columns].
  Term contracted(const Term& a, const Term& b) const {
    const std::set<int> after = needed(&a, &b);
    std::set<int> for_a(b.labels.begin(), b.labels.end()), for_b(a.labels.begin(), a.labels.end());
    for_a.insert(after.begin(), after.end());
    for_b.insert(after.begin(), after.end());
    const Term x = reduced_to(a, for_a), y = reduced_to(b, for_b);
    Labels batch, inner, rows, columns;
    for (const int label : x.labels) {
      if (!has(y.labels, label))
        rows.push_back(label);
      else if (after.contains(label))
        batch.push_back(label);
      else
        inner.push_back(label);
    }
    for (const int label : y.labels)
      if (!has(x.labels, label)) columns.push_back(label);
    const auto matrix = [&](const Term& term, const Labels& second, const Labels& third) {
      Labels order = batch;
      order.insert(order.end(), second.begin(), second.end());
      order.insert(order.end(), third.begin(), third.end());
      return in_order(term, order).x.reshape({count(batch), count(second), count(third)});
    };
    const Tensor product = matrix(x, rows, inner).matmul(matrix(y, inner, columns));
    Labels labels = batch;
    labels.insert(labels.end(), rows.begin(), rows.end());
    labels.insert(labels.end(), columns.begin(), columns.end());
    Shape shape;
    for (const int label : labels) shape.push_back(sizes_.at(label));
    return {product.reshape(to_sizes(shape)), labels};
  }

  Size count(const Labels& labels) const {
    Dim size(1);
    for (const int label : labels) size = size * sizes_.at(label);
    return size_of(size);
  }

  std::string text_;
  std::vector<Term> terms_;
  std::map<int, Dim> sizes_;
  std::map<int, int> times_;
  int ellipsis_ = 0;
  Labels output_;
};

std::vector<int> last_axes(int from, int to) {
  std::vector<int> axes(static_cast<size_t>(to - from));
  std::iota(axes.begin(), axes.end(), from);
  return axes;
}

}  // namespace

Tensor einsum(const std::string& text, const std::vector<Tensor>& tensors) {
  TN_REQUIRE(!tensors.empty(), "[einsum] expected at least one tensor, got none");
  return Einsum(text, tensors).run();
}

Tensor tensordot(const Tensor& a, const Tensor& b, const Axes& axes_a, const Axes& axes_b) {
  TN_REQUIRE(axes_a.size() == axes_b.size(),
             "[tensordot] expected as many axes of each, got {} and {}", axes_a.size(),
             axes_b.size());
  std::vector<int> rows, columns, inner_a, inner_b;
  for (size_t i = 0; i < axes_a.size(); ++i) {
    inner_a.push_back(normalise_axis("tensordot", axes_a[i], a.rank()));
    inner_b.push_back(normalise_axis("tensordot", axes_b[i], b.rank()));
    const Dim m = count_over(a, {inner_a[i]}), n = count_over(b, {inner_b[i]});
    TN_REQUIRE(m == n, "[tensordot] expected equal sizes of axes {} and {}, got {} and {}",
               axes_a[i], axes_b[i], to_string(m), to_string(n));
  }
  for (int axis = 0; axis < a.rank(); ++axis)
    if (std::ranges::find(inner_a, axis) == inner_a.end()) rows.push_back(axis);
  for (int axis = 0; axis < b.rank(); ++axis)
    if (std::ranges::find(inner_b, axis) == inner_b.end()) columns.push_back(axis);
  std::vector<Size> shape;
  for (const int axis : rows) shape.push_back(size_of(count_over(a, {axis})));
  for (const int axis : columns) shape.push_back(size_of(count_over(b, {axis})));
  const Size m = size_of(count_over(a, rows)), n = size_of(count_over(b, columns)),
             inner = size_of(count_over(a, inner_a));
  rows.insert(rows.end(), inner_a.begin(), inner_a.end());
  inner_b.insert(inner_b.end(), columns.begin(), columns.end());
  return a.transpose(rows)
      .reshape({m, inner})
      .matmul(b.transpose(inner_b).reshape({inner, n}))
      .reshape(std::move(shape));
}

Tensor tensordot(const Tensor& a, const Tensor& b, int axes) {
  TN_REQUIRE(axes >= 0 && axes <= a.rank() && axes <= b.rank(),
             "[tensordot] expected a count of axes in [0, {}], got {}",
             std::min(a.rank(), b.rank()), axes);
  return tensordot(a, b, last_axes(a.rank() - axes, a.rank()), last_axes(0, axes));
}

Tensor dot(const Tensor& a, const Tensor& b) {
  if (a.rank() == 0 || b.rank() == 0) return a * b;
  return tensordot(a, b, -1, b.rank() == 1 ? 0 : -2);
}

Tensor outer(const Tensor& a, const Tensor& b) {
  return a.ravel().expand_dims(-1) * b.ravel().expand_dims(0);
}

Tensor kron(const Tensor& a, const Tensor& b) {
  const int rank = std::max(a.rank(), b.rank());
  TN_REQUIRE(2 * rank <= static_cast<int>(kMaxRank), "[kron] expected ranks of at most {}, got {}",
             kMaxRank / 2, rank);
  std::vector<Size> x, y, whole;
  for (int axis = 0; axis < rank; ++axis) {
    const int in_a = axis - (rank - a.rank()), in_b = axis - (rank - b.rank());
    const Size m = in_a < 0 ? Size(1) : size_of(count_over(a, {in_a})),
               n = in_b < 0 ? Size(1) : size_of(count_over(b, {in_b}));
    x.insert(x.end(), {m, Size(1)});
    y.insert(y.end(), {Size(1), n});
    whole.push_back(m * n);
  }
  return (a.reshape(x) * b.reshape(y)).reshape(whole);
}

Tensor trace(const Tensor& x, int64_t offset, int axis1, int axis2, std::optional<DType> dtype) {
  return diagonal(x, offset, axis1, axis2).sum(-1, /*keepdims=*/false, dtype);
}

}  // namespace tenon
