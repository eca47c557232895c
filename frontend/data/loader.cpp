// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tenon/data/loader.hpp"

#include "tenon/make.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "core/support/error.hpp"
#include "frontend/data/batch.hpp"

namespace tenon::data {
namespace {

using Clock = std::chrono::steady_clock;
using Order = std::shared_ptr<const std::vector<int64_t>>;

constexpr uint64_t kOrder = ~uint64_t{0};  ///< the index of the draws that no example has

void check(const Dataset& dataset, const LoaderOptions& options) {
  TN_REQUIRE(dataset.size > 0 && dataset.get, "[loader] expected a dataset with examples, got {}",
             dataset.size);
  TN_REQUIRE(options.batch > 0, "[loader] expected a batch of at least 1, got {}", options.batch);
  TN_REQUIRE(!options.drop_last || options.batch <= dataset.size,
             "[loader] expected a batch of at most the {} examples there are, got {}", dataset.size,
             options.batch);
  TN_REQUIRE(1 <= options.threads && options.threads <= 1024 && options.prefetch >= 1,
             "[loader] expected 1 to 1024 threads and at least 1 batch ahead, got {} and {}",
             options.threads, options.prefetch);
}

}  // namespace

std::vector<int64_t> shuffled(int64_t size, uint64_t seed, uint64_t epoch) {
  std::vector<int64_t> order(static_cast<size_t>(std::max<int64_t>(size, 0)));
  std::iota(order.begin(), order.end(), int64_t{0});
  Draws draws(seed, epoch, kOrder);
  for (size_t i = order.size(); i > 1; --i)  // Fisher and Yates, by Durstenfeld, 1964
    std::swap(order[i - 1], order[static_cast<size_t>(draws.below(static_cast<int64_t>(i)))]);
  return order;
}

/// Batches are numbered through all epochs. Of those from `next` on, `prefetch` have a slot; a
/// worker takes the lowest that nobody took.
struct Loader::State {
  const pid_t process = getpid();  ///< which has the threads

  State(Dataset data, const LoaderOptions& how, Context& where)
      : dataset(std::move(data)), options(how), context(where) {
    check(dataset, options);
    batches =
        options.drop_last ? dataset.size / options.batch : (dataset.size - 1) / options.batch + 1;
  }

  struct Slot {
    bool is_ready = false;
    std::vector<Tensor> tensors;
    std::exception_ptr error;
  };

  void work();
  Slot make(int64_t number);
  void deliver(int64_t number, Slot slot);  ///< with the mutex
  Order order_of(int64_t epoch);
  std::exception_ptr no_memory() const;
  bool stopped() {
    const std::lock_guard lock(mutex);
    return stop;
  }

  const Dataset dataset;
  const LoaderOptions options;
  Context& context;
  int64_t batches = 0;

  std::mutex mutex;  ///< of what follows
  std::condition_variable room, ready;
  bool stop = false;
  int64_t next = 0, taken = 0;  ///< to give, to make
  std::deque<Slot> slots;       ///< of `next` and those after it
  Clock::duration waited{};

  std::mutex order_mutex;
  std::deque<std::pair<int64_t, Order>> orders;  ///< of the last two epochs that were begun

  std::vector<std::thread> threads;
};

Order Loader::State::order_of(int64_t epoch) {
  const std::lock_guard lock(order_mutex);
  for (const auto& [of, order] : orders)
    if (of == epoch) return order;
  std::vector<int64_t> order;
  if (options.shuffle) {
    order = shuffled(dataset.size, options.seed, static_cast<uint64_t>(epoch));
  } else {
    order.resize(static_cast<size_t>(dataset.size));
    std::iota(order.begin(), order.end(), int64_t{0});
  }
  orders.emplace_back(epoch, std::make_shared<const std::vector<int64_t>>(std::move(order)));
  if (orders.size() > 2) orders.pop_front();
  return orders.back().second;
}

/// For the order, or for the batch.
std::exception_ptr Loader::State::no_memory() const {
  return std::make_exception_ptr(
      Error(ErrorKind::kOutOfMemory,
            fmt::format("[loader] expected memory for batches of {} of {} examples, got none",
                        options.batch, dataset.size)));
}

Loader::State::Slot Loader::State::make(int64_t number) {
  Slot slot{.is_ready = true, .tensors = {}, .error = nullptr};
  try {
    const int64_t epoch = number / batches, begin = number % batches * options.batch;
    const Order order = order_of(epoch);
    const auto count = static_cast<size_t>(std::min(options.batch, dataset.size - begin));
    const auto indices = std::span(*order).subspan(static_cast<size_t>(begin), count);
    for (const Array& array :
         make_batch(dataset, indices, options.seed, static_cast<uint64_t>(epoch),
                    [this] { return stopped(); }))
      slot.tensors.push_back(tensor(array, context));
  } catch (const std::bad_alloc&) {
    slot.error = no_memory();
  } catch (const std::length_error&) {
    slot.error = no_memory();
  } catch (...) {
    slot.error = std::current_exception();
    if (!slot.error) throw;  // not an exception of C++: the thread ends
  }
  return slot;
}

void Loader::State::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    room.wait(lock, [this] { return stop || taken < next + options.prefetch; });
    if (stop) return;
    const int64_t number = taken++;
    slots.emplace_back();
    lock.unlock();
    try {
      Slot slot = make(number);
      lock.lock();
      deliver(number, std::move(slot));
    } catch (...) {  // an example ended its thread: whoever waits is told
      lock.lock();
      deliver(
          number,
          {true,
           {},
           std::make_exception_ptr(Error(
               ErrorKind::kInvalid, "[loader] expected an example, got the end of its thread"))});
      throw;
    }
  }
}

void Loader::State::deliver(int64_t number, Slot slot) {
  slots[static_cast<size_t>(number - next)] = std::move(slot);
  ready.notify_one();
}

Loader::Loader(Dataset dataset, const LoaderOptions& options, Context& context, Position begin)
    : state_(std::make_unique<State>(std::move(dataset), options, context)) {
  State& state = *state_;
  state.next = state.taken = number_of(state, begin);
  begin_threads(state);
}

int64_t Loader::number_of(const State& state, Position begin) {
  int64_t number = 0;
  TN_REQUIRE(begin.epoch >= 0 && 0 <= begin.batch && begin.batch < state.batches &&
                 !__builtin_mul_overflow(begin.epoch, state.batches, &number) &&
                 number < int64_t{1} << 62,
             "[loader] expected a position with a batch in [0, {}), got epoch {}, batch {}",
             state.batches, begin.epoch, begin.batch);
  return number + begin.batch;
}

void Loader::begin_threads(State& state) {
  try {
    for (int i = 0; i < state.options.threads; ++i)
      state.threads.emplace_back([&state] { state.work(); });
  } catch (const std::system_error& error) {
    end_threads(state);
    fail(ErrorKind::kEnvironment, "[loader] expected {} threads, got: {}", state.options.threads,
         error.what());
  }
}

Loader::~Loader() {
  if (getpid() == state_->process)
    end_threads(*state_);
  else
    (void)state_.release();  // of threads that a child does not have, and what they lock
}

Loader::State& Loader::here() const {
  TN_REQUIRE(getpid() == state_->process,
             "[loader] expected a loader made in this process, got one of process {}; make a new "
             "one after fork",
             state_->process);
  return *state_;
}

void Loader::end_threads(State& state) {
  {
    const std::lock_guard lock(state.mutex);
    state.stop = true;
  }
  state.room.notify_all();
  for (std::thread& thread : state.threads) thread.join();
  state.threads.clear();
}

void Loader::seek(Position to) {
  State& state = here();
  const int64_t number = number_of(state, to);
  end_threads(state);
  state.slots.clear();
  state.next = state.taken = number;
  state.stop = false;
  begin_threads(state);
}

int64_t Loader::batches() const { return state_->batches; }

Position Loader::position() const {
  State& state = here();
  const std::lock_guard lock(state.mutex);
  return {state.next / state.batches, state.next % state.batches};
}

std::vector<Tensor> Loader::next() {
  State& state = here();
  std::unique_lock lock(state.mutex);
  TN_REQUIRE(!state.stop, "[loader] expected a loader with threads, got one whose seek failed");
  const auto is_ready = [&] { return !state.slots.empty() && state.slots.front().is_ready; };
  if (!is_ready()) {
    const Clock::time_point begin = Clock::now();
    state.ready.wait(lock, is_ready);
    state.waited += Clock::now() - begin;
  }
  if (state.slots.front().error) std::rethrow_exception(state.slots.front().error);
  std::vector<Tensor> tensors = std::move(state.slots.front().tensors);
  state.slots.pop_front();
  ++state.next;
  state.room.notify_one();
  return tensors;
}

std::chrono::nanoseconds Loader::waited() const {
  State& state = here();
  const std::lock_guard lock(state.mutex);
  return state.waited;
}

}  // namespace tenon::data
