// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors and other libraries' arrays, without a copy where that can be: DLPack 1.x
// (https://dmlc.github.io/dlpack), and 0.x. Its header is the caller's: none is needed here.
#pragma once

#include "tenon/context.hpp"
#include "tenon/export.hpp"
#include "tenon/tensor.hpp"

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace tenon {

/// Whether memory is copied: where it has to be, or it is refused there, or always.
enum class Copying { kAllowed, kNever, kAlways };

/// An array of the host as a tensor on the context's default device. The tensor takes `from` over
/// and calls its deleter once, on any thread, when nothing needs the memory any more; what throws
/// leaves it to the caller. The deleter may call Tenon. In a child of fork, and where the process
/// ends first, it is not called. Memory that is shared must not be written while a tensor is made
/// from it: tensors are computed late. It is shared where the device imports memory of the host, as
/// `cpu` does, and the array has no gaps, in any order of its axes; whether the array may be
/// written does not matter. Throws kInvalid for what is no array, and for bools that are neither 0
/// nor 1; kUnsupported for a dtype that Tenon lacks, memory of another kind of device, and where a
/// copy is needed and `kNever` given.
TENON_API Tensor from_dlpack(DLManagedTensorVersioned* from, Context& context = Context::standard(),
                             Copying copying = Copying::kAllowed);
TENON_API Tensor from_dlpack(DLManagedTensor* from, Context& context = Context::standard(),
                             Copying copying = Copying::kAllowed);

/// A tensor as an array of the host, which is the caller's: who takes it over calls the deleter, on
/// any thread. Computes the tensor first if it is lazy. It is the tensor's memory, only to be read,
/// as its flag says, or a copy, which may be written and has that flag. A tensor's memory that is
/// shared is never donated. Throws kUnsupported where `kNever` is given and the host does not see
/// the device's memory, or DLPack lacks the dtype.
TENON_API DLManagedTensorVersioned* to_dlpack(const Tensor& x, Copying copying = Copying::kAllowed);
/// The same for takers of DLPack 0.x. Always a copy, as they may write.
TENON_API DLManagedTensor* to_unversioned_dlpack(const Tensor& x);

}  // namespace tenon
