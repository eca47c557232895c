// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/metrics.hpp"

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <csignal>

#include "tenon/error.hpp"
#include "tests/formats/files.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("rows are JSON objects or values under names") {
  const Folder folder;
  MetricsWriter json(folder / "m.jsonl"), csv(folder / "m.csv");
  for (int step = 0; step < 2; ++step) {
    const Metrics row = {{"step", step}, {"loss, \"x\"", 0.1 + step}};
    json.write(row);
    csv.write(row);
  }
  CHECK(bytes_of(folder / "m.jsonl") ==
        "{\"step\":0,\"loss, \\\"x\\\"\":0.1}\n{\"step\":1,\"loss, \\\"x\\\"\":1.1}\n");
  CHECK(bytes_of(folder / "m.csv") == "step,\"loss, \"\"x\"\"\"\n0,0.1\n1,1.1\n");
  json.write({{"a", std::nan("")}, {"b", INFINITY}});
  CHECK(bytes_of(folder / "m.jsonl").ends_with("{\"a\":null,\"b\":null}\n"));
}

TEST_CASE("a file that is there is continued, without a row that is not whole") {
  const Folder folder;
  const std::string csv = folder.put("m.csv", "a,b\n1,2\n3,");
  MetricsWriter(csv).write({{"a", 5}, {"b", 6}});
  CHECK(bytes_of(csv) == "a,b\n1,2\n5,6\n");
  CHECK_THROWS_WITH(MetricsWriter(csv).write({{"a", 5}, {"c", 6}}),
                    ContainsSubstring("expected the names a,b, got a,c"));
  const std::string half = folder.put("half.csv", "a,");
  MetricsWriter(half).write({{"a", 1}});
  CHECK(bytes_of(half) == "a\n1\n");
  const std::string json = folder.put("m.jsonl", "{\"a\":1}\n{\"a\"");
  MetricsWriter(json).write({{"b", 2}});
  CHECK(bytes_of(json) == "{\"a\":1}\n{\"b\":2}\n");
}

TEST_CASE("a row that does not fit on the disk is not there in part") {
  const Folder folder;
  MetricsWriter writer(folder / "m.jsonl");
  writer.write({{"step", 1}});
  const std::string before = bytes_of(folder / "m.jsonl");
  // As on a disk that is full; the signal that goes with the limit would end the process.
  auto* const old = std::signal(SIGXFSZ, SIG_IGN);
  {
    const FullDisk full(before.size() + 5);
    CHECK_THROWS_WITH(writer.write({{"step", 2}}), ContainsSubstring("expected to write the file"));
  }
  std::signal(SIGXFSZ, old);
  CHECK(bytes_of(folder / "m.jsonl") == before);
  writer.write({{"step", 3}});
  CHECK(bytes_of(folder / "m.jsonl") == before + "{\"step\":3}\n");
}

TEST_CASE("files and rows that mean nothing are refused") {
  const Folder folder;
  CHECK_THROWS_WITH(MetricsWriter(folder / "m.txt"), ContainsSubstring(".csv or .jsonl"));
  CHECK_THROWS_WITH(MetricsWriter(folder / "no/m.csv"), ContainsSubstring("No such file"));
  fs::create_directory(folder / "f.csv");
  CHECK_THROWS_AS(MetricsWriter(folder / "f.csv"), Error);
  CHECK_THROWS_WITH(MetricsWriter(folder / std::string("n\0.csv", 6)),
                    ContainsSubstring("a path without NUL"));
  CHECK_FALSE(fs::exists(folder / "n"));
  MetricsWriter writer(folder / "m.csv");
  CHECK_THROWS_WITH(writer.write({}), ContainsSubstring("at least one number"));
  for (const char* name : {"", "\xff", "a\nb"})
    CHECK_THROWS_WITH(writer.write({{name, 1}}), ContainsSubstring("names of one line in UTF-8"));
  CHECK(bytes_of(folder / "m.csv").empty());
}
