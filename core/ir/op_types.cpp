// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "core/ir/op_types.hpp"

namespace tenon {

bool takes(OpTypes types, DType dtype) {
  switch (types) {
    case OpTypes::ALL:
      return true;
    case OpTypes::FLOAT:
      return is_float(dtype);
    case OpTypes::INT:
      return is_int(dtype);
    case OpTypes::BITS:
      return is_int(dtype) || dtype == DType::kBool;
    case OpTypes::NUM:
      return is_int(dtype) || is_float(dtype);
  }
  return false;
}

}  // namespace tenon
