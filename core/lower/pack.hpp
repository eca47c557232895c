// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For devices whose memory has no elements of less than four bytes (Capabilities::storage_bytes).
#pragma once

#include "core/ir/capabilities.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

/// The same program without narrow dtypes, bool in registers apart. A bound buffer of them becomes
/// one of u32 words, little-endian, the last one filled up; a store adds (new - old) << shift to
/// its word, atomically, so that neighbours in it lose nothing. What the kernel allocates itself
/// gets a word an element. Values become what WordOps carries.
///
/// Without atomics on u32 the adds are plain: right only if one thread runs the whole launch.
sdk::Program pack_storage(const sdk::Program& program, const Capabilities& capabilities);

/// True if words are written by adding to them.
bool has_word_atomics(const Capabilities& capabilities);

}  // namespace tenon
