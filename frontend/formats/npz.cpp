// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/npz.hpp"

#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <memory>

#include "core/support/error.hpp"
#include "frontend/formats/gzip_file.hpp"
#include "frontend/formats/host_array.hpp"
#include "frontend/formats/input_file.hpp"
#include "tenon/file_io.hpp"
#include "tenon/npy.hpp"

namespace tenon::formats {
namespace {

constexpr std::string_view kEnding = ".npy";
constexpr size_t kMostName = 1000;
constexpr std::string_view kEmpty("PK\5\6\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);

/// What libzip says of an error, which it frees.
class ZipError {
 public:
  ZipError() { zip_error_init(&error_); }
  explicit ZipError(int code) { zip_error_init_with_code(&error_, code); }
  ~ZipError() { zip_error_fini(&error_); }
  ZipError(const ZipError&) = delete;
  ZipError& operator=(const ZipError&) = delete;
  zip_error_t* get() { return &error_; }
  std::string text() { return zip_error_strerror(&error_); }

 private:
  zip_error_t error_{};
};

using Archive = std::unique_ptr<zip_t, decltype(&zip_discard)>;
using Entry = std::unique_ptr<zip_file_t, decltype(&zip_fclose)>;
using Source = std::unique_ptr<zip_source_t, decltype(&zip_source_free)>;

/// Names that stand twice, and what the directory and the entries say differently, end here.
Archive open(InputFile& file) {
  int code = 0;
  const int descriptor = file.release();
  zip_t* const archive = zip_fdopen(descriptor, ZIP_CHECKCONS, &code);
  if (archive == nullptr) {
    close(descriptor);
    fail(ErrorKind::kInvalid, "{}: expected a .npz archive, got: {}", file.path(),
         ZipError(code).text());
  }
  return {archive, zip_discard};
}

std::string origin_of(const std::string& path, const zip_stat_t& stat) {
  return path + "/" + std::string(shortened(stat.name));
}

/// What an entry claims, by which memory is taken.
void check_entry(const zip_stat_t& stat, const std::string& origin, uint64_t file_size) {
  TN_REQUIRE(stat.encryption_method == ZIP_EM_NONE, "{}: expected no encryption, got some", origin);
  TN_REQUIRE(stat.comp_method == ZIP_CM_STORE || stat.comp_method == ZIP_CM_DEFLATE,
             "{}: expected an entry that is stored or deflated, got method {}", origin,
             stat.comp_method);
  TN_REQUIRE(stat.comp_size <= file_size && stat.size / kMostDeflateRatio <= stat.comp_size,
             "{}: expected {} bytes of the file to hold {}, got an archive that lies", origin,
             stat.comp_size, stat.size);
  check_memory(origin, stat.size);
}

/// The bytes of an entry, which are as many as the archive says.
std::string unpacked(zip_t* archive, const zip_stat_t& stat, const std::string& origin) {
  const Entry entry(zip_fopen_index(archive, stat.index, 0), zip_fclose);
  TN_REQUIRE(entry, "{}: expected a readable entry, got: {}", origin, zip_strerror(archive));
  std::string bytes(stat.size, '\0');
  uint64_t held = 0;
  char more = 0;
  for (;;) {  // to the end, where the checksum is compared
    const bool is_whole = held == stat.size;
    const zip_int64_t got = is_whole
                                ? zip_fread(entry.get(), &more, 1)
                                : zip_fread(entry.get(), bytes.data() + held, stat.size - held);
    TN_REQUIRE(got >= 0, "{}: expected {} whole bytes, got: {}", origin, stat.size,
               zip_file_strerror(entry.get()));
    TN_REQUIRE(got == 0 || !is_whole, "{}: expected {} bytes, got more", origin, stat.size);
    if (got == 0) break;
    held += static_cast<uint64_t>(got);
  }
  TN_REQUIRE(held == stat.size, "{}: expected {} bytes, got {}", origin, stat.size, held);
  return bytes;
}

void check_name(const std::string& name) {
  TN_REQUIRE(!name.empty() && name.size() <= kMostName && name.front() != '/' &&
                 name.find_first_of(std::string_view("\0\\", 2)) == std::string::npos,
             "[write_npz] expected names of 1 to {} bytes without zeros, backslashes and a leading "
             "slash, got '{}'",
             kMostName, shortened(name));
}

/// The archive as bytes.
std::string packed(const NamedArrays& arrays, NpzCompression compression) {
  if (arrays.empty()) return std::string(kEmpty);  // libzip would write nothing
  ZipError error;
  const Source source(zip_source_buffer_create(nullptr, 0, 0, error.get()), zip_source_free);
  if (!source) fail(ErrorKind::kOutOfMemory, "[write_npz] expected memory, got: {}", error.text());
  zip_source_keep(source.get());
  Archive archive(zip_open_from_source(source.get(), ZIP_TRUNCATE, error.get()), zip_discard);
  if (!archive) {
    zip_source_free(source.get());
    fail(ErrorKind::kOutOfMemory, "[write_npz] expected an archive, got: {}", error.text());
  }
  std::vector<std::string> texts;  // until the archive is closed
  texts.reserve(arrays.size());
  for (const auto& [name, array] : arrays) {
    check_name(name);
    const std::string& text = texts.emplace_back(print_npy(array));
    zip_source_t* const entry = zip_source_buffer(archive.get(), text.data(), text.size(), 0);
    const zip_int64_t index =
        entry == nullptr ? -1
                         : zip_file_add(archive.get(), (name + std::string(kEnding)).c_str(), entry,
                                        ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      if (entry != nullptr) zip_source_free(entry);
      fail(ErrorKind::kInvalid, "[write_npz] '{}': expected a name of its own in UTF-8, got: {}",
           shortened(name), zip_strerror(archive.get()));
    }
    const auto at = static_cast<zip_uint64_t>(index);
    const bool is_stored = compression == NpzCompression::kStored;
    zip_set_file_compression(archive.get(), at, is_stored ? ZIP_CM_STORE : ZIP_CM_DEFLATE, 0);
    zip_file_set_dostime(archive.get(), at, 0, 1 << 5 | 1, 0);  // 1980-01-01, as NumPy
  }
  if (zip_close(archive.get()) != 0)
    fail(ErrorKind::kOutOfMemory, "[write_npz] expected memory for the archive, got: {}",
         zip_strerror(archive.get()));
  (void)archive.release();
  std::string out;
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_source_open(source.get()) == 0) {
    if (zip_source_stat(source.get(), &stat) == 0) out.resize(stat.size);
    const zip_int64_t got = zip_source_read(source.get(), out.data(), out.size());
    zip_source_close(source.get());
    if (got >= 0 && static_cast<uint64_t>(got) == stat.size) return out;
  }
  fail(ErrorKind::kOutOfMemory, "[write_npz] expected the archive's bytes, got: {}",
       zip_error_strerror(zip_source_error(source.get())));
}

}  // namespace

NamedArrays read_npz(const std::string& path) {
  InputFile file(path);
  const uint64_t size = file.size();
  const Archive archive = open(file);
  uint64_t bytes_of_all = 0;
  std::vector<zip_stat_t> stats;
  const zip_int64_t entries = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < entries; ++i) {
    zip_stat_t stat;
    constexpr uint64_t kNeeded = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
                                 ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    const bool is_known =
        zip_stat_index(archive.get(), static_cast<zip_uint64_t>(i), 0, &stat) == 0;
    TN_REQUIRE(is_known && (stat.valid & kNeeded) == kNeeded,
               "{}: expected an entry {} with a name and sizes, got: {}", path, i,
               zip_strerror(archive.get()));
    check_entry(stat, origin_of(path, stat), size);
    bytes_of_all += stat.size;
    check_memory(path, bytes_of_all);
    stats.push_back(stat);
  }
  NamedArrays out;
  for (const zip_stat_t& stat : stats) {
    std::string name = stat.name;
    const std::string origin = origin_of(path, stat);
    TN_REQUIRE(name.ends_with(kEnding), "{}: expected an array, whose name ends with .npy", origin);
    name.resize(name.size() - kEnding.size());
    const std::string bytes = unpacked(archive.get(), stat, origin);
    out.emplace_back(std::move(name), parse_npy(std::as_bytes(std::span(bytes)), origin));
  }
  return out;
}

void write_npz(const std::string& path, const NamedArrays& arrays, NpzCompression compression) {
  write_file(path, packed(arrays, compression));
}

void write_npz(const std::string& path, const NamedTensors& tensors, NpzCompression compression) {
  write_npz(path, to_arrays(tensors), compression);
}

}  // namespace tenon::formats
