// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/runtime/open_devices.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "core/runtime/abi_struct.hpp"
#include "core/runtime/probe.hpp"
#include "core/support/error.hpp"
#include "core/support/log.hpp"

namespace tenon {
namespace {

std::string hex_digits(const std::string& uuid) {
  std::string digits;
  for (const char c : uuid)
    if (c != '-') digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return digits;
}

int kind_rank(const std::string& kind) {
  if (kind == "gpu") return 0;
  if (kind == "accelerator") return 1;
  if (kind == "cpu") return 2;
  return 3;
}

class Opener {
 public:
  Opener(const Discovery& discovery, const OpenOptions& options)
      : discovery_(discovery), options_(options) {}

  std::vector<std::shared_ptr<Device>> run() {
    if (options_.selector) parse();
    const bool any_positive =
        std::ranges::any_of(terms_, [](const SelectorTerm& term) { return !term.negative; });
    if (any_positive) {
      for (const SelectorTerm& term : terms_)
        if (!term.negative) open_term(term);
    } else {
      open_probed();
    }
    if (devices_.empty())
      wrong(options_.selector ? ErrorKind::kInvalid : ErrorKind::kEnvironment,
            options_.selector
                ? fmt::format("'{}': expected at least one device", *options_.selector)
                : std::string("expected at least one device that passes its probe"));
    return std::move(devices_);
  }

 private:
  [[noreturn]] void wrong(ErrorKind kind, const std::string& what) {
    throw Error(kind, fmt::format("[{}] {}; {}", options_.origin, what, what_there_is()));
  }

  void parse() {
    if (options_.selector->empty()) wrong(ErrorKind::kInvalid, "expected a selector, got ''");
    try {
      terms_ = parse_selector(*options_.selector);
    } catch (const Error& error) {
      wrong(ErrorKind::kInvalid, error.what());
    }
    for (const SelectorTerm& term : terms_) {
      if (!term.negative || find(term.backend)) continue;
      wrong(ErrorKind::kInvalid,
            fmt::format("term '{}': there is no backend '{}'", term.text, term.backend));
    }
  }

  const PluginCandidate* find(const std::string& backend) const {
    for (const PluginCandidate& candidate : discovery_.candidates)
      if (candidate.backend == backend && !candidate.shadowed) return &candidate;
    return nullptr;
  }

  const ProbeResult& probe(const PluginCandidate& candidate) {
    const auto at = probes_.find(candidate.backend);
    if (at != probes_.end()) return at->second;
    return probes_.emplace(candidate.backend, probe_cached(candidate.path, *options_.cache))
        .first->second;
  }

  std::string what_there_is() {
    std::string list;
    const auto add = [&](const std::string& text) { list += (list.empty() ? "" : "; ") + text; };
    for (const PluginCandidate& candidate : discovery_.candidates) {
      if (candidate.shadowed) continue;
      const ProbeResult& result = probe(candidate);
      std::string devices;
      for (const ProbedDevice& d : result.devices)
        devices += fmt::format("{}{} ({}, {})", devices.empty() ? "" : ", ", d.id, d.kind, d.name);
      add(devices.empty() ? fmt::format("{} without devices: {}", candidate.backend, result.reason)
                          : devices);
    }
    for (const std::string& problem : discovery_.problems) add(problem);
    return list.empty() ? "no plugin was found" : "there is: " + list;
  }

  bool is_excluded(const std::string& backend, int index, const tn_device_info& info) const {
    return std::ranges::any_of(terms_, [&](const SelectorTerm& term) {
      return term.negative && term.backend == backend &&
             matches(term, index, kind_name(info.kind), uuid_text(info.uuid));
    });
  }

  bool is_excluded_whole(const std::string& backend) const {
    return std::ranges::any_of(terms_, [&](const SelectorTerm& term) {
      return term.negative && term.backend == backend && term.devices.empty();
    });
  }

  /// The device, unless it is open already or excluded. Throws what the plugin says.
  void open(const std::shared_ptr<PluginLibrary>& library, int index, const tn_device_info& info,
            const SelectorTerm* term) {
    if (is_excluded(library->backend(), index, info)) return;
    if (!opened_.emplace(library->backend(), index).second) return;
    DeviceOptions options = options_.device;
    if (term) {
      for (const auto& [key, value] : term->options) {
        if (key == "optional") continue;
        if (key == "pool") {
          options.pool_limit = parse_bytes(value);
          continue;
        }
        if (!options.plugin_options.empty()) options.plugin_options += ",";
        options.plugin_options += value.empty() ? key : key + "=" + value;
      }
    }
    devices_.push_back(
        std::make_shared<DeviceImpl>(library, static_cast<uint32_t>(index), info, options,
                                     options_.disk_cache ? options_.cache : nullptr));
  }

  void open_term(const SelectorTerm& term) {
    const bool optional = term.options.contains("optional");
    const PluginCandidate* candidate = find(term.backend);
    if (!candidate) {
      if (optional) return;
      wrong(ErrorKind::kInvalid,
            fmt::format("term '{}': there is no backend '{}'", term.text, term.backend));
    }
    try {
      const auto library = PluginLibrary::load(*candidate);
      std::string reason;
      const std::vector<tn_device_info> infos = library->enumerate(reason);
      bool any = false;
      for (size_t i = 0; i < infos.size(); ++i) {
        const int index = static_cast<int>(i);
        if (!matches(term, index, kind_name(infos[i].kind), uuid_text(infos[i].uuid))) continue;
        any = true;
        open(library, index, infos[i], &term);
      }
      if (!any && !optional)
        wrong(infos.empty() ? ErrorKind::kEnvironment : ErrorKind::kInvalid,
              fmt::format("term '{}' matches no device{}", term.text,
                          infos.empty() ? ": " + reason : ""));
    } catch (const Error& error) {
      if (!optional) throw;
      TN_LOG("loader", "optional term '{}' is passed over: {}", term.text, error.what());
    }
  }

  struct Offer {
    const PluginCandidate* candidate;
    int index, rank, priority;
    auto key() const { return std::tuple(rank, -priority, candidate->backend, index); }
  };

  void open_probed() {
    std::vector<Offer> offers;
    for (const PluginCandidate& candidate : discovery_.candidates) {
      if (candidate.shadowed || is_excluded_whole(candidate.backend)) continue;
      const ProbeResult& result = probe(candidate);
      for (size_t i = 0; i < result.devices.size(); ++i)
        offers.push_back(
            {&candidate, static_cast<int>(i), kind_rank(result.devices[i].kind), result.priority});
    }
    std::ranges::sort(offers, {}, &Offer::key);
    for (const Offer& offer : offers) {
      try {
        auto& [library, infos] = loaded_[offer.candidate->backend];
        if (!library) {
          library = PluginLibrary::load(*offer.candidate);
          std::string reason;
          infos = library->enumerate(reason);
        }
        if (static_cast<size_t>(offer.index) < infos.size())
          open(library, offer.index, infos[static_cast<size_t>(offer.index)], nullptr);
      } catch (const Error& error) {
        log_warning(fmt::format("{}:{} passed its probe and cannot be opened: {}",
                                offer.candidate->backend, offer.index, error.what()));
      }
    }
  }

  const Discovery& discovery_;
  const OpenOptions& options_;
  std::vector<SelectorTerm> terms_;
  std::map<std::string, ProbeResult> probes_;
  std::map<std::string, std::pair<std::shared_ptr<PluginLibrary>, std::vector<tn_device_info>>>
      loaded_;
  std::set<std::pair<std::string, int>> opened_;
  std::vector<std::shared_ptr<Device>> devices_;
};

}  // namespace

bool matches(const SelectorTerm& term, int index, const std::string& kind,
             const std::string& uuid) {
  if (term.devices.empty()) return true;
  return std::ranges::any_of(term.devices, [&](const SelectorDevice& device) {
    switch (device.kind) {
      case SelectorDevice::Kind::kAll:
        return true;
      case SelectorDevice::Kind::kKind:
        return device.text == kind;
      case SelectorDevice::Kind::kIndex:
        return device.index == index;
      case SelectorDevice::Kind::kUuid:
        return !uuid.empty() && hex_digits(device.text) == hex_digits(uuid);
    }
    return false;
  });
}

std::vector<std::shared_ptr<Device>> open_devices(const Discovery& discovery,
                                                  const OpenOptions& options) {
  return Opener(discovery, options).run();
}

}  // namespace tenon
