/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Recorded command graphs: the optional extension "org.tenon.graphs.v1".
 *
 * A list of commands is recorded once and launched often, at the cost of one launch however many
 * commands there are. A backend that has them answers plugin.get_extension(TN_GRAPHS_ID) with a
 * tn_graphs; one that has not answers null, and the host submits the commands one by one.
 *
 * Rules of growth, errors, ownership and threads are those of tenon/plugin.h.
 */
#ifndef TENON_EXT_GRAPHS_H
#define TENON_EXT_GRAPHS_H

#include "tenon/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TN_GRAPHS_ID "org.tenon.graphs.v1"

/* Made, owned and destroyed by the plugin; belongs to the device that it was recorded on. */
typedef struct tn_graph tn_graph;

/* Static, constant, lives as long as the process. Every function is mandatory. */
typedef struct tn_graphs {
  TN_HEADER;

  /* Records commands without running them. They mean what they would mean in a submission: in
   * order, same checks, same errors. Everything that `commands` points to is read before the call
   * returns; the memory slabs and executables that they name must outlive the graph, in place.
   * TN_ERROR_UNSUPPORTED where this device or one of the commands cannot be recorded; then nothing
   * has happened, and the commands can be submitted instead. */
  int32_t (*record)(tn_device* device, uint32_t command_count, uint32_t command_stride,
                    const tn_command* commands, tn_graph** out_graph, tn_error* error);

  /* Runs the graph as one submission to its device: `submission` gives queue, waits and signals,
   * and has command_count 0. A graph may be launched any number of times, also while an earlier
   * launch has not ended; launches of one graph run one after another. Errors as with submit. */
  int32_t (*launch)(tn_graph* graph, const tn_submission* submission, tn_error* error);

  /* Not while a launch of it is in flight. Before the device is closed. Null is nothing. */
  void (*destroy)(tn_graph* graph);
} tn_graphs;

#ifdef __cplusplus
}
#endif
#endif
