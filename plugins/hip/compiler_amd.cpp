// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hiprtc and libamd_comgr, opened at run time: compile source to code objects and inspect them.
// Sources: hiprtc.h, amd_comgr.h and clang's user manual.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <tuple>

#include "plugins/hip/platform_amd.hpp"
#include "sdk/stream/compiler.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::hip {
namespace {

constexpr int kSource = 1, kExecutable = 8;  // amd_comgr_data_kind_t
constexpr int kDisassembleExecutable = 0xC;  // amd_comgr_action_kind_t
constexpr std::string_view kIsaPrefix = "amdgcn-amd-amdhsa--";

/// amd_comgr_data_t and its kin: a handle in a struct.
struct Id {
  uint64_t handle = 0;
};

#define TENON_COMGR(F)                                             \
  F(get_isa_count, size_t* out)                                    \
  F(get_isa_name, size_t index, const char** out)                  \
  F(create_data, int kind, Id* out)                                \
  F(release_data, Id)                                              \
  F(set_data, Id, size_t size, const char* bytes)                  \
  F(set_data_name, Id, const char* name)                           \
  F(get_data, Id, size_t* size, char* bytes)                       \
  F(get_data_isa_name, Id, size_t* size, char* name)               \
  F(create_data_set, Id* out)                                      \
  F(destroy_data_set, Id)                                          \
  F(data_set_add, Id set, Id data)                                 \
  F(action_data_get_data, Id set, int kind, size_t index, Id* out) \
  F(create_action_info, Id* out)                                   \
  F(destroy_action_info, Id)                                       \
  F(action_info_set_isa_name, Id, const char* name)                \
  F(do_action, int kind, Id info, Id input, Id result)             \
  F(get_data_metadata, Id data, Id* out)                           \
  F(destroy_metadata, Id)                                          \
  F(metadata_lookup, Id map, const char* key, Id* out)             \
  F(index_list_metadata, Id list, size_t index, Id* out)           \
  F(get_metadata_string, Id, size_t* size, char* text)

struct Functions {
#define FUNCTION(name, ...) int (*name)(__VA_ARGS__);
  TENON_COMGR(FUNCTION)
#undef FUNCTION
};

/// A handle with its free function.
class Handle {
 public:
  explicit Handle(int (*free)(Id)) : free_(free) {}
  ~Handle() {
    if (id_.handle) free_(id_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  Id* out() { return &id_; }
  Id get() const { return id_; }

 private:
  int (*free_)(Id);
  Id id_;
};

void require(int code, const char* what) {
  if (code == 0) return;
  throw sdk::Failure(TN_ERROR_UNSUPPORTED, fmt::format("libamd_comgr: {} failed", what), code);
}

/// AMD's code object manager: lists architectures of the compiler, reads metadata of kernels, and
/// disassembles.
class CodeObjects {
 public:
  /// Throws TN_ERROR_NOT_FOUND with the reason.
  CodeObjects() {
    const sdk::SharedLibrary library(library_versions("libamd_comgr.so", {".3", ".2", ""}));
    if (!library) throw sdk::Failure(TN_ERROR_NOT_FOUND, library.reason());
#define ROW(name, ...) {"amd_comgr_" #name, &f_.name},
    const sdk::SymbolRow rows[] = {TENON_COMGR(ROW)};
#undef ROW
    const std::string missing = sdk::load_symbols(library, rows);
    if (!missing.empty()) throw sdk::Failure(TN_ERROR_NOT_FOUND, missing);
    size_t count = 0;
    require(f_.get_isa_count(&count), "listing architectures");
    for (size_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      require(f_.get_isa_name(i, &name), "listing architectures");
      const std::string_view text = name;
      if (text.starts_with(kIsaPrefix)) architectures_.emplace_back(text.substr(kIsaPrefix.size()));
    }
  }

  /// `architecture` without features.
  bool knows(std::string_view architecture) const {
    return std::ranges::find(architectures_, architecture) != architectures_.end();
  }

  /// Vector registers of a thread, and spills, of the first kernel. Without private memory there
  /// are no spills, as scalar registers spill to vector registers.
  std::pair<uint32_t, uint32_t> usage(std::span<const std::byte> binary) const {
    Handle data(f_.release_data), all(f_.destroy_metadata), kernels(f_.destroy_metadata),
        kernel(f_.destroy_metadata);
    load(binary, data);
    if (f_.get_data_metadata(data.get(), all.out()) != 0 ||
        f_.metadata_lookup(all.get(), "amdhsa.kernels", kernels.out()) != 0 ||
        f_.index_list_metadata(kernels.get(), 0, kernel.out()) != 0) {
      return {};
    }
    const auto of = [&](const char* key) { return number(kernel.get(), key); };
    const uint32_t spills = of(".vgpr_spill_count") + of(".sgpr_spill_count");
    return {of(".vgpr_count"), of(".private_segment_fixed_size") ? spills : 0};
  }

  std::string disassemble(std::span<const std::byte> binary) const {
    Handle data(f_.release_data), text(f_.release_data), input(f_.destroy_data_set),
        result(f_.destroy_data_set), action(f_.destroy_action_info);
    load(binary, data);
    char isa[128] = {};
    size_t size = sizeof isa;
    require(f_.get_data_isa_name(data.get(), &size, isa), "the architecture");
    require(f_.create_data_set(input.out()), "a set");
    require(f_.create_data_set(result.out()), "a set");
    require(f_.data_set_add(input.get(), data.get()), "a set");
    require(f_.create_action_info(action.out()), "an action");
    require(f_.action_info_set_isa_name(action.get(), isa), "the architecture");
    require(f_.do_action(kDisassembleExecutable, action.get(), input.get(), result.get()),
            "disassembly");
    require(f_.action_data_get_data(result.get(), kSource, 0, text.out()), "disassembly");
    require(f_.get_data(text.get(), &size, nullptr), "disassembly");
    std::string out(size, '\0');
    require(f_.get_data(text.get(), &size, out.data()), "disassembly");
    return out;
  }

 private:
  void load(std::span<const std::byte> binary, Handle& data) const {
    const char* bytes = reinterpret_cast<const char*>(binary.data());
    require(f_.create_data(kExecutable, data.out()), "a code object");
    require(f_.set_data(data.get(), binary.size(), bytes), "reading a code object");
    require(f_.set_data_name(data.get(), "kernel"), "naming a code object");
  }

  uint32_t number(Id kernel, const char* key) const {
    Handle node(f_.destroy_metadata);
    char text[24] = {};
    size_t size = sizeof text - 1;
    uint32_t value = 0;
    if (f_.metadata_lookup(kernel, key, node.out()) == 0 &&
        f_.get_metadata_string(node.get(), &size, text) == 0) {
      std::from_chars(text, text + sizeof text, value);
    }
    return value;
  }

  Functions f_ = {};
  std::vector<std::string> architectures_;
};

/// Libraries of hiprtc; up to ROCm 5.5 it was part of the HIP library.
std::vector<std::string> libraries() {
  std::vector<std::string> out = library_versions("libhiprtc.so", {".7", ".6", ".5", ""});
  const std::vector<std::string> older = library_versions("libamdhip64.so", {".5", ""});
  out.insert(out.end(), older.begin(), older.end());
  return out;
}

/// Compiles in one thread at a time: clang and lld keep command line options in global variables,
/// which some versions of libamd_comgr read without a lock ("Option 'h' registered more than
/// once!", after which LLVM ends the process).
class Compiler : public sdk::StreamCompiler {
 public:
  Compiler() : hiprtc_(libraries(), "hiprtc", "Code", nullptr) {}

  /// Ignores features, which target names of the driver may have.
  std::optional<sdk::StreamLimits> find_target(std::string_view name) const override {
    if (!objects_.knows(name)) return std::nullopt;
    return amd_limits(name);
  }

  void compile(const sdk::ProgramView&, sdk::StreamCode& code) const override {
    // hiprtc 5.2 ends the process at an architecture that it does not know.
    if (!objects_.knows(code.target.substr(0, code.target.find(':')))) {
      throw sdk::Failure(TN_ERROR_COMPILE_FAILED,
                         fmt::format("{}: expected an architecture that it knows, got {}",
                                     hiprtc_.library().name(), code.target));
    }
    const std::string options[] = {"--gpu-architecture=" + code.target, "--std=c++17",
                                   "-ffp-contract=off"};
    const std::lock_guard lock(one_at_a_time());
    sdk::Compiled out = hiprtc_.compile(code.source, options, sdk::RuntimeCompiler::Output::kCode);
    code.binary = std::move(out.bytes);
    std::tie(code.registers, code.spills) = objects_.usage(code.binary);
  }

  std::string disassemble(const sdk::StreamCode& code) const override {
    const std::lock_guard lock(one_at_a_time());
    return objects_.disassemble(code.binary);
  }

  std::string identity() const override { return "hiprtc " + hiprtc_.version(); }

 private:
  /// Process-wide, as the guarded state is. Never destroyed, as threads may compile during exit.
  static std::mutex& one_at_a_time() {
    static auto* mutex = new std::mutex;
    return *mutex;
  }

  sdk::RuntimeCompiler hiprtc_;
  CodeObjects objects_;
};

}  // namespace

std::unique_ptr<sdk::StreamCompiler> open_hiprtc() { return std::make_unique<Compiler>(); }

}  // namespace tenon::hip
