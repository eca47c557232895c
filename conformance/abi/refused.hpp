// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A call that must be refused, made with every tn_error that a host may have: what comes back
// besides the status is the same for all calls, so one place judges it.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "conformance/abi/finding.hpp"

namespace tenon::conformance::abi {

namespace refused {

/// Makes the call with tn_errors of several sizes and with none. Throws a Finding where one of them
/// is not filled as it must be, or where the answers differ; answers the status. The call is over
/// as soon as it answers TN_OK.
int32_t with_each_error(const char* name, const std::function<int32_t(tn_error*)>& call);

/// "TN_OK" or the words of a status.
std::string text_of(int32_t status);

}  // namespace refused

/// For calls with an out parameter, `call(out, error)`: no refusal may touch it. Answers the
/// status; TN_OK, with what was made in `made`, if the call passed.
template <class T, class Call>
int32_t refuse_or_make(const char* name, Call&& call, T& made) {
  static char somewhere;
  T untouched{};
  if constexpr (std::is_pointer_v<T>)
    untouched = reinterpret_cast<T>(&somewhere);
  else
    untouched = static_cast<T>(0x5a5a5a5a5a5a5a5a);
  const int32_t status = refused::with_each_error(name, [&](tn_error* error) {
    made = untouched;
    const int32_t answer = call(&made, error);
    if (answer == TN_ERROR_DEVICE_LOST) throw Lost{name};
    expect(answer == TN_OK || made == untouched,
           "{}: expected nothing written to its out parameter with {}, got it changed", name,
           refused::text_of(answer));
    return answer;
  });
  if (status != TN_OK) made = {};
  return status;
}

/// The same for a call that must be refused: TN_OK is a finding.
template <class T, class Call>
int32_t expect_refused(const char* name, Call&& call) {
  T made{};
  const int32_t status = refuse_or_make<T>(name, std::forward<Call>(call), made);
  expect(status != TN_OK, "{}: expected it refused, got TN_OK", name);
  return status;
}
/// Of a call that makes nothing, `call(error)`.
int32_t expect_refused(const char* name, const std::function<int32_t(tn_error*)>& call);

/// What the room for a reason is filled with before the call.
constexpr char kNoReason = '\x01';
/// A sentence with a NUL: what `supports` must give with NO.
void expect_reason(std::string_view reason, const char* of);

}  // namespace tenon::conformance::abi
