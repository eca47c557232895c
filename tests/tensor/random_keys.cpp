// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keys: what they promise, and what is refused.
#include <set>

#include "core/runtime/runtime.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/tenon.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/tensor/refusals.hpp"

using namespace tenon;
using test::on_each_device;
using test::refuses;

namespace {

using I = std::vector<int64_t>;

std::vector<uint32_t> words_of(const Key& key) { return key.words().to_vector<uint32_t>(); }

}  // namespace

TEST_CASE("a key splits on the host as in a graph") {
  on_each_device([](Context& context) {
    const Key seeded(7, context);
    const Key traced(tensor<uint32_t>({7, 0}, context));
    const auto a = seeded.split(3), b = traced.split(3);
    std::set<std::vector<uint32_t>> all{words_of(seeded)};
    for (size_t i = 0; i < a.size(); ++i) {
      CHECK(words_of(a[i]) == words_of(b[i]));
      all.insert(words_of(a[i]));
    }
    CHECK(all.size() == 4);
    CHECK(seeded.split(0).empty());
  });
}

TEST_CASE("uniform, integer and Bernoulli draws are the same bits everywhere") {
  std::vector<float> u, kept;
  std::vector<double> wide;
  I integers;
  std::vector<bool> flags;
  on_each_device([&](Context& context) {
    const Key key(42, context);
    const auto floats = uniform(key, {3, 41}).to_vector<float>();
    const auto doubles = uniform(key, {50}, 0, 1, DType::kF64).to_vector<double>();
    const auto whole = randint(key, {200}, -5, 1'000'000'000'000).to_vector<int64_t>();
    const auto yes = bernoulli(key, {100}, 0.3).to_vector<bool>();
    const auto mask = dropout_mask(key, {100}, 0.5).to_vector<float>();
    if (u.empty()) {
      u = floats, kept = mask, wide = doubles, integers = whole, flags = yes;
    }
    CHECK(floats == u);
    CHECK(doubles == wide);
    CHECK(whole == integers);
    CHECK(yes == flags);
    CHECK(mask == kept);
    // An element is made of key and place: the shape around it is nothing.
    CHECK(uniform(key, {5}).to_vector<float>() == std::vector<float>(u.begin(), u.begin() + 5));
    for (const float m : mask) CHECK((m == 0 || m == 2));
    for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF8E4M3, DType::kF8E5M2})
      for (const float v : uniform(key, {300}, 0, 1, dtype).to_vector<float>())
        CHECK((v >= 0 && v < 1));
    CHECK(uniform(key, {0, 3}).shape() == I{0, 3});
    CHECK(uniform(key, {}).shape() == I{});
  });
}

TEST_CASE("a new key is a new input and not a new plan") {
  on_each_device([](Context& context) {
    const size_t before = runtime_of(context).plan_count();
    Key key(1, context);
    std::set<float> seen;
    for (int step = 0; step < 100; ++step) {
      const auto keys = key.split();
      key = keys[0];
      const Tensor drawn = dropout_mask(keys[1], {8}, 0.25) * normal(keys[1], {8});
      seen.insert(drawn.to_vector<float>()[0]);
    }
    CHECK(runtime_of(context).plan_count() == before + 1);
    CHECK(seen.size() > 60);
  });
}

TEST_CASE("a key that is used twice is reported") {
  on_each_device([](Context& context) {
    const Key key = Key(3, context).checked();
    uniform(key, {2});
    refuses([&] { normal(key, {2}); }, "[normal] expected a new key, got one that uniform used");
    const Key parent = Key(4, context).checked();
    const std::vector<Key> children = parent.split();
    refuses([&] { parent.split(); }, "[split] expected a new key, got one that split used");
    const Key copy = children[0];
    bernoulli(children[0], {2});
    refuses([&] { gamma(copy, 2.0, {2}); },
            "[gamma] expected a new key, got one that bernoulli used");
    const Key plain(5, context);
    uniform(plain, {2});
    CHECK_NOTHROW(uniform(plain, {2}));
  });
}

TEST_CASE("draws refuse what has no distribution") {
  on_each_device([](Context& context) {
    const Key key(1, context);
    const Tensor x = arange(3, DType::kI64, context);
    refuses([&] { Key(x.astype(DType::kU32)); }, "[key] expected u32[2], got u32[3]");
    refuses([&] { key.split(-1); }, "[split] expected a count in [0, 2^31), got -1");
    refuses([&] { uniform(key, {2}, 0, 1, DType::kI32); },
            "[uniform] expected a float dtype, got i32");
    refuses([&] { uniform(key, {-2}); }, "[random] expected sizes of at least 0");
    refuses([&] { randint(key, {2}, 3, 3); }, "[randint] expected low < high, got 3 and 3");
    refuses([&] { randint(key, {2}, 0, 300, DType::kU8); },
            "[randint] expected a value of u8, got 299");
    refuses([&] { randint(key, {2}, 0, 2, DType::kF32); }, "[randint] expected an integer dtype");
    refuses([&] { dropout_mask(key, {2}, 1); }, "[dropout_mask] expected a rate in [0, 1), got 1");
    refuses([&] { truncated_normal(key, {2}, 1, -1); },
            "[truncated_normal] expected low < high, got 1 and -1");
    refuses([&] { gamma(key, x, {2}); }, "[gamma] expected shapes that broadcast, got [2] and [3]");
    refuses([&] { bernoulli(key, {}, x); },
            "[bernoulli] expected parameters that broadcast to [], got [3]");
    refuses([&] { dirichlet(key, 1.0); }, "[dirichlet] expected alpha [.., n], got rank 0");
    refuses(
        [&] {
          categorical(key, x.slice({Slice{0, 0}}));
        },
        "[categorical] expected logits [.., n]");
    refuses([&] { permutation(key, -1); }, "[permutation] expected a size of at least 0, got -1");
    refuses([&] { choice(key, x, {4}, false); },
            "[choice] expected at most 3 elements without replacement, got 4");
    refuses([&] { choice(key, x, {2}, true, ones({2}, DType::kF32, context)); },
            "[choice] expected chances [3], got [2]");
  });
}
