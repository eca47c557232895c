// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The loop: it makes the steps of one that is written by hand, resumes bit for bit, keeps the best,
// ends early, and says what it saw.
#include "tenon/train/fit.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <filesystem>
#include <fstream>
#include <set>

#include "tenon/file_io.hpp"
#include "tenon/formats/safetensors.hpp"
#include "tenon/make.hpp"
#include "tenon/random.hpp"
#include "tests/tensor/devices.hpp"
#include "tests/train/learner.hpp"

namespace tenon::test {
namespace {

using Catch::Matchers::ContainsSubstring;
namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string name = fs::temp_directory_path() / "tenon-fit-XXXXXX";
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(path))
      out.insert(entry.path().filename().string());
    return out;
  }
  fs::path path;
};

constexpr data::LoaderOptions kLoading{.batch = 5, .seed = 4};  // 4 batches an epoch

struct Stop {};

/// A model that learns up to `steps`, and may be stopped after one.
struct Once {
  explicit Once(Context& context, train::Options options, int64_t stop = -1, uint64_t seed = 7)
      : model(Key(1, context)) {
    data::Loader loader(learner_data(), kLoading, context);
    options.key = Key(seed, context);
    options.progress = false;
    options.on_step = [&](const train::Report& report) {
      if (report.step == stop) throw Stop();
    };
    try {
      result = train::fit(model, learner_optimizer(), loader, learner_loss, options);
    } catch (const Stop&) {
    }
    bits = bits_of(model);
  }
  Learner model;
  train::Result result;
  std::vector<uint32_t> bits;
};

std::vector<std::string> lines_of(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

}  // namespace

TEST_CASE("a loop makes the steps of one that is written by hand") {
  on_each_device([](Context& context) {
    Once fitted(context, {.epochs = 3});
    CHECK(fitted.result.steps == 12);
    CHECK(!fitted.result.is_stopped_early);

    Learner model(Key(1, context));
    nn::OptimizerState state = learner_optimizer().init(model);
    data::Loader loader(learner_data(), kLoading, context);
    Key rest(7, context);
    std::vector<float> losses;
    for (int i = 0; i < 12; ++i) {
      const std::vector<Key> keys = rest.split();
      rest = keys[0];
      const std::vector<Tensor> batch = loader.next();
      auto [loss, gradients] =
          nn::value_and_grad(model, [&](Learner& m) { return learner_loss(m, batch, keys[1]); });
      learner_optimizer().update(model, gradients, state);
      nn::realize(model, state, loss);
      losses.push_back(loss.item<float>());
    }
    REQUIRE(fitted.result.losses.size() == losses.size());
    for (size_t i = 0; i < losses.size(); ++i)
      CHECK(std::abs(fitted.result.losses[i] - losses[i]) < 1e-5f);
  });
}

TEST_CASE("a loop scales the loss for an optimizer that asks for it, and tells the plain one") {
  on_each_device([](Context& context) {
    const auto learn = [&](const nn::Optimizer& optimizer) {
      Learner model(Key(1, context));
      data::Loader loader(learner_data(), kLoading, context);
      const train::Result result =
          train::fit(model, optimizer, loader, learner_loss,
                     {.steps = 4, .key = Key(7, context), .progress = false});
      return std::pair(bits_of(model), result.losses);
    };
    // Powers of two change no bit.
    const nn::Optimizer plain = nn::sgd({.learning_rate = 0.1});
    CHECK(learn(nn::scale_loss(plain, {.begin = 1024, .interval = 2})) == learn(plain));
  });
}

TEST_CASE("a loop that was stopped goes on bit for bit") {
  on_each_device([](Context& context) {
    const Once whole(context, {.steps = 14});
    for (const int64_t stop : {1, 6, 9}) {  // before the first checkpoint, at one, behind one
      const Folder folder;
      const train::Options options{
          .steps = 14, .checkpoints = folder.path / "run", .checkpoint_every = 3};
      const Once stopped(context, options, stop);
      const Once resumed(context, options);
      CHECK(resumed.result.first_step == stop / 3 * 3);
      CHECK(resumed.bits == whole.bits);
      const Once done(context, options);  // nothing is left to do
      CHECK(done.result.losses.empty());
      CHECK(done.result.steps == 14);
      CHECK(done.bits == whole.bits);
    }
  });
}

TEST_CASE("a checkpoint that is not whole is passed over, one of another run refused") {
  on_each_device([](Context& context) {
    const Once whole(context, {.steps = 9});
    const Folder folder;
    const train::Options options{
        .steps = 9, .checkpoints = folder.path.string(), .checkpoint_every = 2, .keep = 3};
    const Once stopped(context, options, 7);
    CHECK(folder.names() == std::set<std::string>{"step-00000002.safetensors",
                                                  "step-00000004.safetensors",
                                                  "step-00000006.safetensors"});
    const fs::path newest = folder.path / "step-00000006.safetensors";
    fs::resize_file(newest, fs::file_size(newest) - 5);
    write_file(folder.path / ".tenon-0123.part", "of a process that was killed");
    write_file(folder.path / "step-x.safetensors", "not ours");
    fs::copy_file(folder.path / "step-00000004.safetensors", folder.path / "step-7.safetensors");
    CHECK_THROWS_WITH(Once(context, options, -1, 8), ContainsSubstring("expected") &&
                                                         ContainsSubstring("step-00000004") &&
                                                         ContainsSubstring("of this key"));
    train::Options shorter = options;
    shorter.steps = 3;
    CHECK_THROWS_WITH(Once(context, shorter), ContainsSubstring("at most 3, got step 4"));
    Learner model(Key(2, context));
    const std::vector<uint32_t> before = bits_of(model);
    data::Loader loader(learner_data(), kLoading, context);
    CHECK_THROWS_WITH(train::fit(model, learner_optimizer(), loader, learner_loss, shorter),
                      ContainsSubstring("at most 3, got step 4"));
    CHECK(bits_of(model) == before);
    const Once resumed(context, options);
    CHECK(resumed.result.first_step == 4);
    CHECK(resumed.bits == whole.bits);
    CHECK(!folder.names().contains(".tenon-0123.part"));
    CHECK(folder.names().contains("step-x.safetensors"));
    CHECK(folder.names().contains("step-7.safetensors"));
  });
}

TEST_CASE("a checkpoint whose numbers are none is refused") {
  on_each_device([](Context& context) {
    const Folder folder;
    const train::Options options{.steps = 2, .checkpoints = folder.path.string()};
    const Once learned(context, options);
    const std::string path = folder.path / "step-00000002.safetensors";
    const formats::SafetensorsFile file(path);
    formats::NamedTensors tensors;
    for (const formats::TensorInfo& info : file.tensors())
      tensors.emplace_back(info.name, tensor(file.read(info.name), context));
    for (const char* name : {"step", "best", "stale", "epoch", "batch"}) {
      INFO(name);
      formats::Metadata metadata = file.metadata();
      metadata[name] += ",5";
      formats::write_safetensors(path, tensors, metadata);
      CHECK_THROWS_WITH(Once(context, options),
                        ContainsSubstring("expected a number as") && ContainsSubstring(name));
    }
    formats::Metadata metadata = file.metadata();
    metadata["validation"] = "0,5";
    formats::write_safetensors(path, tensors, metadata);
    CHECK(Once(context, options).result.first_step == 0);  // passed over, as one that is not whole
  });
}

TEST_CASE("the row of a step is written before its checkpoint") {
  on_each_device([](Context& context) {
    const Folder folder;
    Learner model(Key(1, context));
    data::Loader loader(learner_data(), kLoading, context);
    int seen = 0;
    const auto validate = [&](Learner&) {  // better each time, so each is kept
      if (++seen == 3) fs::remove_all(folder.path / "run");
      return 1.0 / seen;
    };
    CHECK_THROWS_AS(train::fit(model, learner_optimizer(), loader, learner_loss,
                               {.steps = 5,
                                .progress = false,
                                .metrics = folder.path / "loss.csv",
                                .validate_every = 1,
                                .checkpoints = folder.path / "run"},
                               validate),
                    Error);
    CHECK(lines_of(folder.path / "loss.csv").size() == 4);  // the header, and three steps
  });
}

TEST_CASE("validation keeps the best, and ends a loop without patience, also one that resumed") {
  on_each_device([](Context& context) {
    const std::vector<double> values{5, 3, 4, 2, 6, 7, 8, 1};
    const auto learn = [&](const train::Options& options, int64_t stop, size_t seen) {
      Learner model(Key(1, context));
      train::Options own = options;
      own.on_step = [&](const train::Report& report) {
        CHECK(report.validation.has_value() == (report.step % 2 == 0));
        if (report.step == stop) throw Stop();
      };
      const Tensor x = normal(Key(2, context), {5, 6});
      const train::Batches same(std::vector<Tensor>{x});
      const auto loss = [](Learner& m, const std::vector<Tensor>& batch) {
        return m(batch[0], nn::Mode()).square().mean();
      };
      return train::fit(model, learner_optimizer(), same, loss, own,
                        [&](Learner&) { return values.at(seen++); });
    };
    const Folder folder;
    const train::Options options{.steps = 100,
                                 .key = Key(1, context),
                                 .progress = false,
                                 .validate_every = 2,
                                 .patience = 3,
                                 .checkpoints = folder.path,
                                 .checkpoint_every = 5,
                                 .keep = 1,
                                 .keep_best = 2};
    CHECK_THROWS_AS(learn(options, 11, 0), Stop);
    // Validations after steps 2, 4, 6, 8 and 10 were 5, 3, 4, 2, 6.
    CHECK(folder.names() == std::set<std::string>{"step-00000004.safetensors",
                                                  "step-00000008.safetensors",
                                                  "step-00000010.safetensors"});
    const train::Result result = learn(options, -1, 5);
    CHECK(result.first_step == 10);
    CHECK(result.steps == 14);  // 6, 7, 8: three without a better one
    CHECK(result.is_stopped_early);
    CHECK(result.best == 2);
    CHECK(folder.names() == std::set<std::string>{"step-00000004.safetensors",
                                                  "step-00000008.safetensors",
                                                  "step-00000014.safetensors"});
  });
}

TEST_CASE("a loop writes its losses as rows and as events") {
  on_each_device([](Context& context) {
    const Folder folder;
    const Once run(
        context,
        {.steps = 3, .metrics = folder.path / "loss.csv", .events = folder.path / "events"});
    const std::vector<std::string> rows = lines_of(folder.path / "loss.csv");
    REQUIRE(rows.size() == 4);
    CHECK(rows[0] == "step,loss,seconds");
    for (size_t i = 0; i < 3; ++i) {
      double step = 0, loss = 0;
      REQUIRE(std::sscanf(rows[i + 1].c_str(), "%lf,%lf", &step, &loss) == 2);
      CHECK(step == static_cast<double>(i + 1));
      CHECK(static_cast<float>(loss) == run.result.losses[i]);
    }
    size_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(folder.path / "events"))
      bytes += entry.file_size();
    CHECK(bytes > 100);
  });
}

TEST_CASE("options of a loop that mean nothing are refused") {
  on_each_device([](Context& context) {
    const auto refuses = [&](const train::Options& options, const char* why) {
      CHECK_THROWS_WITH(Once(context, options), ContainsSubstring(why));
    };
    refuses({}, "a number of steps or of epochs, got 0 and 0");
    refuses({.steps = 2, .epochs = -1}, "a number of steps or of epochs, got 2 and -1");
    refuses({.steps = 1, .epochs = 1}, "got 1 and 1");
    refuses({.steps = -1}, "got -1 and 0");
    refuses({.epochs = INT64_MAX}, "a number of epochs");
    refuses({.steps = 1, .patience = 2}, "a function that validates");
    refuses({.steps = 1, .keep = 0}, "keep 0");
    refuses({.steps = 1, .metrics = "loss.txt"}, "loss.txt");
    refuses({.steps = 1, .checkpoints = "/dev/null/x"}, "/dev/null/x");
    Learner model(Key(1, context));
    const train::Batches same(std::vector<Tensor>{});
    CHECK_THROWS_WITH(train::fit(model, learner_optimizer(), same, learner_loss, {.epochs = 1}),
                      ContainsSubstring("batches that have no epochs"));
    CHECK_THROWS_WITH(train::fit(model, learner_optimizer(), same, learner_loss, {.steps = 1},
                                 [](Learner&) { return 1.0; }),
                      ContainsSubstring("how often to validate"));
  });
}

TEST_CASE("the line of a loop fits a terminal") {
  const train::Report report{
      .step = 420, .steps = 1000, .loss = 0.12345, .validation = {}, .seconds = 5, .rate = 85.2};
  CHECK(train::progress_line(report, 79) ==
        " 42% |##########               | 420/1000, loss 0.1235, 85.2 steps/s, 0:07 left");
  CHECK(train::progress_line(report, 55) == " 42% 420/1000, loss 0.1235, 85.2 steps/s, 0:07 left");
  CHECK(train::progress_line(report, 10) == " 42% 420/1");
  CHECK(train::progress_line(report, 0).empty());
  train::Report slow = report;
  slow.rate = 0.01;
  CHECK_THAT(train::progress_line(slow, 79), ContainsSubstring("16:06:40 left"));
  slow.rate = 0;
  CHECK_THAT(train::progress_line(slow, 79), ContainsSubstring("? left"));
  slow.step = slow.steps;
  CHECK_THAT(train::progress_line(slow, 79),
             ContainsSubstring("100% |#") && ContainsSubstring("#| 1000/1000"));
}

}  // namespace tenon::test
