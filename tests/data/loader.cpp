// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loaders give the same batches for any number of threads, resume where another stood, pass on what
// examples throw, and end while their threads are busy.
#include "tenon/data/loader.hpp"

#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <set>
#include <thread>

#include "tenon/error.hpp"
#include "tests/tensor/devices.hpp"

using namespace tenon;
using namespace tenon::data;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr int64_t kSize = 23;

Array number(int64_t value) {
  Array array = Array::zeros(DType::kI64, {});
  array.set(0, Scalar::of_int(DType::kI64, value));
  return array;
}

/// Examples are their own index, and a random number below 1000.
Dataset indices(int64_t size = kSize) {
  return {size, [](int64_t index, Draws& draws) {
            return Example{number(index), number(draws.below(1000))};
          }};
}

using Batches = std::vector<std::vector<std::vector<int64_t>>>;

std::vector<std::vector<int64_t>> next(Loader& loader) {
  std::vector<std::vector<int64_t>> parts;
  for (const Tensor& tensor : loader.next()) parts.push_back(tensor.to_vector<int64_t>());
  return parts;
}

Batches first(Loader& loader, int count) {
  Batches batches;
  for (int i = 0; i < count; ++i) batches.push_back(next(loader));
  return batches;
}

std::vector<int64_t> order(int64_t from, int64_t to) {
  std::vector<int64_t> numbers;
  for (int64_t i = from; i < to; ++i) numbers.push_back(i);
  return numbers;
}

}  // namespace

TEST_CASE("an epoch has each example once, and each epoch another order") {
  test::on_each_device([](Context& context) {
    Loader loader(indices(), {.batch = 4, .drop_last = false, .seed = 5}, context);
    REQUIRE(loader.batches() == 6);
    std::vector<std::vector<int64_t>> epochs(2);
    for (auto& seen : epochs) {
      for (int64_t i = 0; i < loader.batches(); ++i) {
        const auto batch = next(loader);
        CHECK(batch[0].size() == (i == 5 ? 3 : 4));
        seen.insert(seen.end(), batch[0].begin(), batch[0].end());
      }
      CHECK(std::set(seen.begin(), seen.end()).size() == kSize);
      CHECK(seen != order(0, kSize));
    }
    CHECK(epochs[0] != epochs[1]);
    CHECK(epochs[1] == shuffled(kSize, 5, 1));
    CHECK(loader.position() == Position{2, 0});
  });
}

TEST_CASE("without shuffling the order is the dataset's, and a last short batch is dropped") {
  test::on_each_device([](Context& context) {
    Loader loader(indices(), {.batch = 5, .shuffle = false}, context);
    REQUIRE(loader.batches() == 4);
    const Batches batches = first(loader, 5);
    CHECK(batches[0][0] == order(0, 5));
    CHECK(batches[3][0] == order(15, 20));
    CHECK(batches[4][0] == order(0, 5));
    CHECK(batches[4][1] != batches[0][1]);  // other draws in the second epoch
  });
}

TEST_CASE("batches are the same for any number of threads and any prefetch") {
  test::on_each_device([](Context& context) {
    Batches expected;
    for (const auto& [threads, prefetch] : {std::pair{1, 1}, {1, 8}, {2, 2}, {7, 3}, {16, 40}}) {
      Loader loader(indices(), {.batch = 3, .seed = 9, .threads = threads, .prefetch = prefetch},
                    context);
      const Batches got = first(loader, 30);
      if (expected.empty()) expected = got;
      CHECK(got == expected);
    }
    Loader other(indices(), {.batch = 3, .seed = 10}, context);
    CHECK(first(other, 30) != expected);
  });
}

TEST_CASE("a loader resumes where another stood") {
  test::on_each_device([](Context& context) {
    const LoaderOptions options{.batch = 4, .seed = 3};
    Loader whole(indices(), options, context);
    const Batches expected = first(whole, 20);
    for (int stop = 0; stop < 20; ++stop) {
      Loader begun(indices(), options, context);
      Batches got = first(begun, stop);
      Loader resumed(indices(), options, context, begun.position());
      for (const auto& batch : first(resumed, 20 - stop)) got.push_back(batch);
      CHECK(got == expected);
      begun.seek({0, 0});  // while batches are being made
      CHECK(first(begun, 20) == expected);
    }
    CHECK_THROWS_WITH(whole.seek({0, 5}), ContainsSubstring("a batch in [0, 5), got epoch 0"));
    CHECK(whole.position() == Position{4, 0});
  });
}

TEST_CASE("what an example throws reaches the consumer by its number, in its turn") {
  test::on_each_device([](Context& context) {
    Dataset dataset = indices();
    dataset.get = [get = dataset.get](int64_t index, Draws& draws) {
      if (index == 13) throw std::runtime_error("a damaged file");
      return get(index, draws);
    };
    Loader loader(dataset, {.batch = 5, .shuffle = false, .threads = 3}, context);
    CHECK(next(loader)[0] == order(0, 5));
    CHECK(next(loader)[0] == order(5, 10));
    for (int again = 0; again < 2; ++again)
      CHECK_THROWS_WITH(loader.next(),
                        ContainsSubstring("[loader] example 13 of epoch 0: a damaged file"));
    CHECK(loader.position() == Position{0, 2});

    dataset.get = [](int64_t index, Draws&) -> Example {
      throw Error(ErrorKind::kEnvironment, "no file " + std::to_string(index));
    };
    Loader environment(dataset, {.batch = 5, .shuffle = false}, context);
    try {
      environment.next();
      FAIL("expected an error");
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kEnvironment);
      CHECK(std::string(error.what()) == "[loader] example 0 of epoch 0: no file 0");
    }
  });
}

TEST_CASE("an example that ends its thread is told, and ends no process") {
  test::on_each_device([](Context& context) {
    Dataset dataset = indices();
    dataset.get = [get = dataset.get](int64_t index, Draws& draws) {
      if (index == 7) pthread_exit(nullptr);
      return get(index, draws);
    };
    Loader loader(dataset, {.batch = 5, .shuffle = false, .threads = 2}, context);
    CHECK(next(loader)[0] == order(0, 5));
    for (int again = 0; again < 2; ++again)
      CHECK_THROWS_WITH(loader.next(),
                        ContainsSubstring("[loader] expected an example, got the end"));
  });
}

TEST_CASE("an order that memory has no room for is an error") {
  test::on_each_device([](Context& context) {
    Dataset dataset = indices();
    dataset.size = INT64_MAX;
    for (const bool shuffle : {false, true}) {
      Loader loader(dataset, {.batch = 5, .shuffle = shuffle}, context);
      try {
        loader.next();
        FAIL("expected an error");
      } catch (const Error& error) {
        CHECK(error.kind() == ErrorKind::kOutOfMemory);
      }
    }
  });
}

TEST_CASE("examples that do not stack are refused by number") {
  test::on_each_device([](Context& context) {
    const auto refuses = [&](const std::function<Example(int64_t)>& get, const char* why) {
      Loader loader({kSize, [get](int64_t index, Draws&) { return get(index); }},
                    {.batch = 4, .shuffle = false}, context);
      CHECK_THROWS_WITH(loader.next(), ContainsSubstring(why));
    };
    refuses([](int64_t i) { return Example{Array::zeros(DType::kF32, {i == 2 ? 3 : 2})}; },
            "example 2 of epoch 0: part 0: expected f32 [2] as of the batch's first, got f32 [3]");
    refuses([](int64_t i) { return Example{Array::zeros(i == 1 ? DType::kI32 : DType::kF32, {})}; },
            "example 1 of epoch 0: part 0: expected f32 [] as of the batch's first, got i32 []");
    refuses([](int64_t i) { return Example(i == 3 ? 1 : 2, number(0)); },
            "example 3 of epoch 0: expected 2 parts as of the batch's first, got 1");
    refuses(
        [](int64_t) {
          return Example{Array{DType::kF32, {2}, {1, 2}}};
        },
        "example 0 of epoch 0: expected the bytes of f32 [2], got 2");
  });
}

TEST_CASE("a loader ends while its threads are busy") {
  test::on_each_device([](Context& context) {
    std::atomic<int> made = 0;
    const Dataset slow = {1000, [&](int64_t index, Draws&) {
                            ++made;
                            std::this_thread::sleep_for(std::chrono::milliseconds(10));
                            return Example{number(index)};
                          }};
    {
      Loader loader(slow, {.batch = 100, .threads = 3}, context);
      while (made == 0) std::this_thread::yield();
    }
    const int at_end = made;
    CHECK(at_end < 300);  // not the batches that were begun
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    CHECK(made == at_end);
  });
}

TEST_CASE("no more than the prefetch is made ahead") {
  test::on_each_device([](Context& context) {
    std::atomic<int64_t> made = 0;
    const Dataset counted = {1000, [&](int64_t index, Draws&) {
                               ++made;
                               return Example{number(index)};
                             }};
    Loader loader(counted, {.batch = 10, .threads = 4, .prefetch = 3}, context);
    while (made < 30) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(made == 30);
    loader.next();
    while (made < 40) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(made == 40);
  });
}

TEST_CASE("batches that are ready are not waited for") {
  test::on_each_device([](Context& context) {
    Dataset slow = indices();
    slow.get = [get = slow.get](int64_t index, Draws& draws) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
      return get(index, draws);
    };
    Loader loader(slow, {.batch = 5, .threads = 1, .prefetch = 1}, context);
    // One that another program holds up meanwhile finds its batch ready.
    for (int i = 0; i < 1000 && loader.waited() < std::chrono::milliseconds(10); ++i) loader.next();
    CHECK(loader.waited() >= std::chrono::milliseconds(10));
  });
}

TEST_CASE("a child made by fork is refused its parent's loader, and may destroy it") {
  test::on_each_device([](Context& context) {
    auto loader = std::make_unique<Loader>(indices(), LoaderOptions{.batch = 5}, context);
    loader->next();
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);  // that waits for threads which it does not have
      int refused = 0;
      const auto refuses = [&](const std::function<void()>& call) {
        try {
          call();
        } catch (const Error& error) {
          refused += std::string(error.what()).find("made in this process") != std::string::npos;
        }
      };
      refuses([&] { loader->next(); });
      refuses([&] { loader->seek({0, 1}); });
      refuses([&] { (void)loader->position(); });
      refuses([&] { (void)loader->waited(); });
      loader.reset();
      _exit(refused);
    }
    int status = 0;
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 4);
    CHECK(loader->position() == Position{0, 1});
    CHECK(next(*loader).size() == 2);
  });
}

TEST_CASE("options and positions that mean nothing are refused") {
  test::on_each_device([](Context& context) {
    const auto refuses = [&](const Dataset& dataset, const LoaderOptions& options, Position begin,
                             const char* why) {
      CHECK_THROWS_WITH(Loader(dataset, options, context, begin), ContainsSubstring(why));
    };
    refuses({}, {}, {}, "a dataset with examples");
    refuses(indices(0), {}, {}, "a dataset with examples");
    refuses(indices(), {.batch = 0}, {}, "a batch of at least 1");
    refuses(indices(), {.batch = 24}, {}, "at most the 23 examples");
    refuses(indices(), {.batch = 4, .threads = 0}, {}, "1 to 1024 threads");
    refuses(indices(), {.batch = 4, .prefetch = 0}, {}, "at least 1 batch ahead");
    refuses(indices(), {.batch = 4}, {0, 5}, "a batch in [0, 5), got epoch 0, batch 5");
    refuses(indices(), {.batch = 4}, {-1, 0}, "got epoch -1");
    refuses(indices(), {.batch = 4}, {INT64_MAX, 0}, "got epoch 9223372036854775807");
    Loader whole(indices(), {.batch = 24, .drop_last = false}, context);
    CHECK(next(whole)[0].size() == 23);
  });
}
