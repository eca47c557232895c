// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Draws sequences: short scenes that bugs of queues, caches and pools are known to need, between
// steps at random.
#include <algorithm>
#include <string_view>

#include "conformance/cases/abi/sequence.hpp"
#include "conformance/cases/dtype_pool.hpp"
#include "tenon/program.h"

namespace tenon::conformance::abi {
namespace {

constexpr int64_t kSizes[] = {256, 64, 4096, 1000, 4, 65536, 12, 777, 1 << 20, 3};
constexpr int64_t kOffsets[] = {0, 256, 4, 512, 8, 1, 60, 3, 1024, 13};
constexpr int64_t kWidths[] = {4, 1, 2, 8};
constexpr int64_t kPatterns[] = {0x3f800000, 1, 0, 0x7f7f7f7f, 0x0123456789abcdef, -1, 0x40490fdb};
constexpr int64_t kConstants[] = {0, 1, 2, 3, -1, 7, 100, 64, -5};
constexpr int64_t kThreads[] = {1, 1, 4, 32, 64, 7, 128};
constexpr int64_t kCounts[] = {16, 1, 64, 3, 0, 257, 1024, 5000, 65536};
constexpr int64_t kStarts[] = {0, 1, 100, int64_t{1} << 32, int64_t{1} << 52};
/// i32, u32 and f32 are nearly everywhere; narrow floats nearly nowhere.
const std::vector<DType>& computed_dtypes() {
  using enum DType;
  static const auto pool = dtype_pool({kI32, kF32, kU32, kI32, kF32, kU32}, [](DType dtype) {
    return is_int(dtype) || (is_float(dtype) && dtype_size(dtype) >= 4);
  });
  return pool;
}

struct Compiled {
  int64_t kind = 0, dtype = TN_DTYPE_I32, constant = 0, threads = 1, swapped = 0, name = 0;
};

class Drawer {
 public:
  explicit Drawer(Choices& choices) : choices_(choices) {}

  Sequence draw() {
    using Scene = void (Drawer::*)();
    // The plainest first; repeated where more of it finds more.
    static constexpr Scene kScenes[] = {
        &Drawer::fill,        &Drawer::read,        &Drawer::launch,     &Drawer::copy,
        &Drawer::submit,      &Drawer::compile,     &Drawer::write,      &Drawer::launch,
        &Drawer::twins,       &Drawer::hazard,      &Drawer::allocate,   &Drawer::free_again,
        &Drawer::gate,        &Drawer::launch,      &Drawer::chain,      &Drawer::fill,
        &Drawer::map,         &Drawer::reload,      &Drawer::copy,       &Drawer::read,
        &Drawer::await,       &Drawer::destroy,     &Drawer::import,     &Drawer::timeline,
        &Drawer::open_device, &Drawer::race_submit, &Drawer::race_waits, &Drawer::race_compile,
        &Drawer::large,
    };
    for (int64_t m = 0; m < 2; ++m) {
      const Choices::Scope scope(choices_, Part::kNode);
      step("allocate", {m, 0, 0, choices_.pick(kSizes)});
    }
    const int64_t scenes = choices_.between(2, 12);
    for (int64_t i = 0; i < scenes; ++i) {
      const Choices::Scope scope(choices_, Part::kNode);
      (this->*choices_.pick(kScenes))();
    }
    const Choices::Scope scope(choices_, Part::kNode);
    for (int64_t m = 0; m < 4; ++m) step("read", {m, 0, 0});
    if (choices_.chance(50)) step("end", {choices_.between(1, 1000)});
    return std::move(out_);
  }

 private:
  void step(std::string verb, std::vector<int64_t> numbers) {
    out_.steps.push_back({std::move(verb), std::move(numbers)});
  }
  int64_t slab() { return choices_.chance(90) ? other_slab(4) : other_slab(kSlabSlots); }
  int64_t other_slab(int64_t below) { return choices_.between(0, below - 1); }
  int64_t offset() { return choices_.pick(kOffsets); }
  int64_t size() { return choices_.pick(kSizes); }
  int64_t queue() { return choices_.chance(60) ? 0 : choices_.between(0, 3); }
  int64_t device() { return choices_.chance(85) ? 0 : choices_.between(0, kDeviceSlots - 1); }
  int64_t executable() { return choices_.between(0, kExecutableSlots - 1); }

  void allocate() { step("allocate", {slab(), device(), choices_.between(0, 3), size()}); }
  void import() { step("import", {slab(), device(), size()}); }
  void fill() {
    step("fill", {slab(), offset(), size(), choices_.pick(kWidths), choices_.pick(kPatterns)});
  }
  void read() { step("read", {slab(), choices_.chance(70) ? 0 : offset(), 0}); }
  void write() { step("write", {slab(), offset(), size(), choices_.between(0, 1 << 20)}); }
  void copy() {
    const int64_t to = slab();
    step("copy",
         {to, offset(), choices_.chance(80) ? (to + 1) % kSlabSlots : slab(), offset(), size()});
  }
  void await() { step("await", {}); }
  void timeline() {
    step("timeline", {choices_.between(0, kTimelineSlots - 1), device(), choices_.pick(kStarts)});
  }
  void open_device() { step("device", {choices_.between(1, 2), choices_.between(0, 3)}); }
  void large() {
    // A slab of 4 GiB is touched only now and then.
    if (choices_.chance(3)) return step("huge", {0});
    if (!choices_.chance(35)) return fill();
    const int64_t m = slab(), other = (m + 1) % 4;
    for (const int64_t big : {m, other}) {
      step("free", {big});
      step("allocate", {big, 0, 0, int64_t{1} << 22});
    }
    fill_whole(m);
    step("copy", {other, 0, m, 0, int64_t{1} << 22});
    step("submit", {queue(), 0, 0, 0});
    step("read", {other, 0, 0});
  }

  void submit() {
    step("submit", {queue(), choices_.between(0, kTimelineSlots - 1), choices_.chance(15) ? 1 : 0,
                    choices_.between(0, 2)});
  }

  int64_t any_dtype() { return static_cast<int64_t>(choices_.pick(computed_dtypes())); }
  Compiled program() {
    Compiled c;
    c.kind = choices_.between(0, static_cast<int64_t>(program_kinds().size()) - 1);
    c.dtype = any_dtype();
    c.constant = choices_.pick(kConstants);
    c.threads = choices_.pick(kThreads);
    return c;
  }
  void compile(int64_t slot, const Compiled& c) {
    step("compile." + program_kinds()[static_cast<size_t>(c.kind)],
         {slot, 0, c.dtype, c.constant, c.threads, c.swapped, c.name});
  }
  void compile() {
    const int64_t slot = executable();
    compile(slot, program());
    launch(slot);
  }
  void launch(int64_t slot) {
    const int64_t to = slab();
    step("launch", {slot, to, offset(), (to + 1) % 4, offset(), choices_.pick(kCounts),
                    choices_.pick(kConstants)});
  }
  void launch() { launch(executable()); }
  void destroy() { step("destroy", {executable()}); }
  void reload() {
    const int64_t slot = executable();
    step("reload", {slot});
    launch(slot);
    if (choices_.chance(30)) step("damage", {slot, choices_.between(0, 1 << 16)});
  }

  int64_t kind(std::string_view name) const {
    return std::ranges::find(program_kinds(), name) - program_kinds().begin();
  }

  /// Two programs that differ in one thing, which shows in what they make of the same input.
  void twins() {
    static const std::string_view kSigned[] = {"max", "less", "divide"};
    static const std::string_view kAny[] = {"add", "constant", "max", "mul"};
    static const std::string_view kZeros[] = {"constant", "mul", "add"};
    Compiled first = program(), second;
    switch (choices_.between(0, 6)) {
      case 0:  // the sign of the same bits
        first.kind = kind(choices_.pick(kSigned));
        first.dtype = TN_DTYPE_I32;
        second = first;
        second.dtype = TN_DTYPE_U32;
        break;
      case 1:  // a dtype of the same size, with a constant of the same bits
        first.kind = kind(choices_.pick(kAny));
        first.dtype = choices_.chance(50) ? TN_DTYPE_U32 : TN_DTYPE_I32;
        first.constant = 0;
        second = first;
        second.dtype = TN_DTYPE_F32;
        break;
      case 2:  // both zeros
        first.kind = kind(choices_.pick(kZeros));
        first.dtype = TN_DTYPE_F32;
        first.constant = 0;
        second = first;
        second.constant = -1;
        break;
      case 3:
        second = first;
        second.constant = first.constant + 1;
        break;
      case 4:
        first.kind = kind(kSigned[choices_.between(1, 2)]);
        second = first;
        second.swapped = 1;
        break;
      case 5:
        second = first;
        second.name = 1;
        break;
      default:
        second = first;
        second.threads = first.threads == 1 ? 2 : 1;
        break;
    }
    if (choices_.chance(50)) std::swap(first, second);
    const int64_t slot = executable(), other = (slot + 1) % kExecutableSlots;
    const int64_t m = slab() % 4, from = (m + 1) % 4;
    for (const int64_t used : {m, from}) step("allocate", {used, 0, 0, 4096});
    step("write", {from, 0, 4096, choices_.between(0, 1 << 20)});
    compile(slot, first);
    compile(other, second);
    const int64_t count = choices_.pick(kCounts);
    for (const int64_t e : {slot, other}) {
      step("launch", {e, m, 0, from, 0, count, 1});
      step("read", {m, 0, 0});
    }
  }

  /// Work that another queue must not overtake: read after write, write after read.
  void hazard() {
    const int64_t a = slab(), b = (a + 1) % 4;
    const bool write_first = choices_.chance(40);
    if (write_first) {
      fill_whole(a);
      step("submit", {0, 0, 1, 0});
      step("copy", {b, 0, a, 0, 1 << 20});
      step("submit", {1, 1, 0, 0});
    } else {
      fill_whole(a);
      step("submit", {0, 0, 0, 0});
      step("copy", {b, 0, a, 0, 1 << 20});
      step("submit", {0, 0, 1, 0});
      fill_whole(a);
      step("submit", {1, 1, 0, 0});
    }
    if (choices_.chance(50)) step("peek", {choices_.between(0, 2000)});
    step("raise", {});
    step("read", {b, 0, 0});
    step("read", {a, 0, 0});
  }
  void fill_whole(int64_t m) {
    step("fill", {m, 0, int64_t{1} << 24, 4, choices_.pick(kPatterns)});
  }

  /// Nothing may be reached before the host says so.
  void gate() {
    fill();
    step("submit", {queue(), choices_.between(0, kTimelineSlots - 1), 1, choices_.between(0, 2)});
    step("peek", {choices_.between(0, 2000)});
    if (choices_.chance(50)) step("raise", {});
  }

  /// Each command reads what the one before it wrote.
  void chain() {
    const int64_t a = slab(), links = choices_.between(2, 6);
    Compiled c = program();
    c.kind = 0;
    const int64_t slot = executable();
    compile(slot, c);
    for (int64_t i = 0; i < links; ++i) {
      step("launch", {slot, (a + i + 1) % 4, 0, (a + i) % 4, 0, choices_.pick(kCounts), 1});
      if (choices_.chance(40)) submit();
    }
  }

  void free_again() {
    const int64_t m = slab();
    step("free", {m});
    step("allocate", {m, device(), 0, size()});
    if (choices_.chance(50)) fill_whole(m);
  }

  void map() {
    const int64_t m = slab();
    step("map", {m, offset(), size()});
    const Choices::Scope scope(choices_, Part::kNode);
    if (choices_.chance(50)) step("fill", {(m + 1) % 4, 0, size(), 4, choices_.pick(kPatterns)});
    if (choices_.chance(50)) step("write", {m, offset(), size(), 5});
    step("unmap", {m});
  }

  void race_submit() {
    step("race.submit", {device(), choices_.between(2, 4), choices_.between(1, 4)});
  }
  void race_waits() { step("race.wait", {device()}); }
  void race_compile() {
    step("race.compile",
         {device(), any_dtype(), choices_.pick(kConstants), choices_.between(2, 4)});
  }

  Choices& choices_;
  Sequence out_;
};

}  // namespace

const std::vector<std::string>& program_kinds() {
  static const std::vector<std::string> names = {
      "add", "mul",    "max",    "less", "constant", "accumulate", "reverse",
      "sum", "shared", "scalar", "grid", "shifted",  "divide"};
  return names;
}

Sequence draw_sequence(Choices& choices) { return Drawer(choices).draw(); }

}  // namespace tenon::conformance::abi
