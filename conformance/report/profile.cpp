// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares declarations with needs.
#include "conformance/report/profile.hpp"

#include "core/support/error.hpp"

namespace tenon::conformance::report {

const std::vector<Freedom>& freedoms() {
  static const std::vector<Freedom> all = {
      {kNeedsRelaxed, "relaxed", "relaxed", "strict"},
      {kNeedsFlush, "flush", "flushes subnormals", "keeps subnormals"},
      {kNeedsNoNan, "no_nan", "no NaN", "NaN as IEEE 754 has it"},
      {kNeedsNoInf, "no_inf", "no infinity", "infinities as IEEE 754 has them"},
      {kNeedsSignedZero, "no_signed_zero", "no signed zero", "keeps the sign of zero"},
      {kNeedsContract, "contract", "contracts", "rounds each multiply and add"},
  };
  return all;
}

uint32_t declared_freedoms(std::string_view declaration) {
  struct Word {
    std::string_view text;
    Needs bit;
  };
  // The words of DeviceFacts::declaration.
  constexpr Word kWords[] = {{"relaxed", kNeedsRelaxed},
                             {"flushes subnormal", kNeedsFlush},
                             {"no NaN", kNeedsNoNan},
                             {"no infinity", kNeedsNoInf},
                             {"no signed zero", kNeedsSignedZero},
                             {"contracts", kNeedsContract}};
  uint32_t bits = 0;
  for (const Word& word : kWords)
    if (declaration.find(word.text) != declaration.npos) bits |= word.bit;
  return bits;
}

ProfileVerdict judge_profile(const Report& report) {
  ProfileVerdict out;
  out.declared = declared_freedoms(report.declaration);
  out.needed = report.needs;
  if (!of(report.counts, Status::kPass)) return out;
  for (const Freedom& freedom : freedoms()) {
    const bool declared = out.declared & freedom.bit, needed = out.needed & freedom.bit;
    if (declared && !needed)
      out.looser.push_back(freedom.bit == kNeedsRelaxed
                               ? "declares relaxed, met strict"
                               : fmt::format("declares \"{}\", never needed it", freedom.declared));
    if (needed || declared || freedom.bit == kNeedsRelaxed)
      out.proposal += fmt::format("{}{}", out.proposal.empty() ? "" : ", ",
                                  needed ? freedom.declared : freedom.kept);
  }
  return out;
}

}  // namespace tenon::conformance::report
