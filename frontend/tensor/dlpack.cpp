// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/dlpack.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <optional>

#include "core/support/error.hpp"
#include "frontend/tensor/dlpack_abi.hpp"
#include "frontend/tensor/sizes.hpp"
#include "tenon/make.hpp"

namespace tenon {
namespace {

using dlpack::Managed;
using dlpack::Unversioned;

constexpr size_t kCopyAlignment = 64;  ///< bytes

struct DlType {
  DType dtype;
  dlpack::TypeCode code;
};
constexpr std::array kDlTypes{
    DlType{DType::kBool, dlpack::kBool},         DlType{DType::kI8, dlpack::kInt},
    DlType{DType::kI16, dlpack::kInt},           DlType{DType::kI32, dlpack::kInt},
    DlType{DType::kI64, dlpack::kInt},           DlType{DType::kU8, dlpack::kUInt},
    DlType{DType::kU16, dlpack::kUInt},          DlType{DType::kU32, dlpack::kUInt},
    DlType{DType::kU64, dlpack::kUInt},          DlType{DType::kF16, dlpack::kFloat},
    DlType{DType::kBF16, dlpack::kBfloat},       DlType{DType::kF32, dlpack::kFloat},
    DlType{DType::kF64, dlpack::kFloat},         DlType{DType::kF8E4M3, dlpack::kFloat8E4m3fn},
    DlType{DType::kF8E5M2, dlpack::kFloat8E5m2},
};

DType dtype_of(dlpack::DataType type) {
  const auto at = std::ranges::find_if(kDlTypes, [&](const DlType& row) {
    return row.code == type.code && 8 * dtype_size(row.dtype) == type.bits && type.lanes == 1;
  });
  if (at == kDlTypes.end())
    fail(ErrorKind::kUnsupported,
         "[from_dlpack] expected a dtype of Tenon, got the type code {} of {} bits and {} lanes",
         type.code, type.bits, type.lanes);
  return at->dtype;
}

dlpack::DataType type_of(DType dtype) {
  const auto at =
      std::ranges::find_if(kDlTypes, [&](const DlType& row) { return row.dtype == dtype; });
  if (at == kDlTypes.end())
    fail(ErrorKind::kUnsupported, "[to_dlpack] expected a dtype of DLPack, got {}",
         dtype_name(dtype));
  return {at->code, static_cast<uint8_t>(8 * dtype_size(dtype)), 1};
}

std::string device_name(int32_t type) {
  const bool is_known = type > 0 && type < static_cast<int32_t>(std::size(dlpack::kDeviceNames));
  const std::string name = is_known ? dlpack::kDeviceNames[type] : "";
  return name.empty() ? fmt::format("device type {}", type) : name;
}

/// An array of the host, checked.
struct HostArray {
  DType dtype = DType::kVoid;
  std::vector<int64_t> shape, strides;  ///< strides in elements
  int64_t count = 0;
  const std::byte* data = nullptr;

  explicit HostArray(const dlpack::DlTensor& t) : dtype(dtype_of(t.dtype)) {
    if (t.device_type != dlpack::kHost && t.device_type != dlpack::kCudaHost &&
        t.device_type != dlpack::kRocmHost)
      fail(ErrorKind::kUnsupported, "[from_dlpack] expected memory of the host, got that of {}",
           device_name(t.device_type));
    TN_REQUIRE(t.ndim >= 0 && t.ndim <= static_cast<int32_t>(kMaxRank),
               "[from_dlpack] expected a rank of 0 to {}, got {}", kMaxRank, t.ndim);
    TN_REQUIRE(t.ndim == 0 || t.shape, "[from_dlpack] expected a shape, got null");
    shape.assign(t.shape, t.shape + t.ndim);
    count = count_of("from_dlpack", shape);
    TN_REQUIRE(count <= INT64_MAX / static_cast<int64_t>(dtype_size(dtype)),
               "[from_dlpack] expected fewer than 2^63 bytes, got {} elements of {}", count,
               dtype_name(dtype));
    TN_REQUIRE(t.data || count == 0, "[from_dlpack] expected data, got null for {} elements",
               count);
    if (t.data) data = static_cast<const std::byte*>(t.data) + t.byte_offset;
    if (t.strides) {
      strides.assign(t.strides, t.strides + t.ndim);
    } else {
      strides = row_major(shape);
    }
  }

  static std::vector<int64_t> row_major(const std::vector<int64_t>& shape) {
    std::vector<int64_t> out(shape.size());
    int64_t step = 1;
    for (size_t axis = shape.size(); axis-- > 0;) {
      out[axis] = step;
      step *= std::max<int64_t>(shape[axis], 1);
    }
    return out;
  }

  uint64_t bytes() const { return static_cast<uint64_t>(count) * dtype_size(dtype); }

  /// The axes from that of the largest stride on, if the elements lie without gaps in their order.
  std::optional<std::vector<int>> dense_order() const {
    std::vector<int> order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    const auto at = [](const std::vector<int64_t>& of, int axis) {
      return of[static_cast<size_t>(axis)];
    };
    std::ranges::stable_sort(order, [&](int a, int b) {
      const bool a_is_one = at(shape, a) == 1, b_is_one = at(shape, b) == 1;
      if (a_is_one || b_is_one) return a_is_one && !b_is_one;  // its stride says nothing
      return at(strides, a) > at(strides, b);
    });
    int64_t step = 1;
    for (size_t i = order.size(); i-- > 0;) {
      if (at(shape, order[i]) == 1) continue;
      if (at(strides, order[i]) != step) return std::nullopt;
      step *= at(shape, order[i]);
    }
    return order;
  }

  /// All elements, row-major.
  std::vector<std::byte> gathered() const {
    const size_t size = dtype_size(dtype);
    std::vector<std::byte> out(bytes());
    std::vector<int64_t> index(shape.size());
    const std::byte* from = data;
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(out.data() + static_cast<size_t>(i) * size, from, size);
      for (size_t axis = shape.size(); axis-- > 0;) {
        const int64_t step = strides[axis] * static_cast<int64_t>(size);
        if (++index[axis] < shape[axis]) {
          from += step;
          break;
        }
        from -= step * (shape[axis] - 1);
        index[axis] = 0;
      }
    }
    return out;
  }
};

template <class M>
void release(M* managed) {
  if (managed->deleter) managed->deleter(managed);
}

/// An array that a buffer holds. It is the caller's until `managed` is set.
template <class M>
struct Taken {
  M* managed = nullptr;
  Taken() = default;
  ~Taken() {
    if (managed) release(managed);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;
};

/// The array's memory, or null where the device does not take it.
BufferRef import_array(const HostArray& array, Device& device, std::shared_ptr<void> owner) {
  const auto size = static_cast<int64_t>(dtype_size(array.dtype));
  if (size < device.capabilities().storage_bytes) return nullptr;  // it would bind whole words
  if (reinterpret_cast<uintptr_t>(array.data) % static_cast<uint64_t>(size) != 0) return nullptr;
  return device.import_host(array.data, array.bytes(), std::move(owner));
}

/// A tensor that is an imported buffer, its axes in the array's order.
Tensor imported(BufferRef buffer, const HostArray& array, const std::vector<int>& order,
                Context& context) {
  if (array.dtype == DType::kBool) check_bools("from_dlpack", std::span(array.data, array.bytes()));
  std::vector<int64_t> shape;
  std::vector<int> back(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    shape.push_back(array.shape[static_cast<size_t>(order[i])]);
    back[static_cast<size_t>(order[i])] = static_cast<int>(i);
  }
  const Tensor dense =
      make_tensor(context, buffer_node(context, std::move(buffer), array.dtype, to_shape(shape)));
  return std::ranges::is_sorted(back) ? dense : dense.transpose(back);
}

template <class M>
Tensor take(M* managed, Context& context, Copying copying) {
  const HostArray array(managed->tensor);
  const std::optional<std::vector<int>> order = array.dense_order();
  if (copying != Copying::kAlways && array.count > 0 && order) {
    const auto taken = std::make_shared<Taken<M>>();
    if (BufferRef buffer = import_array(array, runtime_of(context).device(), taken)) {
      Tensor out = imported(std::move(buffer), array, *order, context);
      taken->managed = managed;  // last: nothing throws any more
      return out;
    }
  }
  if (copying == Copying::kNever && array.count > 0)
    fail(ErrorKind::kUnsupported,
         "[from_dlpack] expected an array that {} takes without a copy, got {}",
         runtime_of(context).device().id(),
         order ? "one that it does not import" : "one with gaps between its elements");
  std::vector<std::byte> gathered;
  std::span<const std::byte> bytes(array.data, array.bytes());
  if (!order || !std::ranges::is_sorted(*order)) bytes = gathered = array.gathered();
  if (array.dtype == DType::kBool) check_bools("from_dlpack", bytes);
  Tensor out = tensor(bytes, array.dtype, array.shape, context);
  release(managed);
  return out;
}

struct FreeCopy {
  void operator()(std::byte* data) const {
    ::operator delete(data, std::align_val_t(kCopyAlignment));
  }
};

/// What an export keeps: a copy, or the tensor's memory. Then also the node: what somebody else
/// holds is not donated.
template <class M>
struct Exported {
  M managed{};
  NodeRef node;
  BufferRef buffer;
  std::unique_ptr<std::byte, FreeCopy> copy;
  std::vector<int64_t> shape, strides;
};

/// Without what is a version's own.
template <class M>
std::unique_ptr<Exported<M>> make_export(const Tensor& x, Copying copying) {
  const dlpack::DataType type = type_of(x.dtype());
  realize_for("to_dlpack", {x});
  auto out = std::make_unique<Exported<M>>();
  out->node = node_of(x);
  out->buffer = buffer_of(*out->node);
  out->shape = shape_of_value(x);
  out->strides = HostArray::row_major(out->shape);
  Device& device = out->buffer->device();
  const uint64_t size = out->buffer->size();
  const void* data = copying == Copying::kAlways ? nullptr : device.host_pointer(*out->buffer);
  const bool is_copied = copying == Copying::kAlways || (!data && size > 0);
  if (is_copied) {
    if (copying == Copying::kNever)
      fail(ErrorKind::kUnsupported,
           "[to_dlpack] expected a tensor in memory that the host sees, got one on {}, which is to "
           "be copied",
           device.id());
    out->copy.reset(
        static_cast<std::byte*>(::operator new(size, std::align_val_t(kCopyAlignment))));
    if (size > 0) device.read(*out->buffer, 0, out->copy.get(), size);
    out->node = nullptr;
    out->buffer = nullptr;
    data = out->copy.get();
  }
  out->managed.manager_ctx = out.get();
  out->managed.deleter = [](M* self) { delete static_cast<Exported<M>*>(self->manager_ctx); };
  out->managed.tensor = {const_cast<void*>(data),
                         dlpack::kHost,
                         0,
                         static_cast<int32_t>(out->shape.size()),
                         type,
                         out->shape.data(),
                         out->strides.data(),
                         0};
  return out;
}

}  // namespace

Tensor from_dlpack(DLManagedTensorVersioned* from, Context& context, Copying copying) {
  TN_REQUIRE(from != nullptr, "[from_dlpack] expected an array, got null");
  auto* const managed = reinterpret_cast<Managed*>(from);
  TN_REQUIRE(managed->major == dlpack::kMajor, "[from_dlpack] expected DLPack {}, got {}.{}",
             dlpack::kMajor, managed->major, managed->minor);
  return take(managed, context, copying);
}

Tensor from_dlpack(DLManagedTensor* from, Context& context, Copying copying) {
  TN_REQUIRE(from != nullptr, "[from_dlpack] expected an array, got null");
  return take(reinterpret_cast<Unversioned*>(from), context, copying);
}

DLManagedTensorVersioned* to_dlpack(const Tensor& x, Copying copying) {
  auto out = make_export<Managed>(x, copying);
  out->managed.major = dlpack::kMajor;
  out->managed.minor = dlpack::kMinor;
  out->managed.flags = out->buffer ? dlpack::kReadOnly : dlpack::kIsCopied;
  return reinterpret_cast<DLManagedTensorVersioned*>(&out.release()->managed);
}

DLManagedTensor* to_unversioned_dlpack(const Tensor& x) {
  return reinterpret_cast<DLManagedTensor*>(
      &make_export<Unversioned>(x, Copying::kAlways).release()->managed);
}

}  // namespace tenon
