// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs as machine code of the host by libgccjit. It runs in a process of its own, tenon-gccjit:
// it sets the locale, the environment and what signals do, and starts an assembler and a linker.
#include "sdk/backend/backend.hpp"

#include <dlfcn.h>

#include <filesystem>
#include <utility>

#include "sdk/backend/compiler_process.hpp"
#include "sdk/backend/host_device.hpp"
#include "sdk/backend/property_table.hpp"
#include "sdk/backend/saved_executable.hpp"
#include "sdk/program/verify.hpp"
#include "sdk/walk/builder.hpp"

namespace gccjit {
namespace {
namespace sdk = tenon::sdk;

constexpr std::chrono::seconds kMostTime{120};
constexpr char kProgram[] = "program", kLibrary[] = "kernel.so";

/// tenon-gccjit, in the folder of this library.
std::string compiler() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<const void*>(&compiler), &info)) return "tenon-gccjit";
  return std::filesystem::absolute(info.dli_fname).replace_filename("tenon-gccjit");
}

/// Its version, or why it does not run; asked for once.
const std::pair<std::string, std::string>& version_or_reason() {
  static const auto& known = *new std::pair<std::string, std::string>([] {
    try {
      const std::string command[] = {compiler(), "--version"};
      std::string version = sdk::CompilerProcess("gccjit").run(command, kMostTime);
      return std::pair(version.substr(0, version.find('\n')), std::string());
    } catch (const sdk::Failure& failure) {
      return std::pair(std::string(), std::string(failure.what()));
    }
  }());
  return known;
}

/// Values are scalars and short vectors of lanes; a workgroup is one thread.
const tn_properties& properties_of_host() {
  static const sdk::PropertyTable* const table = [] {
    auto* t = new sdk::PropertyTable(TN_DEVICE_COMPUTE | TN_DEVICE_DETERMINISTIC |
                                     TN_DEVICE_SYMBOLIC | TN_DEVICE_SAVE);
    t->store_all().compute_all(4).claim(sdk::kWalkOps);
    t->add_memory(sdk::host_memory_space(64));
    t->fields().max_bindings = 64;
    t->fields().max_scratch_bytes = 32768;
    t->fields().compute_units = 1;
    return t;
  }();
  return table->get();
}

class GccjitExecutable : public sdk::ProgramExecutable {
 public:
  explicit GccjitExecutable(sdk::Program program) : ProgramExecutable(std::move(program)) {
    const sdk::CompilerProcess process("gccjit");
    process.write(kProgram, this->program().bytes());
    const std::string command[] = {compiler(), kProgram, kLibrary};
    process.run(command, kMostTime);
    binary_ = process.read(kLibrary);
    open(process);
  }
  GccjitExecutable(sdk::Program program, std::span<const std::byte> binary)
      : ProgramExecutable(std::move(program)), binary_(binary.begin(), binary.end()) {
    const sdk::CompilerProcess process("gccjit");
    process.write(kLibrary, binary_);
    open(process);
  }
  ~GccjitExecutable() override {
    if (library_) dlclose(library_);
  }

  std::vector<std::byte> save() const override {
    const std::span<const std::byte> sections[] = {program().bytes(), binary_};
    return sdk::pack_saved(version_or_reason().first, sections);
  }
  void run(const uint64_t* arguments, const uint32_t* group) const { kernel_(arguments, group); }

 private:
  void open(const sdk::CompilerProcess& process) {
    library_ = dlopen((process.folder() + "/" + kLibrary).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw sdk::Failure(TN_ERROR_COMPILE_FAILED, dlerror());
    kernel_ = reinterpret_cast<Kernel>(dlsym(library_, "kernel"));
  }

  using Kernel = void (*)(const uint64_t* arguments, const uint32_t* group);
  std::vector<std::byte> binary_;
  void* library_ = nullptr;
  Kernel kernel_ = nullptr;
};

class GccjitDevice : public sdk::HostDevice {
 public:
  const tn_properties& properties() const override { return properties_of_host(); }

 protected:
  void launch(const sdk::HostCommand& command, std::span<const sdk::HostArgument> args) override {
    const auto& code = static_cast<const GccjitExecutable&>(*command.executable);
    std::vector<uint64_t> words;
    for (size_t i = 0; i < args.size(); ++i) {
      const bool is_scalar = code.signature().arguments[i].kind == TN_PARAM_SCALAR;
      words.push_back(is_scalar ? args[i].scalar : reinterpret_cast<uintptr_t>(args[i].data));
    }
    sdk::each_workgroup(command.grid, [&](const auto& group) { code.run(words.data(), group); });
  }
};

class GccjitBackend : public sdk::Backend {
 public:
  static constexpr sdk::BackendInfo kInfo{"gccjit", "1.0", "Apache-2.0 WITH LLVM-exception", -40};

  std::vector<tn_device_info> enumerate(std::string& reason) override {
    const auto& [version, why] = version_or_reason();
    reason = why;
    if (version.empty()) return {};
    return {sdk::device_info(TN_DEVICE_CPU, "host processor", "host", version)};
  }
  std::unique_ptr<sdk::Device> open(uint32_t, sdk::Options&) override {
    return std::make_unique<GccjitDevice>();
  }
  std::unique_ptr<sdk::Executable> compile(const sdk::Target&, const sdk::ProgramView& program,
                                           tn_compile_report&) override {
    return std::make_unique<GccjitExecutable>(sdk::Program(program));
  }
  std::unique_ptr<sdk::Executable> load(const sdk::Target&,
                                        std::span<const std::byte> bytes) override {
    const auto sections = sdk::unpack_saved(bytes, version_or_reason().first, 2);
    return std::make_unique<GccjitExecutable>(sdk::load_program(sections[0]), sections[1]);
  }
};

}  // namespace
}  // namespace gccjit

TENON_BACKEND(gccjit::GccjitBackend)
