// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/train/fit.hpp"

#include <fmt/format.h>

#include <chrono>
#include <limits>
#include <memory>

#include "core/support/error.hpp"
#include "frontend/train/checkpoints.hpp"
#include "frontend/train/number_of.hpp"
#include "frontend/train/progress_bar.hpp"
#include "tenon/formats/metrics.hpp"
#include "tenon/formats/tensorboard.hpp"

namespace tenon::train::fields {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// What the options say of a number of steps.
int64_t checked(const Work& work, const Batches& batches, const Options& options) {
  TN_REQUIRE(batches.next, "[train.fit] expected batches, got none");
  TN_REQUIRE(
      options.steps >= 0 && options.epochs >= 0 && (options.steps > 0) != (options.epochs > 0),
      "[train.fit] expected a number of steps or of epochs, got {} and {}", options.steps,
      options.epochs);
  TN_REQUIRE(options.epochs == 0 || batches.in_epoch > 0,
             "[train.fit] expected steps for batches that have no epochs, got {} epochs",
             options.epochs);
  TN_REQUIRE(options.validate_every >= 0 && options.patience >= 0 &&
                 options.checkpoint_every >= 0 && options.keep >= 1 && options.keep_best >= 0,
             "[train.fit] expected numbers of 0 and more, and to keep at least one checkpoint, got "
             "validate_every {}, patience {}, checkpoint_every {}, keep {}, keep_best {}",
             options.validate_every, options.patience, options.checkpoint_every, options.keep,
             options.keep_best);
  TN_REQUIRE(!work.validate || options.validate_every > 0 || batches.in_epoch > 0,
             "[train.fit] expected to be told how often to validate, got batches without epochs");
  TN_REQUIRE(work.validate || options.patience == 0,
             "[train.fit] expected a function that validates where patience is {}, got none",
             options.patience);
  int64_t steps = options.steps;
  TN_REQUIRE(
      options.epochs == 0 || !__builtin_mul_overflow(options.epochs, batches.in_epoch, &steps),
      "[train.fit] expected a number of epochs, got {}", options.epochs);
  return steps;
}

std::string words_of(const Key& key) {
  const std::vector<uint32_t> words = key.words().to_vector<uint32_t>();
  return fmt::format("{:08x}{:08x}", words[0], words[1]);
}

class Run {
 public:
  Run(const Work& work, const Batches& batches, const Options& options)
      : work_(work),
        batches_(batches),
        options_(options),
        steps_(checked(work, batches, options)),
        key_(options.key ? *options.key : Key(0, work.context)),
        validate_every_(options.validate_every > 0 ? options.validate_every : batches.in_epoch) {
    if (!options.checkpoints.empty()) {
      checkpoints_.emplace(options.checkpoints, options.keep, options.keep_best);
      if (const auto newest = checkpoints_->newest()) resume(*newest);
    }
    if (!options.metrics.empty()) metrics_.emplace(options.metrics);
    if (!options.events.empty()) events_ = std::make_unique<formats::EventWriter>(options.events);
  }

  Result steps() {
    ProgressBar bar(options_.progress);
    const auto begin = std::chrono::steady_clock::now();
    const auto since = [&] {
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    for (; step_ < steps_ && !is_out_of_patience();) {
      const std::vector<Tensor> batch = batches_.next();
      const Tensor loss = work_.step(batch, next_key());
      ++step_;
      result_.losses.push_back(loss.astype(DType::kF32).item<float>());
      Report report{.step = step_,
                    .steps = steps_,
                    .loss = static_cast<double>(result_.losses.back()),
                    .validation = validation()};
      report.seconds = since();
      report.rate = static_cast<double>(result_.losses.size()) / report.seconds;
      tell(report);  // before the checkpoint: what resumes from it makes this step no more
      keep(report.validation);
      bar.show(report);
      if (options_.on_step) options_.on_step(report);
    }
    result_.steps = step_;
    result_.is_stopped_early = step_ < steps_;
    if (best_ < std::numeric_limits<double>::infinity()) result_.best = best_;
    result_.seconds = since();
    return result_;
  }

 private:
  Key next_key() {
    const std::vector<Key> keys = key_.split();
    key_ = keys[0];
    realize({key_.words()});
    return keys[1];
  }

  bool is_out_of_patience() const { return options_.patience > 0 && stale_ >= options_.patience; }

  std::optional<double> validation() {
    if (!work_.validate || step_ % validate_every_ != 0) return std::nullopt;
    const double value = work_.validate();
    stale_ = value < best_ ? 0 : stale_ + 1;
    best_ = value < best_ ? value : best_;
    return value;
  }

  void keep(const std::optional<double>& validation) {
    if (!checkpoints_) return;
    const bool is_due = options_.checkpoint_every > 0 && step_ % options_.checkpoint_every == 0;
    const bool is_last = step_ == steps_ || is_out_of_patience();
    if (!is_due && !is_last && !(validation && checkpoints_->is_among_best(*validation))) return;
    formats::Metadata metadata{{"step", std::to_string(step_)},
                               {"key", words_of(key_)},
                               {"best", fmt::format("{}", best_)},
                               {"stale", std::to_string(stale_)}};
    if (batches_.position) {
      const data::Position position = batches_.position();
      metadata["epoch"] = std::to_string(position.epoch);
      metadata["batch"] = std::to_string(position.batch);
    }
    if (validation) metadata["validation"] = fmt::format("{}", *validation);
    checkpoints_->add(step_, validation,
                      [&](const std::string& path) { work_.save(path, metadata); });
  }

  void resume(const Checkpoints::Newest& newest) {
    const formats::Metadata metadata = formats::SafetensorsFile(newest.path).metadata();
    const auto text = [&](const char* name) {
      const auto at = metadata.find(name);
      TN_REQUIRE(at != metadata.end(),
                 "[train.fit] expected {} to be a checkpoint of a loop, got one without '{}'",
                 newest.path, name);
      return at->second;
    };
    const auto number = [&]<class T>(const char* name, T& to) {
      const std::optional<T> found = number_of<T>(text(name));
      TN_REQUIRE(found, "[train.fit] expected a number as '{}' of {}, got '{}'", name, newest.path,
                 text(name));
      to = *found;
    };
    int64_t step = 0;
    data::Position position;
    number("step", step);
    number("best", best_);
    number("stale", stale_);
    if (batches_.seek) {
      number("epoch", position.epoch);
      number("batch", position.batch);
    }
    TN_REQUIRE(step == newest.step && newest.step <= steps_,
               "[train.fit] expected {} to be of its step and of at most {}, got step {}",
               newest.path, steps_, step);
    for (; step_ < newest.step; ++step_) next_key();
    TN_REQUIRE(words_of(key_) == text("key"),
               "[train.fit] expected {} to be of this key, got one of another", newest.path);
    if (batches_.seek) batches_.seek(position);
    work_.load(newest.path);  // last: where something is wrong the model stays
    result_.first_step = step_;
  }

  void tell(const Report& report) {
    if (metrics_) {
      formats::Metrics row{{"step", static_cast<double>(report.step)}, {"loss", report.loss}};
      if (work_.validate) row.emplace_back("validation", report.validation.value_or(kNone));
      row.emplace_back("seconds", report.seconds);
      metrics_->write(row);
    }
    if (events_) {
      events_->scalar("loss", report.step, static_cast<float>(report.loss));
      if (report.validation)
        events_->scalar("validation", report.step, static_cast<float>(*report.validation));
    }
  }

  const Work& work_;
  const Batches& batches_;
  const Options& options_;
  const int64_t steps_;
  Key key_;  ///< of the steps to come
  const int64_t validate_every_;
  int64_t step_ = 0;
  double best_ = std::numeric_limits<double>::infinity();
  int64_t stale_ = 0;  ///< validations since the best
  Result result_;
  std::optional<Checkpoints> checkpoints_;
  std::optional<formats::MetricsWriter> metrics_;
  std::unique_ptr<formats::EventWriter> events_;
};

}  // namespace

Result run(const Work& work, const Batches& batches, const Options& options) {
  return Run(work, batches, options).steps();
}

}  // namespace tenon::train::fields
