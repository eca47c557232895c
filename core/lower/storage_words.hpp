// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Packs narrow elements for devices whose memory elements have at least four bytes
// (Capabilities::storage_bytes).
#pragma once

#include "core/ir/capabilities.hpp"
#include "sdk/program/builder.hpp"

namespace tenon {

/// The program without narrow dtypes, except bool in registers. A bound buffer of them becomes one
/// of u32 words, little-endian and padded; a store adds (new - old) << shift to its word,
/// atomically, so that its neighbours are preserved. Tiles get a word for each element. Values
/// become carriers (word_ops.hpp).
///
/// Without atomics on u32 the adds are plain, which is correct only if one thread runs the launch.
sdk::Program pack_storage(const sdk::Program& program, const Capabilities& capabilities);

/// True if the device has atomic adds on u32.
bool has_word_atomics(const Capabilities& capabilities);

}  // namespace tenon
