// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/device/open_devices.hpp"

#include <algorithm>
#include <cctype>
#include <map>

#include "core/device/process_end.hpp"
#include "core/plugin/abi_struct.hpp"
#include "core/plugin/library.hpp"
#include "core/support/error.hpp"
#include "core/support/exit_delay.hpp"
#include "core/support/log.hpp"

namespace tenon {

using DeviceList = std::vector<std::shared_ptr<Device>>;

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

}  // namespace

class DeviceOpener::Impl {
 public:
  Impl(Discovery discovery, OpenOptions options)
      : discovery_(std::move(discovery)), options_(std::move(options)) {
    if (options_.selector) parse();
    const bool is_positive =
        std::ranges::any_of(terms_, [](const SelectorTerm& term) { return !term.negative; });
    if (!is_positive) find_offers();
  }

  DeviceList open_first() {
    for (const SelectorTerm& term : terms_)
      if (!term.negative) open_term(term);
    // The default device runs graphs without inputs, so it must compute.
    const auto computes = [](const auto& device) { return device->capabilities().compute; };
    if (devices_.empty()) open_first_offer();
    if (devices_.empty())
      wrong(options_.selector ? ErrorKind::kInvalid : ErrorKind::kEnvironment,
            options_.selector
                ? fmt::format("'{}': expected at least one device", *options_.selector)
                : std::string("expected at least one device that passes its probe"));
    if (!options_.require_compute) return std::move(devices_);
    const auto first = std::ranges::find_if(devices_, computes);
    if (first == devices_.end())
      fail(ErrorKind::kEnvironment, "[{}] expected a device that computes, got only memory: {}",
           options_.origin, devices_[0]->id());
    std::rotate(devices_.begin(), first, first + 1);
    return std::move(devices_);
  }

  std::shared_ptr<Device> open_named(const std::string& id) {
    const std::string backend = id.substr(0, id.find(':'));
    for (Offer& offer : offers_) {
      const bool is_path = offer.candidate->backend == backend && id.find('/') != std::string::npos;
      if (!is_path && (offer.opened || (offer.id() != id && offer.candidate->backend != id)))
        continue;
      if (is_path) {
        const std::vector<SelectorTerm> terms = parse_selector(id);
        if (terms.size() != 1 || terms[0].devices.size() != 1 || !terms[0].options.empty())
          return nullptr;
        Loaded& loaded = load(*offer.candidate);
        return open(loaded.library, 0, loaded.infos.at(0), nullptr, &terms[0].devices[0].text);
      }
      return open_offer(offer);
    }
    return nullptr;
  }

  std::vector<std::string> offered() const {
    std::vector<std::string> ids;
    for (const Offer& offer : offers_)
      if (!offer.opened) ids.push_back(offer.id());
    return ids;
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
      if (!term.negative || find(term.backend) || find_refused(term.backend)) continue;
      wrong(ErrorKind::kInvalid,
            fmt::format("term '{}': there is no backend '{}'", term.text, term.backend));
    }
  }

  const PluginCandidate* find(const std::string& backend) const {
    return find_backend(discovery_, backend);
  }

  const PluginCandidate* find_refused(const std::string& backend) const {
    const auto at = std::ranges::find_if(discovery_.candidates, [&](const auto& candidate) {
      return candidate.backend == backend && !candidate.refused.empty();
    });
    return at == discovery_.candidates.end() ? nullptr : &*at;
  }

  const ProbeResult& probe(const PluginCandidate& candidate) {
    return options_.probes->of(candidate);
  }

  std::string what_there_is() {
    std::string list;
    const auto add = [&](const std::string& text) { list += (list.empty() ? "" : "; ") + text; };
    probe_all();
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

  /// Splits the options into those of the plugin and those of the core.
  void apply_options(const SelectorTerm& term, DeviceOptions& options) const {
    for (const auto& [key, value] : term.options) {
      if (key == "optional" || key == "noprobe") continue;
      if (key == "pool") {
        options.pool_limit = parse_bytes(value);
        continue;
      }
      if (!options.plugin_options.empty()) options.plugin_options += ",";
      options.plugin_options += value.empty() ? key : key + "=" + value;
    }
  }

  struct Request {
    std::string term, plugin_options;
    uint64_t pool_limit = 0;
  };

  /// A device is opened once. A second term may name it again, as in "cuda:1,cuda", but must ask
  /// for the same options.
  void expect_same_request(const Request& first, const Request& request, const std::string& name) {
    const bool is_bare = request.plugin_options.empty() && request.pool_limit == 0;
    if (is_bare ||
        (request.plugin_options == first.plugin_options && request.pool_limit == first.pool_limit))
      return;
    wrong(ErrorKind::kInvalid,
          fmt::format("term '{}': expected the options of the term '{}', which "
                      "has opened {}, got others",
                      request.term, first.term, name));
  }

  /// Opens a device; null if it is open already or excluded. Throws the error of the plugin.
  std::shared_ptr<Device> open(const std::shared_ptr<PluginLibrary>& library, int index,
                               const tn_device_info& info, const SelectorTerm* term,
                               const std::string* path = nullptr) {
    if (is_excluded(library->backend(), index, info)) return nullptr;
    const std::string name =
        fmt::format("{}:{}", library->backend(), path ? *path : std::to_string(index));
    DeviceOptions options = options_.device;
    options.id = name;
    if (term) apply_options(*term, options);
    const Request request{term ? term->text : name, options.plugin_options, options.pool_limit};
    const auto [opened, is_new] = opened_.emplace(name, request);
    if (!is_new) {
      expect_same_request(opened->second, request, name);
      return nullptr;
    }
    if (path)
      options.plugin_options =
          "path=" + *path + (request.plugin_options.empty() ? "" : "," + request.plugin_options);
    try {
      wait_if_exiting();
      const InUse use(birthplace());
      const ExitDelay delay;
      auto device = std::make_shared<Device>(library, static_cast<uint32_t>(index), info, options,
                                             options_.disk_cache ? options_.cache : nullptr);
      close_at_exit(device, name);
      return device;
    } catch (...) {
      opened_.erase(name);
      throw;
    }
  }

  void add(std::shared_ptr<Device> device) {
    if (device) devices_.push_back(std::move(device));
  }

  /// Throws kEnvironment for a plugin that failed its probe, and for a device that failed its
  /// self-test.
  void expect_probed(const PluginCandidate& candidate, const SelectorTerm& term) {
    if (!options_.probe || term.options.contains("noprobe")) return;
    const ProbeResult& result = probe(candidate);
    if (result.status == ProbeResult::Status::kOk) return;
    fail(ErrorKind::kEnvironment,
         "[{}] term '{}': {} is not loaded: {} ({}@noprobe loads it all the same)", options_.origin,
         term.text, candidate.path.string(), result.reason, term.backend);
  }

  void expect_selftest(const PluginCandidate& candidate, const SelectorTerm& term, size_t index) {
    if (!options_.probe || term.options.contains("noprobe")) return;
    const ProbeResult& result = probe(candidate);
    if (index >= result.devices.size() || result.devices[index].selftest_ok) return;
    fail(ErrorKind::kEnvironment,
         "[{}] term '{}': {} is not opened: its self-test failed: {} ({}@noprobe opens it all the "
         "same)",
         options_.origin, term.text, result.devices[index].id, result.devices[index].reason,
         term.backend);
  }

  void open_term(const SelectorTerm& term) {
    const bool optional = term.options.contains("optional");
    const PluginCandidate* candidate = find(term.backend);
    if (!candidate && optional) return warn_of_refused(term.backend);
    if (!candidate) {
      const PluginCandidate* refused = find_refused(term.backend);
      wrong(ErrorKind::kInvalid,
            refused ? fmt::format("term '{}': {} is not loaded: {}", term.text,
                                  refused->path.string(), refused->refused)
                    : fmt::format("term '{}': there is no backend '{}'", term.text, term.backend));
    }
    try {
      open_matching(term, *candidate);
    } catch (const Error& error) {
      // @optional skips an absent device, but not a mistake in the selector.
      const bool is_absent =
          error.kind() == ErrorKind::kEnvironment || error.kind() == ErrorKind::kDeviceLost;
      if (!optional || !is_absent) throw;
      log_warning(fmt::format("optional term '{}' is skipped: {}", term.text, error.what()));
    }
  }

  void warn_of_refused(const std::string& backend) {
    if (const PluginCandidate* refused = find_refused(backend)) options_.probes->warn(*refused);
  }

  void open_matching(const SelectorTerm& term, const PluginCandidate& candidate) {
    expect_probed(candidate, term);
    const Loaded& loaded = load(candidate);
    const std::vector<tn_device_info>& infos = loaded.infos;
    bool any = false;
    for (const SelectorDevice& device : term.devices) {
      if (device.kind != SelectorDevice::Kind::kPath || infos.empty()) continue;
      any = true;
      expect_selftest(candidate, term, 0);
      add(open(loaded.library, 0, infos[0], &term, &device.text));
    }
    for (size_t i = 0; i < infos.size(); ++i) {
      const int index = static_cast<int>(i);
      if (!matches(term, index, kind_name(infos[i].kind), uuid_text(infos[i].uuid))) continue;
      any = true;
      expect_selftest(candidate, term, i);
      add(open(loaded.library, index, infos[i], &term));
    }
    if (!any && !term.options.contains("optional"))
      wrong(infos.empty() ? ErrorKind::kEnvironment : ErrorKind::kInvalid,
            fmt::format("term '{}' matches no device{}", term.text,
                        infos.empty() ? ": " + loaded.reason : ""));
  }

  struct Loaded {
    std::shared_ptr<PluginLibrary> library;
    std::vector<tn_device_info> infos;
    std::string reason;
  };

  Loaded& load(const PluginCandidate& candidate) {
    Loaded& loaded = loaded_[candidate.backend];
    if (!loaded.library) {
      wait_if_exiting();
      const InUse use(birthplace());
      const ExitDelay delay;
      auto library = PluginLibrary::load(candidate);
      loaded.infos = library->enumerate(loaded.reason);
      loaded.library = std::move(library);
    }
    return loaded;
  }

  struct Offer {
    const PluginCandidate* candidate;
    int index, rank, priority;
    bool opened = false;
    auto key() const { return std::tuple(rank, -priority, candidate->backend, index); }
    std::string id() const { return fmt::format("{}:{}", candidate->backend, index); }
  };

  void find_offers() {
    probe_all();
    for (const PluginCandidate& candidate : discovery_.candidates) {
      if (candidate.shadowed || is_excluded_whole(candidate.backend)) continue;
      const ProbeResult& result = probe(candidate);
      options_.probes->warn(candidate);
      for (size_t i = 0; i < result.devices.size(); ++i) {
        const ProbedDevice& device = result.devices[i];
        if (device.selftest_ok)
          offers_.push_back(
              {&candidate, static_cast<int>(i), kind_rank(device.kind), result.priority});
      }
    }
    std::ranges::sort(offers_, {}, &Offer::key);
  }

  void probe_all() {
    std::vector<const PluginCandidate*> candidates;
    for (const PluginCandidate& candidate : discovery_.candidates)
      if (!candidate.shadowed && !is_excluded_whole(candidate.backend))
        candidates.push_back(&candidate);
    options_.probes->ask(candidates);
  }

  std::shared_ptr<Device> open_offer(Offer& offer) {
    offer.opened = true;  // also if it is excluded or vanished since the probe
    const Loaded& loaded = load(*offer.candidate);
    if (static_cast<size_t>(offer.index) >= loaded.infos.size()) return nullptr;
    try {
      return open(loaded.library, offer.index, loaded.infos[static_cast<size_t>(offer.index)],
                  nullptr);
    } catch (...) {
      offer.opened = false;
      throw;
    }
  }

  void open_first_offer() {
    for (Offer& offer : offers_) {
      try {
        std::shared_ptr<Device> device = open_offer(offer);
        if (!device || (options_.require_compute && !device->capabilities().compute)) continue;
        return add(std::move(device));
      } catch (const Error& error) {
        log_warning(fmt::format("{} passed its probe, but: {}", offer.id(), error.what()));
      }
    }
  }

  const Discovery discovery_;
  const OpenOptions options_;
  std::vector<SelectorTerm> terms_;
  std::map<std::string, Loaded> loaded_;
  std::vector<Offer> offers_;
  std::map<std::string, Request> opened_;  ///< by id
  DeviceList devices_;
};

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
      case SelectorDevice::Kind::kPath:
        return false;
      case SelectorDevice::Kind::kUuid:
        return !uuid.empty() && hex_digits(device.text) == hex_digits(uuid);
    }
    return false;
  });
}

DeviceOpener::DeviceOpener(Discovery discovery, OpenOptions options)
    : impl_(std::make_unique<Impl>(std::move(discovery), std::move(options))) {}
DeviceOpener::~DeviceOpener() = default;

DeviceList DeviceOpener::open_first() { return impl_->open_first(); }
std::shared_ptr<Device> DeviceOpener::open_named(const std::string& id) {
  return impl_->open_named(id);
}
std::vector<std::string> DeviceOpener::offered() const { return impl_->offered(); }

}  // namespace tenon
