// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tenon train: a model in text form learns from files, on any device.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>

#include "core/support/error.hpp"
#include "core/support/file_io.hpp"
#include "core/support/output.hpp"
#include "frontend/cli/cli.hpp"
#include "frontend/cli/device_options.hpp"
#include "frontend/cli/learner.hpp"
#include "frontend/cli/number_option.hpp"
#include "frontend/cli/train_data.hpp"
#include "frontend/tensor/state.hpp"
#include "tenon/data/loader.hpp"
#include "tenon/make.hpp"
#include "tenon/nn/checkpoint.hpp"
#include "tenon/train/fit.hpp"

namespace tenon::cli {
namespace {

constexpr int64_t kMostValidated = 4096;  ///< rows in one run

struct TrainOptions {
  std::string file, weights;
  std::vector<std::string> data, validate;
  int64_t batch = 0, hold_out = 0;
  uint64_t seed = 0;
  OptimizerOptions optimizer;
  train::Options fit;
  DeviceOptions devices;
  bool json = false;
};

using Arrays = std::vector<Array>;

/// Values of the loss's outputs.
using Figures = std::vector<std::pair<std::string, double>>;

/// Of a file that will be written: told before the model learns, not after.
void require_place(const std::string& file) {
  if (file.empty()) return;
  std::error_code none;
  const std::filesystem::path folder = std::filesystem::absolute(file, none).parent_path();
  const bool is_folder = std::filesystem::is_directory(file, none);
  if (!is_folder && access(folder.c_str(), W_OK) == 0) return;
  fail(ErrorKind::kEnvironment, "[-o] expected a file in a folder that can be written, got {}: {}",
       file, is_folder ? "it is a folder" : std::strerror(errno));
}

class Training {
 public:
  explicit Training(TrainOptions options)
      : options_(std::move(options)), text_(read_file(options_.file)), model_(read_model()) {
    require_place(options_.weights);
    inputs_ = data_inputs(model_);
    known_ = read_data("--data", options_.data, inputs_, model_.bounds);
    if (!options_.validate.empty())
      held_ = read_data("--validate", options_.validate, inputs_, model_.bounds);
    if (options_.hold_out > 0) hold_out();
    choose_batch();
    sizes_of("--data", inputs_, known_, options_.batch);  // before a device is opened
    context_ = std::make_unique<Context>(options_.devices.context());
  }

  int run() {
    const std::vector<Key> keys = Key(options_.seed, *context_).split();
    auto learner = nn::init(Learner(model_), keys[0]);
    data::Loader loader(data::from_arrays(known_), {.batch = options_.batch, .seed = options_.seed},
                        *context_);
    const Model step = sized("--data", known_, options_.batch);
    upload_held();
    train::Options& fit = options_.fit;
    fit.key = keys[1];
    fit.name = model_.graph.name;
    int64_t steps = fit.steps;
    TN_REQUIRE(steps > 0 || !__builtin_mul_overflow(fit.epochs, loader.batches(), &steps),
               "[--epochs] expected fewer than 2^63 steps, got {} times {}", fit.epochs,
               loader.batches());
    const nn::Optimizer optimizer = make_optimizer(options_.optimizer, steps);
    const auto loss = [&](Learner& m, const std::vector<Tensor>& batch) {
      return outputs_of(*step.loss, batch, m)[0].reshape({});
    };
    const train::Result result =
        held_.empty() ? train::fit(learner, optimizer, loader, loss, fit)
                      : train::fit(learner, optimizer, loader, loss, fit,
                                   [&](Learner& m) { return held_figures(m)[0].second; });
    const Figures figures = held_.empty() ? Figures() : held_figures(learner);
    if (!options_.weights.empty()) nn::save(options_.weights, learner);
    tell(learner, result, figures);
    if (result.losses.empty() || std::isfinite(result.losses.back())) return kOk;
    complain("tenon",
             "[train] expected a finite loss after the last step, got one that is not; "
             "TENON_CHECK_NAN=1 names the op that made it");
    return kFailures;
  }

 private:
  Model read_model() {
    TN_REQUIRE(is_model(text_), "{}:1:1: expected a model, which begins with module or main",
               options_.file);
    Builder builder;
    Model model = parse_model(text_, builder, options_.file);
    TN_REQUIRE(model.loss, "[train] expected a loss in {}, got none", options_.file);
    TN_REQUIRE(!model.parameters.empty(), "[train] expected parameters in {}, got none",
               options_.file);
    const std::set<std::string> own = {"device", "losses", "parameters", "seconds", "steps"};
    for (const std::string& name : model.loss->output_names)
      TN_REQUIRE(!own.contains(name),
                 "[train] expected another name of an output of the loss than "
                 "{}, which the results have",
                 name);
    return model;
  }

  void hold_out() {
    std::vector<int64_t> learned, held;
    for (int64_t row = 0; row < known_[0].shape[0]; ++row)
      (row % options_.hold_out == 0 ? held : learned).push_back(row);
    TN_REQUIRE(!learned.empty(), "[--hold-out] expected more rows than are held out, got {}",
               held.size());
    for (const Array& array : known_) held_.push_back(rows_of(array, held));
    for (Array& array : known_) array = rows_of(array, learned);
  }

  /// 64, or what there is, or what the text says.
  void choose_batch() {
    const int64_t rows = known_[0].shape[0];
    const Dim& first = inputs_[0].shape[0];
    if (options_.batch == 0)
      options_.batch =
          std::min(rows, first.is_const() ? first.value() : std::min<int64_t>(64, first.max()));
    TN_REQUIRE(options_.batch <= rows, "[--batch] expected at most the {} rows of the data, got {}",
               rows, options_.batch);
  }

  /// The model for batches of so many rows.
  Model sized(const std::string& option, const Arrays& arrays, int64_t batch) {
    Model model = parse_model(text_, builder_of(*context_), options_.file,
                              sizes_of(option, inputs_, arrays, batch));
    for (size_t i = 0; i < inputs_.size(); ++i) {
      std::vector<int64_t> shape = arrays[i].shape;
      shape[0] = batch;
      TN_REQUIRE(model.loss->params[i]->shape == to_shape(shape), "[{}] expected {} for {}, got {}",
                 option, type_string(*model.loss->params[i]), inputs_[i].name,
                 type_string(inputs_[i].dtype, to_shape(shape)));
    }
    return model;
  }

  struct Part {
    int64_t rows = 0;
    Model model;
    std::vector<Tensor> inputs;
  };

  void upload_held() {
    if (held_.empty()) return;
    const char* const option = options_.validate.empty() ? "--hold-out" : "--validate";
    const Dim& first = inputs_[0].shape[0];
    const int64_t rows = held_[0].shape[0], most = std::min(kMostValidated, first.max());
    for (int64_t begin = 0; begin < rows; begin += most) {
      const int64_t end = std::min(begin + most, rows);
      Part part{end - begin, sized(option, held_, end - begin), {}};
      for (const Array& array : held_)
        part.inputs.push_back(tensor(rows_of(array, begin, end), *context_));
      parts_.push_back(std::move(part));
    }
  }

  /// Means over the rows that are held out.
  Figures held_figures(const Learner& learner) {
    Figures figures;
    for (const std::string& name : model_.loss->output_names) figures.emplace_back(name, 0);
    for (const Part& part : parts_) {
      const std::vector<Tensor> outputs = outputs_of(*part.model.loss, part.inputs, learner);
      realize(outputs);
      const double share = static_cast<double>(part.rows) / static_cast<double>(held_[0].shape[0]);
      for (size_t i = 0; i < outputs.size(); ++i)
        figures[i].second +=
            share * static_cast<double>(outputs[i].astype(DType::kF32).reshape({}).item<float>());
    }
    return figures;
  }

  void tell(Learner& learner, const train::Result& result, const Figures& figures) {
    const std::string device = context_->device().id;
    if (options_.json) {
      nlohmann::json facts{{"device", device},
                           {"losses", result.losses},
                           {"parameters", nn::count(learner)},
                           {"seconds", result.seconds},
                           {"steps", result.steps}};
      for (const auto& [name, value] : figures) facts[name] = value;
      say("{}\n", Lines{json_text(facts)});
      return;
    }
    if (result.first_step > 0) say("went on after step {}\n", result.first_step);
    if (!result.losses.empty())
      say("step {}: loss {:.6g}, from {:.6g}\n", result.steps, result.losses.back(),
          result.losses.front());
    std::string held;
    for (const auto& [name, value] : figures)
      held += fmt::format("{}{} {:.6g}", held.empty() ? "" : ", ", name, value);
    if (!held.empty()) say("{} rows held out: {}\n", held_[0].shape[0], held);
    say("{}: {} parameters, {:.2f} s{}\n", device, nn::count(learner), result.seconds,
        options_.weights.empty() ? "" : " -> " + options_.weights);
  }

  TrainOptions options_;
  std::string text_;
  Model model_;
  std::vector<DataInput> inputs_;
  Arrays known_, held_;
  std::unique_ptr<Context> context_;
  std::vector<Part> parts_;  ///< of what is held out
};

void add_learning(CLI::App* command, TrainOptions& options) {
  command->add_option("--optimizer", options.optimizer.name, "Optimizer; momentum is sgd with 0.9")
      ->check(CLI::IsMember(optimizer_names()))
      ->capture_default_str();
  command
      ->add_option("--rate", options.optimizer.rate, "Rate of learning; else the optimizer's own")
      ->check(positive_number());
  command
      ->add_option("--schedule", options.optimizer.schedule, "How the rate falls to 0, if it does")
      ->check(CLI::IsMember({"constant", "cosine", "linear"}))
      ->capture_default_str();
  command->add_option("--warmup", options.optimizer.warmup, "Steps in which a cosine rate rises")
      ->transform(whole_number_of<int64_t>());
  command->add_option("--seed", options.seed, "Of first values and of the order of rows")
      ->transform(whole_number());
}

}  // namespace

void add_train(CLI::App& app, int& exit_code) {
  CLI::App* command = app.add_subcommand("train", "Let a model in text form learn from files");
  auto options = std::make_shared<TrainOptions>();
  train::Options& fit = options->fit;
  command->add_option("file", options->file, "Model in text form (.tn)")->required();
  command
      ->add_option("--data", options->data,
                   "NAME=FILE.npy of an input, FILE.npz of those that it names, or FILE.npy or "
                   "FILE.csv, a table whose columns are the inputs in their order; may be repeated")
      ->required();
  CLI::Option* validate =
      command->add_option("--validate", options->validate, "The same, of rows to validate with");
  command
      ->add_option("--hold-out", options->hold_out, "Validate with every so-manyth row of --data")
      ->transform(whole_number(2, INT64_MAX))
      ->excludes(validate);
  CLI::Option* steps = command->add_option("--steps", fit.steps, "Steps of learning")
                           ->transform(whole_number(1, INT64_MAX));
  CLI::Option* epochs = command->add_option("--epochs", fit.epochs, "Times that all rows are seen")
                            ->transform(whole_number(1, INT64_MAX))
                            ->excludes(steps);
  command
      ->add_option("--batch", options->batch, "Rows in a step; otherwise 64, or as the model says")
      ->transform(whole_number(1, INT64_MAX));
  add_learning(command, *options);
  options->devices.add(command);
  command->add_option("--checkpoints", fit.checkpoints,
                      "Folder of this run alone; what it holds is gone on from");
  command->add_option("--checkpoint-every", fit.checkpoint_every, "Steps from one to the next")
      ->transform(whole_number_of<int64_t>());
  command->add_option("--metrics", fit.metrics, "File for a row a step, .csv or .jsonl");
  command->add_option("-o,--to", options->weights, "Where the parameters go, .safetensors");
  command->add_flag("--json", options->json, "Print JSON");
  command->callback([options, steps, epochs, &exit_code] {
    TN_REQUIRE(steps->count() + epochs->count() > 0, "[train] expected --steps or --epochs");
    exit_code = Training(*options).run();
  });
}

}  // namespace tenon::cli
