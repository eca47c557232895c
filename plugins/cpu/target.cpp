// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Processors by LLVM names and feature strings.
#include "plugins/cpu/target.hpp"

#include <fmt/format.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/CodeGen/SelectionDAGNodes.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PrintPasses.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "plugins/cpu/older_llvm.hpp"
#include "plugins/cpu/target_machine.hpp"
#include "sdk/backend/checksum.hpp"
#include "sdk/support/failure.hpp"

namespace tenon::cpu {
namespace {

void initialise_llvm() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

const llvm::Target& lookup(const std::string& triple) {
  initialise_llvm();
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) throw sdk::Failure(TN_ERROR_NOT_FOUND, "llvm: " + error);
  return *target;
}

/// Sets width and number of registers, fma and dot products from the features of the subtarget.
void describe(TargetSpec& spec) {
  const llvm::Triple triple(spec.triple);
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      lookup(spec.triple).createMCSubtargetInfo(spec.triple, spec.cpu, spec.features));
  if (triple.isX86()) {
    spec.avx512 = info->checkFeatures("+avx512f,+avx512bw,+avx512dq,+avx512vl");
    spec.vector_bytes = spec.avx512 ? 64 : info->checkFeatures("+avx2") ? 32 : 16;
    spec.vector_registers = spec.avx512 ? 32 : 16;
    spec.fuse_multiply_add = info->checkFeatures("+fma");
    spec.dots_bf16 = spec.avx512 && info->checkFeatures("+avx512bf16");
    spec.dots_i8 = spec.avx512 && info->checkFeatures("+avx512vnni");
  } else {
    spec.vector_bytes = 16;
    spec.vector_registers = 32;
    spec.fuse_multiply_add = true;
  }
  spec.name =
      fmt::format("{}/{}+{:08x}", triple.getArchName().str(), spec.cpu,
                  static_cast<uint32_t>(sdk::checksum(spec.features.data(), spec.features.size())));
}

TargetSpec make_host() {
  TargetSpec spec;
  spec.triple = llvm::sys::getProcessTriple();
  spec.cpu = llvm::sys::getHostCPUName().str();
  std::vector<std::string> features;
  for (const auto& feature : host_features())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(features.begin(), features.end());  // the order of a hash table differs between builds
  for (const std::string& feature : features) {
    if (!spec.features.empty()) spec.features += ',';
    spec.features += feature;
  }
  describe(spec);
  return spec;
}

std::unique_ptr<llvm::TargetMachine> make_target_machine(const TargetSpec& spec) {
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;  // the program marks fusions, see Emitter
  std::unique_ptr<llvm::TargetMachine> machine(
      lookup(spec.triple)
          .createTargetMachine(spec.triple, spec.cpu, spec.features, options, llvm::Reloc::PIC_,
                               llvm::CodeModel::Small, kDefaultLevel,
                               /*JIT=*/true));
  if (!machine) throw sdk::Failure(TN_ERROR_INTERNAL, "llvm: no code generator for " + spec.triple);
  return machine;
}

/// Gives access to a protected member.
struct AnyNode : llvm::SDNode {
  using SDNode::getSDVTList;
};

/// Unused generators by name of their target; a few are cached.
class GeneratorCache {
 public:
  std::unique_ptr<CodeGenerator> take(const std::string& target) {
    const std::lock_guard lock(mutex_);
    const auto at = std::ranges::find(idle_, target, &Idle::first);
    if (at == idle_.end()) return nullptr;
    std::unique_ptr<CodeGenerator> generator = std::move(at->second);
    idle_.erase(at);
    return generator;
  }
  void put(const std::string& target, std::unique_ptr<CodeGenerator> generator) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMostIdle) idle_.emplace_back(target, std::move(generator));
  }

 private:
  using Idle = std::pair<std::string, std::unique_ptr<CodeGenerator>>;
  static constexpr size_t kMostIdle = 16;
  std::mutex mutex_;
  std::vector<Idle> idle_;
};

/// Never destroyed, as static objects of LLVM may be destroyed before it.
GeneratorCache& generator_cache() {
  static GeneratorCache* const kCache = new GeneratorCache();
  return *kCache;
}

}  // namespace

const TargetSpec& host_target() {
  static const auto& kHost = *new TargetSpec(make_host());
  return kHost;
}

void make_static_objects() {
  static std::once_flag once;
  std::call_once(once, [] {
    const TargetSpec& host = host_target();
    const CodeGeneratorLoan generator(host);
    llvm::LLVMContext context;
    llvm::Module module("none", context);
    llvm::Function* function =
        llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), false),
                               llvm::Function::ExternalLinkage, "none", module);
    (void)generator->machine()
        .getSubtargetImpl(*function)
        ->getInstrInfo()
        ->getOpcodeAfterMemoryUnfold(0, /*UnfoldLoad=*/true, /*UnfoldStore=*/false);
    llvm::LibFunc known{};
    (void)llvm::TargetLibraryInfoImpl(llvm::Triple(host.triple)).getLibFunc("none", known);
    (void)AnyNode::getSDVTList(llvm::MVT::Other);
    (void)llvm::isPassInPrintList("none");
    (void)llvm::isFunctionInPrintList("none");
  });
}

std::optional<TargetSpec> find_target(std::string_view name) {
  const TargetSpec& host = host_target();
  if (name == "host" || name == host.name) return host;
  const std::string arch = llvm::Triple(host.triple).getArchName().str();
  if (name.starts_with(arch + "/")) name.remove_prefix(arch.size() + 1);
  TargetSpec spec;
  spec.triple = host.triple;
  spec.cpu = name == arch ? (llvm::Triple(host.triple).isX86() ? "x86-64" : "generic") : name;
  if (spec.cpu.empty()) return std::nullopt;
  const std::unique_ptr<llvm::MCSubtargetInfo> info(
      lookup(spec.triple).createMCSubtargetInfo(spec.triple, "", ""));
  if (!info->isCPUStringValid(spec.cpu)) return std::nullopt;
  describe(spec);
  return spec;
}

std::string driver_name() { return "llvm " LLVM_VERSION_STRING; }

CodeGenerator::CodeGenerator(std::unique_ptr<llvm::TargetMachine> machine)
    : machine_(std::move(machine)), stream_(bytes_) {}

const llvm::SmallVectorImpl<char>& CodeGenerator::object_of(llvm::Module& module) {
  if (!has_passes_ && machine_->addPassesToEmitFile(passes_, stream_, nullptr, kObjectFile,
                                                    /*DisableVerify=*/true))
    throw sdk::Failure(TN_ERROR_INTERNAL, "llvm: the target cannot write this kind of file");
  has_passes_ = true;
  bytes_.clear();
  passes_.run(module);
  return bytes_;
}

CodeGeneratorLoan::CodeGeneratorLoan(const TargetSpec& target) : target_(target.name) {
  generator_ = generator_cache().take(target_);
  if (!generator_) generator_ = std::make_unique<CodeGenerator>(make_target_machine(target));
}

CodeGeneratorLoan::~CodeGeneratorLoan() { generator_cache().put(target_, std::move(generator_)); }

}  // namespace tenon::cpu
