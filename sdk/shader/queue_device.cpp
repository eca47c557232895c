// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Commands wait until their waits are reached, then they are enqueued one after another.
#include "sdk/shader/queue_device.hpp"

#include <functional>
#include <vector>

namespace tenon::sdk {

class QueueDevice::Commands : public Recorder {
 public:
  explicit Commands(QueueDevice& device) : Recorder(device), device_(device) {}
  void enqueue() const {
    for (const std::function<void()>& command : commands_) command();
  }

 private:
  struct QueuedLaunch {
    std::vector<Range> buffers;
    std::vector<std::byte> scalars;
    uint32_t grid[3];
  };

  void begin(uint32_t, uint32_t) override {
    commands_.clear();
    bytes_.clear();
  }
  void end() override {}

  void dispatch(const Recorder::Launch& launch) override {
    QueuedLaunch queued{{launch.buffers.begin(), launch.buffers.end()},
                        {launch.scalars.begin(), launch.scalars.end()},
                        {launch.grid[0], launch.grid[1], launch.grid[2]}};
    commands_.emplace_back([this, &code = launch.executable, queued = std::move(queued)] {
      std::vector<Argument> arguments;
      auto buffer = queued.buffers.begin();
      for (const ShaderBindings::Slot& slot : code.bindings().slots()) {
        if (slot.bytes) {
          arguments.push_back({{}, std::span(queued.scalars).subspan(slot.offset, slot.width)});
        } else {
          arguments.push_back({*buffer++, {}});
        }
      }
      device_.launch({code, arguments, queued.grid});
    });
  }
  void copy(const Range& to, const Range& from) override {
    commands_.emplace_back([this, to, from] { device_.copy(to, from); });
  }
  void fill_words(const Range& to, uint32_t word) override {
    commands_.emplace_back([this, to, word] { device_.fill_words(to, word); });
  }
  void write(const Range& to, const std::byte* from) override {
    const auto& bytes = bytes_.emplace_back(from, from + to.size);
    commands_.emplace_back([this, to, &bytes] { device_.write(to, bytes); });
  }

  QueueDevice& device_;
  std::vector<std::function<void()>> commands_;
  std::deque<std::vector<std::byte>> bytes_;
};

std::unique_ptr<Recorder> QueueDevice::make_recorder() { return std::make_unique<Commands>(*this); }

void QueueDevice::hand_over(Recorder& recorder, uint64_t number, uint64_t) {
  std::shared_ptr<Mark> end;
  try {
    static_cast<Commands&>(recorder).enqueue();
    end = mark();
  } catch (...) {
    drain();  // no one may free what it uses before its end
    throw;
  }
  const std::lock_guard lock(mutex_);
  running_.push_back({number, std::move(end)});
}

uint64_t QueueDevice::last_ended() {
  const std::lock_guard lock(mutex_);
  try {
    for (; !running_.empty() && running_.front().mark->is_reached(); running_.pop_front())
      ended_ = running_.front().number;
  } catch (...) {
    lose();
    throw;
  }
  return ended_;
}

void QueueDevice::wait_for(uint64_t number) {
  std::shared_ptr<Mark> mark;
  {
    const std::lock_guard lock(mutex_);
    for (const Running& each : running_)
      if (each.number == number) mark = each.mark;
  }
  if (mark) mark->wait();
}

}  // namespace tenon::sdk
