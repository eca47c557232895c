// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The rule families, one a file.
#pragma once

#include "core/ir/capabilities.hpp"
#include "core/rewrite/driver.hpp"

namespace tenon::rewrite {

// These keep the bits of every result, except NaN payloads.
Rules fold_rules();       ///< ops on constants, by ir/scalar_op.hpp
Rules algebra_rules();    ///< identities of IEEE floats, wrapping integers and bools
Rules cast_rules();       ///< casts that change nothing, casts of lossless casts
Rules movement_rules();   ///< views of views, views of constants, views that move nothing
Rules reduce_rules();     ///< reductions over nothing, of reductions; TAKE of every element
Rules one_place_rules();  ///< STORE, TAKE and sums at one index of an axis

// By a rule of docs/ir.md that allows it.
Rules product_rules();  ///< sums of products that were rounded

// For one device.
Rules bool_rules();                                       ///< arithmetic on bool as logic
Rules decompose_rules(const Capabilities& capabilities);  ///< exact ones
Rules decompose_transcendental_rules(const Capabilities& capabilities);  ///< FDIV EXP LN COS
Rules widen_rules(const Capabilities& capabilities);  ///< dtypes without arithmetic
/// -x of a float by flipping its sign bit, also of NaN. Null if the device does not keep bits of
/// NaN, or has no integers of that size.
NodeRef flip_sign(const NodeRef& x, Builder& builder, const Capabilities& capabilities);
Rules shorten_rules();  ///< 64-bit integers that fit 32

}  // namespace tenon::rewrite
