/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Copies between devices of one backend: the optional extension "org.tenon.peers.v1".
 *
 * Without it a COPY command stays on one device, and data goes from device to device through the
 * host. Rules of growth, errors, ownership and threads are those of tenon/plugin.h.
 */
#ifndef TENON_EXT_PEERS_H
#define TENON_EXT_PEERS_H

#include "tenon/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TN_PEERS_ID "org.tenon.peers.v1"

/* Static, constant, lives as long as the process. Every function is mandatory. */
typedef struct tn_peers {
  TN_HEADER;

  /* 1 if COPY commands submitted to `destination` may have a source slab of `source`, and waits on
   * timelines of `source`; 0 if not. The answer stays the same while both are open. */
  int32_t (*can_copy)(tn_device* destination, tn_device* source);
} tn_peers;

#ifdef __cplusplus
}
#endif
#endif
