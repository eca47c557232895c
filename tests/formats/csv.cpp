// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/formats/csv.hpp"

#include <cmath>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <random>

#include "tenon/error.hpp"
#include "tests/formats/files.hpp"

using namespace tenon;
using namespace tenon::formats;
using namespace tenon::test;
using Catch::Matchers::ContainsSubstring;

namespace {

CsvTable parse(std::string_view text, const CsvOptions& options = {}) {
  return parse_csv(text, "x.csv", options);
}
const CsvOptions kNoHeader{.header = false};

}  // namespace

TEST_CASE("columns of a table become arrays") {
  const Folder folder;
  const CsvTable table = read_csv(
      folder.put("x.csv", "length,width,kind\r\n5.1, 3.5 ,b\r\n-4e1,0x10,a\r\n\r\n7,inf,b\r\n"));
  CHECK(table.rows() == 3);
  CHECK(table.names() == std::vector<std::string>{"length", "width", "kind"});
  const Array length = table.array(table.column("length"), DType::kF32);
  CHECK(length.shape == std::vector<int64_t>{3});
  CHECK(length.at(0) == Scalar::of(DType::kF32, 5.1));
  CHECK(length.at(1).as_double() == -40);
  const size_t both[] = {1, 0};
  const Array matrix = table.matrix(both, DType::kF64);
  CHECK(matrix.shape == std::vector<int64_t>{3, 2});
  CHECK(matrix.at(0).as_double() == 3.5);
  CHECK(matrix.at(5).as_double() == 7);
  std::vector<std::string> names;
  const Array kinds = table.classes(2, &names);
  CHECK(names == std::vector<std::string>{"a", "b"});
  CHECK(kinds.at(0).as_int() == 1);
  CHECK(kinds.at(1).as_int() == 0);
}

TEST_CASE("quotes hold separators, line ends and quotes") {
  const CsvTable table = parse("\"a,b\",\"c\nd\"\n\"e\"\"f\",\n", kNoHeader);
  CHECK(table.rows() == 2);
  CHECK(table.text(0, 0) == "a,b");
  CHECK(table.text(0, 1) == "c\nd");
  CHECK(table.text(1, 0) == "e\"f");
  CHECK(table.text(1, 1).empty());
}

TEST_CASE("tables of every form") {
  CHECK(parse("").rows() == 0);
  CHECK(parse("a,b\n").rows() == 0);
  CHECK(parse("a,b\n").matrix(DType::kF32).shape == std::vector<int64_t>{0, 2});
  CHECK(parse("\xef\xbb\xbf"
              "a\n1")
            .names() == std::vector<std::string>{"a"});
  CHECK(parse("1;2\n3;4", {.header = false, .separator = ';'}).matrix(DType::kI32).at(3).as_int() ==
        4);
}

TEST_CASE("numbers as other programs write them") {
  const auto of = [](const std::string& field, DType dtype = DType::kF32) {
    return parse("a\n" + field + "\n").array(0, dtype).at(0).as_double();
  };
  for (const char* nan : {"NaN", "nan", "NAN", "-nan"}) CHECK(std::isnan(of(nan)));
  for (const char* one : {"+1", "True", "TRUE", "true", "1e0", "+1.0"}) CHECK(of(one) == 1);
  for (const char* more : {"Inf", "Infinity", "+inf", "inf", "+Infinity"})
    CHECK(of(more) == INFINITY);
  for (const char* less : {"-Inf", "-infinity"}) CHECK(of(less) == -INFINITY);
  CHECK(parse("a,b\n1,NaN\n").rows() == 1);
  CHECK(parse("a\n+7\nFalse\nTrue\n").array(0, DType::kI32).at(0).as_int() == 7);
  CHECK(parse("a\nTrue\nfalse\n").array(0, DType::kBool).at(0).bits == 1);
  for (const char* none : {"+", "+-1", "-+1", "++1", "truer", "infinit", "na", " "})
    CHECK_THROWS_WITH(of(none), ContainsSubstring("expected a value of f32"));
  for (const char* real : {"nan", "inf", "+0.5"})
    CHECK_THROWS_WITH(of(real, DType::kI32), ContainsSubstring("expected a value of i32"));
}

TEST_CASE("what a field without text counts as") {
  const Array array = parse("a,b\n1,\n,2\n  ,3\n", {.empty = -1}).matrix(DType::kF32);
  CHECK(array.at(1).as_double() == -1);
  CHECK(array.at(2).as_double() == -1);
  CHECK(array.at(4).as_double() == -1);
  CHECK(std::isnan(parse("a,b\n1,\n", {.empty = NAN}).array(1, DType::kF64).at(0).as_double()));
  CHECK_THROWS_WITH(parse("a,b\n1,\n", {.empty = NAN}).array(1, DType::kI32),
                    ContainsSubstring("expected a value of i32, got ''"));
}

TEST_CASE("lines end as three systems have it") {
  for (const char* text : {"a,b\r1,2\r3,4", "a,b\n1,2\r\n3,4\r", "a,b\r\n\r1,2\n\r3,4\n"})
    CHECK(parse(text).matrix(DType::kI32).at(3).as_int() == 4);
  CHECK_THROWS_WITH(parse("a,b\r1\r"), ContainsSubstring("line 2: expected 2 fields"));
}

TEST_CASE("stray quotes are text where an option says so") {
  const CsvOptions stray{.header = false, .stray_quotes = true};
  CHECK(parse("6\" nails,\"a\"b\n", stray).text(0, 0) == "6\" nails");
  CHECK(parse("6\" nails,\"a\"b\n", stray).text(0, 1) == "ab");
  CHECK(parse("\"a,\"\"b\",c\n", stray).text(0, 0) == "a,\"b");
  CHECK_THROWS_WITH(parse("\"a", stray), ContainsSubstring("the end of the quote"));
  CHECK_THROWS_WITH(parse("\"\"a\n", kNoHeader), ContainsSubstring("a separator or the end"));
}

TEST_CASE("a table that is none is refused with line and column") {
  const auto refuses = [](std::string_view text, const char* why) {
    CHECK_THROWS_WITH(parse(text), ContainsSubstring("x.csv: line ") && ContainsSubstring(why));
  };
  refuses("a,b\n1,2\n\n3\n", "line 4: expected 2 fields, got 1");
  refuses("a,b\n1,2,3\n", "line 2: expected 2 fields, got 3");
  refuses("a,b\n1,\"2\n3", "line 3, column 2: expected the end of the quote of line 2");
  refuses("a,b\n1,\"2\"3\n", "line 2, column 2: expected a separator or the end of the line");
  refuses("a,b\n1,2\"3\n", "line 2, column 2: expected a quote to begin its field, got '2\"3'");

  const CsvTable table = parse("a,\"b\nc\"\n1,2\n3,x\n");
  CHECK_THROWS_WITH(
      table.array(1, DType::kF32),
      ContainsSubstring("x.csv: line 4, column 2 (b\nc): expected a value of f32, got 'x'"));
  CHECK_THROWS_WITH(parse("a\n300").array(0, DType::kU8), ContainsSubstring("of u8, got '300'"));
  CHECK_THROWS_WITH(parse("a\n\"\"").array(0, DType::kF32), ContainsSubstring("got ''"));
  CHECK_THROWS_WITH(table.column("d"),
                    ContainsSubstring("expected one of the columns a, b\nc, got 'd'"));
  CHECK_THROWS_WITH(parse("a,b,a\n1,2,3\n").column("a"),
                    ContainsSubstring("a column's name that stands once, got 'a'"));
  CHECK_THROWS_WITH(table.array(2, DType::kF32), ContainsSubstring("a column below 2, got 2"));
  CHECK_THROWS_WITH(table.text(2, 0), ContainsSubstring("a row below 2, got 2"));
  CHECK_THROWS_AS(parse("a", {.header = true, .separator = '"'}), Error);
}

TEST_CASE("any text is a table or refused") {
  std::mt19937 random(7);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned size = random() % 30; size-- > 0;) text += "\",\n\r1a"[random() % 6];
    try {
      parse(text);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::kInvalid);
    }
  }
}
