// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Damaged files: each reader gives what it read or an error that names the file, and never more.
// TENON_MUTATIONS=100000: so many of each reader.
#include <zlib.h>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <functional>
#include <random>

#include "tenon/error.hpp"
#include "tenon/file_io.hpp"
#include "tenon/formats/csv.hpp"
#include "tenon/formats/idx.hpp"
#include "tenon/formats/image.hpp"
#include "tenon/formats/npz.hpp"
#include "tenon/formats/safetensors.hpp"
#include "tenon/npy.hpp"
#include "tests/formats/files.hpp"
#include "tests/mutated.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;

namespace {

struct Reader {
  const char* name;  ///< of the file too: its extension counts
  std::vector<std::string> samples;
  std::vector<std::string> pieces;  ///< words of the format
  std::function<void(const std::string& path)> read;
  /// Makes what is checked before anything else is read fit again: a length, a checksum.
  std::function<void(std::string& bytes)> seal = [](std::string&) {};
};

void seal_safetensors(std::string& bytes) {
  // The header ends where its last brace is; the length before it says so.
  const size_t end = bytes.rfind('}');
  if (bytes.size() < 8 || end == std::string::npos || end < 8) return;
  bytes.replace(0, 8, word(end + 1 - 8, 8));
}

void seal_png(std::string& bytes) {
  for (size_t at = 8; at + 12 <= bytes.size();) {
    uint64_t length = 0;
    for (size_t i = 0; i < 4; ++i) length = length << 8 | static_cast<uint8_t>(bytes[at + i]);
    if (length > bytes.size() - at - 12) return;
    const auto* const from = reinterpret_cast<const Bytef*>(bytes.data() + at + 4);
    bytes.replace(at + 8 + length, 4, word(crc32(0, from, static_cast<uInt>(4 + length)), 4, true));
    at += 12 + length;
  }
}

void seal_npy(std::string& bytes) {
  const size_t end = bytes.find('}');
  if (bytes.size() < 10 || end == std::string::npos || end < 10) return;
  bytes.replace(8, 2, word(end + 1 - 10, 2));
}

std::string npy(const std::string& header, size_t data) {
  return "\x93NUMPY" + std::string("\1\0", 2) + word(header.size(), 2) + header +
         std::string(data, '\2');
}

std::vector<std::string> all_of(std::initializer_list<const char*> names) {
  std::vector<std::string> out;
  for (const char* name : names) out.push_back(bytes_of(stored(name)));
  return out;
}

std::vector<Reader> readers() {
  const auto image = [](const std::string& path) { read_image(path); };
  const auto idx = [](const std::string& path) { read_idx(path); };
  return {
      {"x.safetensors",
       all_of({"dtypes.safetensors", "names.safetensors", "shapes.safetensors",
               "nothing.safetensors"}),
       {"\"dtype\":\"F32\"", "\"shape\":[", "\"data_offsets\":[0,", "__metadata__", "{", "}", "[",
        "]", ",", ":", "\"", "\\u0000", "\\ud800", "-1", "1e99", "18446744073709551616",
        "9223372036854775807", "null", "\xff"},
       [](const std::string& path) {
         const SafetensorsFile file(path);
         for (const TensorInfo& info : file.tensors()) file.read(info.name);
       },
       seal_safetensors},
      {"x.npy",
       {npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n", 24),
        npy("{'descr': '>i8', 'fortran_order': True, 'shape': (4,), }\n", 32),
        npy("{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n", 1)},
       {"'descr'", "'<f8'", "'|O'", "'shape'", "(", ")", ",", "True", "False", "-1", "0",
        "9223372036854775807", "99999999999999999999", "{", "}", "'"},
       [](const std::string& path) { read_npy(path); },
       seal_npy},
      {"x.npz",
       all_of({"stored.npz", "deflated.npz"}),
       {"PK\3\4", "PK\1\2", "PK\5\6", ".npy", "../", std::string(4, '\0'), word(~0u, 4)},
       [](const std::string& path) { read_npz(path); }},
      {"x.csv",
       {"a,b,c\n1,2.5,x\n-3,nan,\"y,z\"\n", "1\r\n2\r\n3", "\"q\"\"r\",True\r\"\",Inf\r"},
       {",", "\"", "\"\"", "\n", "\r", "\r\n", "nan", "1e999", "-", std::string(1, '\0'), "\xff",
        "\xef\xbb\xbf", "99999999999999999999"},
       [](const std::string& path) { read_csv(path); }},
      {"x.idx",
       {std::string("\0\0\x08\2\0\0\0\2\0\0\0\3abcdef", 18),
        std::string("\0\0\x0d\1\0\0\0\1\x3f\xc0\0\0", 12)},
       {word(8, 1), word(0x0d, 1), word(255, 1), word(~0u, 4), std::string(4, '\0')},
       idx},
      {"x.idx.gz", all_of({"u8.idx.gz"}), {"\x1f\x8b\x08", std::string(8, '\0')}, idx},
      {"x.png",
       all_of({"rgb.png", "rgba.png", "grey.png", "grey16.png", "la.png", "palette.png"}),
       {"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "zTXt", word(~0u, 4), std::string(4, '\0')},
       image,
       seal_png},
      {"x.jpg",
       all_of({"rgb.jpg", "grey.jpg", "progressive.jpg"}),
       {"\xff\xd8", "\xff\xd9", "\xff\xc4", "\xff\xdb", "\xff\xda", "\xff\xc2", "\xff\xee",
        word(~0u, 4)},
       image},
  };
}

}  // namespace

TEST_CASE("a damaged file is read or refused by name") {
  const char* const wanted = std::getenv("TENON_MUTATIONS");
  const long count = wanted ? std::atol(wanted) : 1500;
  const Folder folder;
  for (const Reader& reader : readers()) {
    std::mt19937_64 random(17);
    long accepted = 0, refused = 0;
    INFO(reader.name);
    for (const std::string& sample : reader.samples)
      REQUIRE_NOTHROW(reader.read(folder.put(reader.name, sample)));
    for (long i = 0; i < count; ++i) {
      std::string bytes = mutated(reader.samples[random() % reader.samples.size()], reader.samples,
                                  reader.pieces, random);
      if (random() % 4 != 0) reader.seal(bytes);
      const std::string path = folder.put(reader.name, bytes);
      INFO("mutation " << i);
      try {
        reader.read(path);
        ++accepted;
      } catch (const Error& error) {
        ++refused;
        const std::string message = error.what();
        INFO(message);
        // Sizes that the header alone claims may be more than there is memory for.
        REQUIRE((error.kind() == ErrorKind::kInvalid || error.kind() == ErrorKind::kOutOfMemory));
        REQUIRE(message.find(reader.name) != std::string::npos);
      }
    }
    CHECK(accepted > 0);
    CHECK(refused > count / 4);
  }
}
