// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What OpenCL C 1.2 says otherwise than C. A kernel takes two arguments for each BUFFER, the memory
// object and the byte where the buffer begins in it, and one for each SCALAR.
#include <fmt/format.h>

#include "driver.hpp"
#include "sdk/render/c_dialect.hpp"

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

class OpenClDialect : public sdk::CDialect {
 public:
  OpenClDialect() {
    data_.name = "opencl";
    data_.float_suffix = "";  // functions are overloaded
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

  std::string header(const sdk::ProgramView& program) const override {
    std::string params, begin;
    for (uint32_t i = 0; i < program.param_count(); ++i) {
      const tn_param& param = program.param(i);
      if (param.kind == TN_PARAM_ALLOC) continue;
      const std::string_view type = memory_type(static_cast<uint8_t>(param.dtype));
      const std::string name = param_name(program, param);
      if (!params.empty()) params += ", ";
      if (param.kind == TN_PARAM_SCALAR) {
        params += fmt::format("const {} {}", type, name);
        continue;
      }
      const std::string pointer =
          fmt::format("__global {}{}*", param.access & TN_ACCESS_WRITE ? "" : "const ", type);
      params += fmt::format("__global uchar* m{0}, const ulong o{0}", i);
      begin += fmt::format("  {0}{1} const {2} = ({0})(m{3} + o{3});\n", pointer,
                           param.access & TN_ACCESS_NOALIAS ? " restrict" : "", name, i);
    }
    const uint32_t* size = program.header().workgroup;
    return fmt::format(
        "__kernel __attribute__((reqd_work_group_size({}, {}, {}))) void {}({}) {{\n{}", size[0],
        size[1], size[2], function_name(program), params, begin);
  }

  std::string allocation(const sdk::ProgramView& program, const tn_param& param,
                         const sdk::AllocationPlace& place) const override {
    std::string array = sdk::Dialect::allocation(program, param, place);
    array.pop_back();
    return fmt::format("{} __attribute__((aligned({})));", array, param.alignment);
  }
};

}  // namespace

const sdk::Dialect& dialect() {
  static const auto& only = *new OpenClDialect();
  return only;
}

}  // namespace opencl
