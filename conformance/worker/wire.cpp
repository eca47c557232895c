// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/worker/wire.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "conformance/cases/json_number.hpp"
#include "core/support/error.hpp"
#include "core/support/parse_json.hpp"

namespace tenon::conformance {

using Json = nlohmann::json;

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceFacts, id, name, declaration, plugin, properties,
                                   deterministic, memory_only, async)

inline void to_json(Json& json, const UlpSample& sample) {
  json = {sample.bucket, json_number<Json>(sample.ulp), json_number<Json>(sample.at),
          json_number<Json>(sample.bound)};
}
inline void from_json(const Json& json, UlpSample& sample) {
  sample = {json.at(0), number_of(json.at(1)), number_of(json.at(2)), number_of(json.at(3))};
}

void to_json(Json& json, const Cell& cell) { json = {cell.op, cell.dtype, cell.layout}; }
void from_json(const Json& json, Cell& cell) { cell = {json.at(0), json.at(1), json.at(2)}; }

void to_json(Json& json, const Outcome& outcome) {
  json = {{"status", status_name(outcome.status)},
          {"kind", outcome.kind},
          {"text", outcome.text},
          {"worst_ulp", json_number<Json>(outcome.worst_ulp)},
          {"worst_input", outcome.worst_input},
          {"digest", outcome.digest},
          {"needs", outcome.needs},
          {"ulps", outcome.ulps},
          {"diff", outcome.diff},
          {"transforms", outcome.transforms}};
}
void from_json(const Json& json, Outcome& outcome) {
  outcome = {.status = status_from_name(json.at("status").get<std::string>()),
             .kind = json.at("kind"),
             .text = json.at("text"),
             .worst_ulp = number_of(json.at("worst_ulp")),
             .worst_input = json.at("worst_input"),
             .digest = json.at("digest"),
             .needs = json.at("needs"),
             .ulps = json.at("ulps").get<std::vector<UlpSample>>(),
             .diff = json.at("diff"),
             .transforms = json.at("transforms")};
}

}  // namespace tenon::conformance

namespace tenon::conformance::worker {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ready, facts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Refused, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Probed, wrong, text)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Begun, index, attempt, cell)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Ended, index, outcome, reached)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Bye, reason)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunRange, seed, begin, end)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RunText, bytes)

inline void to_json(Json& json, const Idle&) { json = Json::object(); }
inline void from_json(const Json&, Idle&) {}
inline void to_json(Json& json, const RunProbe&) { json = Json::object(); }
inline void from_json(const Json&, RunProbe&) {}

inline void to_json(Json& json, const Entered& entered) {
  json = {{"phase", static_cast<int>(entered.phase)}};
}
inline void from_json(const Json& json, Entered& entered) {
  const int phase = json.at("phase");
  TN_REQUIRE(phase >= 0 && phase <= static_cast<int>(judge::RunPhase::kLaunch),
             "[worker] expected a phase, got {}", phase);
  entered.phase = static_cast<judge::RunPhase>(phase);
}

namespace {

// In the order of the variants.
constexpr std::string_view kMessages[] = {"ready",   "refused", "probed", "begun",
                                          "entered", "ended",   "idle",   "bye"};
constexpr std::string_view kCommands[] = {"probe", "range", "text"};
static_assert(std::size(kMessages) == std::variant_size_v<Message>);
static_assert(std::size(kCommands) == std::variant_size_v<Command>);

/// ["word", {...}]
template <class Variant>
std::string encode(const Variant& value, std::span<const std::string_view> words) {
  Json json = Json::array({words[value.index()]});
  std::visit([&](const auto& one) { json.emplace_back(one); }, value);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Variant, size_t I = 0>
std::optional<Variant> read_as(const Json& json, size_t index) {
  if constexpr (I == std::variant_size_v<Variant>) {
    return std::nullopt;
  } else {
    if (index == I) return json.get<std::variant_alternative_t<I, Variant>>();
    return read_as<Variant, I + 1>(json, index);
  }
}

template <class Variant>
std::optional<Variant> decode(std::string_view line, std::span<const std::string_view> words) {
  try {
    const auto json = parse_json<Json>(line);
    const auto word = json.at(0).get<std::string>();
    return read_as<Variant>(json.at(1),
                            static_cast<size_t>(std::ranges::find(words, word) - words.begin()));
  } catch (const Json::exception&) {
    return std::nullopt;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace

std::string write_message(const Message& message) { return encode(message, kMessages); }
std::optional<Message> read_message(std::string_view line) {
  return decode<Message>(line, kMessages);
}

std::string write_command(const Command& command) { return encode(command, kCommands); }
std::optional<Command> read_command(std::string_view line) {
  return decode<Command>(line, kCommands);
}

}  // namespace tenon::conformance::worker
