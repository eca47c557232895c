// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A loop whose shared tiles have several stages: copies run iterations ahead of what uses them.
#include "core/lower/emitter.hpp"

namespace tenon {

void Emitter::multi_buffered_loop(const Statement& s) {
  const int64_t ahead = ahead_in(s);
  guards_.without_peeling([&] {
    barrier();  // other threads may still read tiles of an earlier run of the loop
    const LoopRange range = s.range.value_or(LoopRange{0, kernel_.axes[s.axis].extent});
    for (int64_t i = 0; i < ahead; ++i) copy_stage(s, exprs_.integer(range.begin + i), range.end);
    positions_.close(s.axis);
    counted(s, range.begin, range.end, s.range.has_value(), [&] {
      // Waits until this iteration's tiles are filled and all threads have left the previous
      // iteration, whose stage is filled next.
      if (has_async_) tree_.effect(TN_OP_ASYNC_WAIT, {}, static_cast<uint64_t>(ahead - 1));
      barrier();
      const Positions::Position here = positions_.at(s.axis);
      if (here.kind == Positions::Position::Kind::kValue) {
        copy_stage(s, ops_.add(here.value, ops_.index_constant(ahead)), range.end);
        positions_.put_value(s.axis, here.value);
      }
      for (const Statement& copy : s.body)
        if (copy.ahead) params_.filled(copy.buffer);
      body(s.body);
    });
  });
}

void Emitter::copy_stage(const Statement& loop, Value position, const Expr& end) {
  const Value extent = exprs_.integer(end);
  const auto fill = [&] {
    for (const Statement& copy : loop.body)
      if (copy.ahead) stage(copy);
  };
  int64_t at = 0, count = 0;
  if (ops_.is_constant(position, at) && ops_.is_constant(extent, count)) {
    positions_.put_constant(loop.axis, at);
    if (at < count) fill();
  } else {
    // Clamped, so that no index exceeds the last iteration's.
    const Value last = ops_.add(extent, ops_.index_constant(-1));
    const Value is_there = ops_.op(TN_OP_CMPLT, DType::kBool, {position, extent});
    positions_.put_value(loop.axis,
                         ops_.op(TN_OP_WHERE, ops_.index_dtype(), {is_there, position, last}));
    branch(is_there, fill);
  }
  if (has_async_) tree_.effect(TN_OP_ASYNC_COMMIT, {});
}

}  // namespace tenon
