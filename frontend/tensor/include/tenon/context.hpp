// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Context owns everything that lives: plugins, devices, pools, plans, caches.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tenon/array.hpp"
#include "tenon/context_options.hpp"
#include "tenon/export.hpp"
#include "tenon/function.hpp"
#include "tenon/profile.hpp"

namespace tenon {

/// What a device says of itself, and what it holds now.
struct DeviceInfo {
  std::string id;              ///< "cpu:0"
  std::string name;            ///< "AMD EPYC 9654", in the vendor's words
  bool compute = true;         ///< false: it holds memory, as a disk does, and runs nothing
  uint32_t compute_units = 0;  ///< cores, multiprocessors
  uint32_t vector_bytes = 0;   ///< of a register; 0: none
  uint64_t bytes_in_use = 0;
  uint64_t bytes_reserved = 0;  ///< held from the driver, for buffers to come too
};

class Tensor;

struct CallOptions {
  SymbolValues symbols = {};  ///< those that the shape of no input tells
  /// Inputs whose memory may be written over, by place. The caller's tensors are spent then: a use
  /// of one is an error that says so.
  std::vector<size_t> donate = {};
};

class TENON_API Context {
 public:
  /// Throws kInvalid for options or variables that mean nothing, kEnvironment where a device or
  /// plugin that is asked for cannot be had; both name what there is.
  explicit Context(ContextOptions options = {});
  /// Other threads may compute with its tensors: what they have begun comes to its end, what they
  /// begin later is refused. What the context owns goes with the last of these.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  /// Made at first use from the environment, closed at exit; for programs that need just one.
  static Context& standard();

  /// Ids that `device` takes: open ones, the default first, then those that it would open.
  std::vector<std::string> device_ids() const;
  /// "" is the default; "cpu" the first of its backend; "BACKEND:PATH" a file or folder of a
  /// storage backend. Where TENON_DEVICES names no devices, one that is not open yet is opened.
  /// Throws kInvalid with the list of what there is.
  DeviceInfo device(const std::string& id = "");

  /// Runs a function on a device ("" for the default) and waits for the end. Symbols that the shape
  /// of an input tells need not be given. Equal graphs share one plan; other values of symbols
  /// re-use it. Throws kInvalid for inputs that do not fit, kUnsupported for what the device lacks.
  std::vector<Array> run(const Function& function, const std::vector<Array>& inputs,
                         const SymbolValues& symbols = {}, const std::string& device = "",
                         RunStats* stats = nullptr);

  /// Runs a function on tensors, on their devices, and returns when the work is submitted. Lazy
  /// ones are computed first. A gradient goes through the results to the inputs where the function
  /// has no symbols, and is an error where it has: Function::gradient has none of that. Throws as
  /// `run`, and kInvalid for a donated input that something else needs.
  std::vector<Tensor> call(const Function& function, const std::vector<Tensor>& inputs,
                           const CallOptions& options = {});
  /// Compiles what `call` needs for inputs of these types and devices, and runs nothing.
  void prepare(const Function& function, const std::vector<Tensor>& inputs,
               const CallOptions& options = {});

  /// Rules by which every graph of this context is rewritten from now on, before all else, one a
  /// line (docs/custom_kernels.md):
  ///
  ///   log_of_exp: ln(exp(x)) -> x where float approximate
  ///
  /// Each is tried first, in every dtype that it is for: where its sides differ by more than a
  /// correct device may, it throws kInvalid with the values; so it does for text that is no rule,
  /// with line and column, and for rules that do not come to an end. Then none of the text is
  /// added. Plans made before are not used again. May be called while other threads run.
  void add_rules(std::string_view text, std::string_view origin = "<rules>");

  /// Kernels of the plans that this context keeps, each once a device, lowered anew to be shown:
  /// names and texts to write the next from.
  std::vector<KernelInfo> kernels();

  /// What kernels have taken so far, each run alone (docs/profiling.md). Throws kInvalid unless the
  /// context was made with ContextOptions::profile, or TENON_PROFILE=1.
  KernelProfile profile() const;

  /// The transforms (docs/ir.md) that a kernel of that name runs by from now on, in place of the
  /// templates' choice; with * at its end for all whose names begin so. Throws kInvalid for text
  /// that is no list, with its column. A list that is not legal for a kernel is an error, with its
  /// name and its loops, where that is planned next; a name that no kernel has met is told in a
  /// warning when the context goes or the process ends.
  void set_transforms(const std::string& kernel, std::string_view transforms);
  /// The same with a program of one's own (docs/ir.md), launched in so many workgroups. Throws
  /// kInvalid for text that is no legal program, with line and column. Where the kernel is planned,
  /// its params must be those of the core's program, it must be within what the device declares,
  /// and its results on drawn values those of the core's program; what differs is an error. A
  /// kernel of symbolic sizes takes none: kUnsupported. The program reads and writes memory as it
  /// says.
  void set_program(const std::string& kernel, std::string_view program,
                   const std::array<int64_t, 3>& workgroups = {1, 1, 1});
  /// Back to the templates. Throws kInvalid if nothing was set for it.
  void reset_kernel(const std::string& kernel);

  struct Impl;  ///< the library's own
  Impl& impl() const { return *impl_; }

 private:
  explicit Context(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

}  // namespace tenon
