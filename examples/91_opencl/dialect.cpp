// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What OpenCL C 1.2 says otherwise than C.
#include <fmt/format.h>

#include "driver.hpp"
#include "sdk/render/kernel_dialect.hpp"

namespace opencl {
namespace {

constexpr std::string_view kBegin = R"(#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
typedef char int8_t; typedef short int16_t; typedef int int32_t; typedef long int64_t;
typedef uchar uint8_t; typedef ushort uint16_t; typedef uint uint32_t; typedef ulong uint64_t;
#define INT64_C(x) x##l
#define UINT64_C(x) x##ul
#define nearbyint rint
#define tn_bits_f32 as_float
#define tn_bits_f64 as_double
#define tn_bits_of_f32 as_uint
#define tn_bits_of_f64 as_ulong
)";

class OpenClDialect : public sdk::KernelDialect {
 public:
  OpenClDialect() {
    data_.name = "opencl";
    data_.float_suffix = "";  // functions are overloaded
    data_.pointer_space[TN_SPACE_GLOBAL] = "__global ";
    data_.array_space[TN_SPACE_SHARED] = "__local ";
    constexpr std::string_view kIndex[] = {"(uint)get_group_id(0)", "(uint)get_group_id(1)",
                                           "(uint)get_group_id(2)", "(uint)get_local_id(0)",
                                           "(uint)get_local_id(1)", "(uint)get_local_id(2)"};
    for (int axis = 0; axis < 6; ++axis) data_.index[axis] = kIndex[axis];
    data_.index[TN_AXIS_CPU_THREAD] = {};
    data_.barrier[TN_SCOPE_BLOCK] = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);";
  }

  std::string prelude(const sdk::ProgramView&, std::string_view) const override {
    return std::string(kBegin).append(sdk::c_helpers());
  }

  /// PoCL 3.1's exp overflows a little early (docs/found).
  std::string spell(uint16_t op, uint8_t dtype,
                    std::span<const std::string> operands) const override {
    if (op != TN_OP_EXP || dtype != TN_DTYPE_F64) return KernelDialect::spell(op, dtype, operands);
    return fmt::format("({0} > 709.0 ? exp({0} - 1.0) * M_E : exp({0}))", operands[0]);
  }
  /// PoCL 3.1 aborts where work-items store to memory of their own in a branch after a barrier
  /// (docs/found), so they store in any case: what is there, if not the value.
  std::string masked_store(const sdk::Element& at, const std::string& mask,
                           const std::string& value, const tn_op& op) const override {
    if (at.param.space != TN_SPACE_SCRATCH) return KernelDialect::masked_store(at, mask, value, op);
    sdk::Element there = at;
    there.index = fmt::format("({} ? {} : 0)", mask, at.index);
    return store(there, fmt::format("({} ? {} : {})", mask, value, load(there, op)), op);
  }

 protected:
  std::string opening(const sdk::ProgramView& program) const override {
    const uint32_t* size = program.header().workgroup;
    return fmt::format("__kernel __attribute__((reqd_work_group_size({}, {}, {}))) void", size[0],
                       size[1], size[2]);
  }
};

}  // namespace

const sdk::Dialect& dialect() {
  static const auto& only = *new OpenClDialect();
  return only;
}

}  // namespace opencl
