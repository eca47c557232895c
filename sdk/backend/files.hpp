// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The extension tenon/ext/files.h as classes: a storage backend derives from both and answers
// `&files_table()` for TN_FILES_ID. Every Memory and Device of the backend must be one of these.
#pragma once

#include "sdk/backend/backend.hpp"
#include "tenon/ext/files.h"

namespace tenon::sdk {

/// A slab that is read and written by calls. Ranges are checked before.
class FileMemory : public Memory {
 public:
  virtual void read(uint64_t offset, void* to, uint64_t size) const = 0;
  virtual void write(uint64_t offset, const void* from, uint64_t size) const = 0;
  /// Maps pages that stay valid until unpin(). Throws TN_ERROR_UNSUPPORTED if they might not.
  virtual void* pin(uint64_t offset, uint64_t size) = 0;
  virtual void unpin() = 0;
};

class FileDevice : public Device {
 public:
  virtual uint64_t file_size() const = 0;
  virtual std::unique_ptr<FileMemory> open_range(uint64_t offset, uint64_t size,
                                                 bool writable) const = 0;
};

const tn_files& files_table();

}  // namespace tenon::sdk
