// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A file, or a folder, as a device with memory only.
#pragma once

#include "plugins/disk/memory.hpp"

namespace tenon::disk {

class DiskDevice : public sdk::Device {
 public:
  /// Takes path, readonly and create out of the options.
  explicit DiskDevice(sdk::Options& options);

  const tn_properties& properties() const override;
  /// In a file without a name, in the folder or beside the file.
  std::unique_ptr<sdk::Memory> allocate(uint32_t space, uint64_t size) override;
  /// Copies and fills.
  void submit(const sdk::Submission& submission) override;

  uint64_t file_size() const { return file().size(); }
  std::unique_ptr<FileMemory> open_range(uint64_t offset, uint64_t size, uint32_t flags) const;

 private:
  const File& file() const;  ///< throws TN_ERROR_UNSUPPORTED where there is only a folder

  std::shared_ptr<File> file_;  ///< null: a folder
  std::string folder_;
};

}  // namespace tenon::disk
