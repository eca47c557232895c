/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Times by the device's own clock: the optional extension "org.tenon.timing.v1".
 *
 * Without it the host times commands from their submission until the wait for their end returns,
 * which on most devices is longer by the way there and back. A backend whose devices have a clock
 * answers plugin.get_extension(TN_TIMING_ID) with a tn_timing.
 *
 * Rules of growth, errors, ownership and threads are those of tenon/plugin.h.
 */
#ifndef TENON_EXT_TIMING_H
#define TENON_EXT_TIMING_H

#include "tenon/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TN_TIMING_ID "org.tenon.timing.v1"

/* Static, constant, lives as long as the process. Every function is mandatory. */
typedef struct tn_timing {
  TN_HEADER;

  /* What plugin.submit does, with its checks and errors, for a submission without waits and
   * signals; returns when its commands have ended. *out_nanoseconds is what passed on the device
   * from where the first of them may begin until the last has ended: the host sees to it that
   * nothing else runs meanwhile. TN_ERROR_UNSUPPORTED where this device has no clock; then nothing
   * has happened. */
  int32_t (*run)(tn_device* device, const tn_submission* submission, uint64_t* out_nanoseconds,
                 tn_error* error);
} tn_timing;

#ifdef __cplusplus
}
#endif
#endif
