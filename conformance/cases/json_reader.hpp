// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Values of a JSON document that somebody else may have written. What throws says where the value
// stands: "[report] cells[3].counts.PASS: expected a whole number up to 2^53, got 0.5".
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/support/error.hpp"

namespace tenon::conformance {

class JsonReader {
 public:
  using Json = nlohmann::ordered_json;

  /// Of a whole document, which outlives it. `who` begins the messages.
  JsonReader(const Json& json, std::string_view who) : json_(&json), who_(who) {}

  /// Of an object's key; throws where there is none.
  JsonReader at(const std::string& key) const;
  /// Of an array's places, and of those of one of `count`.
  std::vector<JsonReader> list() const;
  std::vector<JsonReader> list(size_t count) const;
  std::vector<std::pair<std::string, JsonReader>> object() const;
  bool is_null() const { return json_->is_null(); }

  std::string text() const;
  std::vector<std::string> texts() const;
  bool flag() const;
  /// A whole number in [0, most]; all of them up to 2^53 are exact to every reader of JSON.
  uint64_t whole(uint64_t most = uint64_t{1} << 53) const;
  uint64_t bits() const { return whole(UINT64_MAX); }
  int64_t integer(int64_t least, int64_t most) const;
  /// A finite one, or "inf", "-inf" or "nan" as json_number writes them.
  double number() const;
  double finite(double least) const;
  /// By from_json of T, for what reads its fields itself.
  template <class T>
  T as() const {
    try {
      return nlohmann::json(*json_).template get<T>();
    } catch (const Json::exception& error) {
      fail(ErrorKind::kInvalid, "[{}] {}: {}", who_, path_, error.what());
    } catch (const Error& error) {
      fail(ErrorKind::kInvalid, "[{}] {}: {}", who_, path_, error.what());
    }
  }
  [[noreturn]] void expected(std::string_view what) const;
  const Json& json() const { return *json_; }

 private:
  JsonReader(const Json& json, std::string_view who, std::string path)
      : json_(&json), who_(who), path_(std::move(path)) {}
  const Json* json_;
  std::string_view who_;
  std::string path_;
};

}  // namespace tenon::conformance
