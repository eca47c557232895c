// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two sides of a probe, its line of JSON between them, and its result on disk.
#pragma once

#include <string>
#include <string_view>

#include "core/runtime/discovery.hpp"
#include "core/runtime/disk_cache.hpp"
#include "tenon/plugin.h"

namespace tenon {

std::string kind_name(uint32_t kind);              ///< "cpu"; "kind 77" for one of a newer plugin
std::string uuid_text(const uint8_t (&uuid)[16]);  ///< 32 digits with dashes; "" if all are zero

std::string probe_to_json(const ProbeResult& result);
/// Throws kInternal for a line that is not a whole result.
ProbeResult probe_from_json(std::string_view line);

/// The child's side: loads the plugin into this process. Never throws, may crash.
ProbeResult probe_here(const std::filesystem::path& path, bool selftest);

/// main of the program tenon-probe: FILE [--selftest], writes one line to file descriptor 3.
int probe_main(int argc, char** argv);

/// With self-test; from the cache if the file is the same as then and all went well.
ProbeResult probe_cached(const std::filesystem::path& path, DiskCache& cache);

}  // namespace tenon
