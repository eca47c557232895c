// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lesson 2: a Context owns devices. Which ones there are is decided when the program starts:
//   TENON_DEVICES=cpu@threads=1 ./example_02_devices
#include <tenon/tenon.hpp>

#include <cstdio>

using namespace tenon;

int main() try {
  // The standard context reads the environment. Options given here would come before it.
  Context& context = Context::standard();
  std::string last;
  for (const std::string& id : context.device_ids()) {
    const DeviceInfo device = context.device(id);  // is opened when it is first asked for
    std::printf("%-8s %s: %u compute units, vectors of %u bytes\n", id.c_str(), device.name.c_str(),
                device.compute_units, device.vector_bytes);
    if (device.compute) last = id;  // files are devices too, and hold memory only
  }

  // Work runs where its inputs are. `to` copies, and says so in the schedule.
  const Tensor x = uniform(Key(/*seed=*/1), {1000});
  const Tensor there = x.to(last) + 1.0f;
  std::printf("x is on %s, x + 1 on %s, its mean is %.3f\n", x.device().c_str(),
              there.device().c_str(), there.mean().item<float>());

  // A device that is not there is an error with a list of what is, never a silent fallback.
  try {
    context.device("warp:7");
    return 1;
  } catch (const Error& error) {
    std::printf("as it should be: %s\n", error.what());
  }
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "02_devices: %s\n", error.what());
  return 3;
}
