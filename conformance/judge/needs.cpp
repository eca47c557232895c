// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "conformance/judge/needs.hpp"

#include "conformance/judge/compare.hpp"

namespace tenon::conformance::judge {
namespace {

struct Row {
  Needs need;
  uint32_t numerics;
};
constexpr Row kRows[] = {{kNeedsFlush, kFlushInput | kFlushOutput},
                         {kNeedsSignedZero, kNoSignedZero},
                         {kNeedsContract, kContract},
                         {kNeedsNoNan, kNoNan},
                         {kNeedsNoInf, kNoInf},
                         {kNeedsRelaxed, 0}};

uint32_t declared_needs(const Profile& declared) {
  uint32_t needs = declared.strict ? 0 : uint32_t{kNeedsRelaxed};
  for (const Row& row : kRows)
    if (declared.numerics & row.numerics) needs |= row.need;
  return needs;
}

/// The declared profile without what is not in `needs`.
Profile profile_of(uint32_t needs, const Profile& declared) {
  Profile profile = declared;
  profile.strict = !(needs & kNeedsRelaxed);
  profile.numerics = 0;
  for (const Row& row : kRows)
    if (needs & row.need) profile.numerics |= declared.numerics & row.numerics;
  return profile;
}

}  // namespace

uint32_t needs_of(const Case& test, const std::vector<Array>& outputs, const Profile& declared) {
  uint32_t needs = declared_needs(declared);
  if (needs == 0) return 0;
  const auto suffices = [&](uint32_t fewer) {
    const Profile profile = profile_of(fewer, declared);
    return !compare(expect(test, profile), outputs, profile).mismatch;
  };
  if (suffices(0)) return 0;
  for (const Row& row : kRows)
    if ((needs & row.need) && suffices(row.need)) return row.need;
  for (const Row& row : kRows)
    if ((needs & row.need) && suffices(needs & ~row.need)) needs &= ~uint32_t{row.need};
  return needs;
}

}  // namespace tenon::conformance::judge
