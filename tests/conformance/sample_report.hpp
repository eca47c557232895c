// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A report with something in each of its fields.
#pragma once

#include <cmath>

#include "conformance/report/report.hpp"

namespace tenon::conformance {

inline Finished finished(const char* op, const char* dtype, Status status, double ulp = 0) {
  return {1, 0, {op, dtype, "contiguous"}, {status, "kind", "a \"text\" <&>", ulp, "1.5"}};
}

inline report::Failure sample_failure() {
  report::Failure f;
  f.name = "7:1";
  f.kind = "mismatch";
  f.op = "add";
  f.dtype = "f32";
  f.layout = "contiguous";
  f.text = "a <b> & \"c\"";
  f.replay = "tenon-conformance replay 7:1 --backend x";
  f.reproducer = "graph g() {\n}\n";
  f.diff = "[0, 1]\t2\t3\t1\n[0, 2]\t4 in [3.5, 4.5]\tnan\tinf";
  f.votes = "cpu: PASS";
  f.transform = "kernel 0, step 2: unroll 1 4";
  f.nodes = 1;
  f.elements = 3;
  f.shrink_seconds = 0.25;
  f.same = 4;
  return f;
}

/// Four cells: add f32 fails, sin f64 is vacuous, sin bf16 unsupported, exp2 f32 passes; one check
/// of calls.
inline report::Report sample_report() {
  report::Report r;
  r.plugin = "/plugins/libtenon_x.so";
  r.backend = "x";
  r.device = "x:0 (a \"device\")";
  r.declaration = "relaxed, flushes subnormal results, deterministic";
  r.properties = R"({"version":"1.2","limits":{"max_bindings":16},"dtypes":[{"dtype":"f32"}]})";
  r.seed = 7;
  r.seconds = 2.5;
  r.jobs = 2;
  r.notes = {"a note"};
  r.digest = 0xfedcba9876543210;
  r.add(finished("add", "f32", Status::kPass, 0.5));
  r.add(finished("add", "f32", Status::kFail, INFINITY));
  r.add(finished("sin", "f64", Status::kVacuous));
  r.add(finished("sin", "bf16", Status::kUnsupported));
  Finished exp2 = finished("exp2", "f32", Status::kPass, 3);
  exp2.outcome.ulps = {{ulp_bucket(-2.5), 1, -2.5, 3}, {ulp_bucket(1e-20), 3, 1e-20, 3}};
  exp2.outcome.needs = kNeedsFlush;
  exp2.reached = {2, 6};
  r.add(exp2);
  r.add(finished("api.short_structs", "-", Status::kPass));
  r.reached.resize(9);
  r.failures.push_back(sample_failure());
  r.first_failure_seconds = 0.5;
  r.environment = {"tool 1", "a processor", "a system", "2026-01-02T03:04:05Z", "tool run"};
  r.gaps = {{{"take", {"f64", "f16"}}}, {{"add", {"exp2"}}}, 12, 11, "00ff", 786, 4};
  r.planned = 29600;
  return r;
}

}  // namespace tenon::conformance
