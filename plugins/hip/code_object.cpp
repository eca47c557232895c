// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Handles that free themselves, metadata lookups, one action.
#include "plugins/hip/code_object.hpp"

#include <fmt/format.h>

#include <charconv>

#include "plugins/hip/libraries.hpp"
#include "sdk/helpers/failure.hpp"

namespace tenon::hip {
namespace {

constexpr int kSource = 1, kExecutable = 8;  // amd_comgr_data_kind_t
constexpr int kDisassembleExecutable = 0xC;  // amd_comgr_action_kind_t
constexpr std::string_view kIsaPrefix = "amdgcn-amd-amdhsa--";

void require(int code, const char* what) {
  if (code == 0) return;
  throw sdk::Failure(TN_ERROR_UNSUPPORTED, fmt::format("libamd_comgr: {} failed", what), code);
}

}  // namespace

/// A handle and what frees it.
class CodeObjects::Handle {
 public:
  using Free = int (*)(ComgrHandle);
  explicit Handle(Free free) : free_(free) {}
  Handle(Handle&& other) noexcept : free_(other.free_), handle_(other.handle_) {
    other.handle_ = {};
  }
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (handle_.handle) free_(handle_);
  }
  ComgrHandle* out() { return &handle_; }
  ComgrHandle get() const { return handle_; }

 private:
  Free free_;
  ComgrHandle handle_;
};

CodeObjects::CodeObjects() : library_(versions("libamd_comgr.so", {".3", ".2", ""})) {
  if (!library_) throw sdk::Failure(TN_ERROR_NOT_FOUND, library_.reason());
  ComgrFunctions& c = comgr_;
  const sdk::SymbolRow rows[] = {
      {"amd_comgr_get_isa_count", &c.isa_count},
      {"amd_comgr_get_isa_name", &c.isa_name},
      {"amd_comgr_create_data", &c.create_data},
      {"amd_comgr_release_data", &c.release_data},
      {"amd_comgr_set_data", &c.set_data},
      {"amd_comgr_set_data_name", &c.set_data_name},
      {"amd_comgr_get_data", &c.get_data},
      {"amd_comgr_get_data_isa_name", &c.data_isa_name},
      {"amd_comgr_create_data_set", &c.create_set},
      {"amd_comgr_destroy_data_set", &c.destroy_set},
      {"amd_comgr_data_set_add", &c.add_to_set},
      {"amd_comgr_action_data_get_data", &c.data_of_set},
      {"amd_comgr_create_action_info", &c.create_action},
      {"amd_comgr_destroy_action_info", &c.destroy_action},
      {"amd_comgr_action_info_set_isa_name", &c.set_action_isa},
      {"amd_comgr_do_action", &c.do_action},
      {"amd_comgr_get_data_metadata", &c.metadata},
      {"amd_comgr_destroy_metadata", &c.destroy_metadata},
      {"amd_comgr_metadata_lookup", &c.lookup},
      {"amd_comgr_index_list_metadata", &c.element},
      {"amd_comgr_get_metadata_string", &c.string_of},
  };
  if (const std::string missing = sdk::load_symbols(library_, rows); !missing.empty()) {
    throw sdk::Failure(TN_ERROR_NOT_FOUND, missing);
  }
  size_t count = 0;
  require(comgr_.isa_count(&count), "listing architectures");
  for (size_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    require(comgr_.isa_name(i, &name), "listing architectures");
    const std::string_view text = name;
    if (text.starts_with(kIsaPrefix)) architectures_.emplace_back(text.substr(kIsaPrefix.size()));
  }
}

CodeObjects::Handle CodeObjects::load(std::span<const std::byte> binary) const {
  Handle data(comgr_.release_data);
  require(comgr_.create_data(kExecutable, data.out()), "a code object");
  require(comgr_.set_data(data.get(), binary.size(), reinterpret_cast<const char*>(binary.data())),
          "reading a code object");
  require(comgr_.set_data_name(data.get(), "kernel"), "naming a code object");
  return data;
}

uint32_t CodeObjects::number(ComgrHandle kernel, const char* key) const {
  Handle node(comgr_.destroy_metadata);
  if (comgr_.lookup(kernel, key, node.out()) != 0) return 0;
  char text[24] = {};
  size_t size = sizeof text - 1;
  if (comgr_.string_of(node.get(), &size, text) != 0) return 0;
  uint32_t value = 0;
  std::from_chars(text, text + sizeof text, value);
  return value;
}

CodeObjects::Usage CodeObjects::usage(std::span<const std::byte> binary) const {
  const Handle data = load(binary);
  Handle all(comgr_.destroy_metadata), kernels(comgr_.destroy_metadata),
      kernel(comgr_.destroy_metadata);
  if (comgr_.metadata(data.get(), all.out()) != 0 ||
      comgr_.lookup(all.get(), "amdhsa.kernels", kernels.out()) != 0 ||
      comgr_.element(kernels.get(), 0, kernel.out()) != 0) {
    return {};
  }
  return {number(kernel.get(), ".vgpr_count"),
          number(kernel.get(), ".vgpr_spill_count") + number(kernel.get(), ".sgpr_spill_count")};
}

std::string CodeObjects::disassemble(std::span<const std::byte> binary) const {
  const Handle data = load(binary);
  char isa[128] = {};
  size_t size = sizeof isa;
  require(comgr_.data_isa_name(data.get(), &size, isa), "the architecture");
  Handle input(comgr_.destroy_set), result(comgr_.destroy_set), action(comgr_.destroy_action);
  require(comgr_.create_set(input.out()), "a set");
  require(comgr_.create_set(result.out()), "a set");
  require(comgr_.add_to_set(input.get(), data.get()), "a set");
  require(comgr_.create_action(action.out()), "an action");
  require(comgr_.set_action_isa(action.get(), isa), "the architecture");
  require(comgr_.do_action(kDisassembleExecutable, action.get(), input.get(), result.get()),
          "disassembly");
  Handle text(comgr_.release_data);
  require(comgr_.data_of_set(result.get(), kSource, 0, text.out()), "disassembly");
  require(comgr_.get_data(text.get(), &size, nullptr), "disassembly");
  std::string out(size, '\0');
  require(comgr_.get_data(text.get(), &size, out.data()), "disassembly");
  return out;
}

}  // namespace tenon::hip
