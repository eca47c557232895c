/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Every function and struct of tenon.h, within reach of abidiff. Compiled twice: with the frozen
 * header, and with today's. */
#include <tenon/tenon.h>

TENON_EXPORT struct surface {
  __typeof__(tenon_last_error)* last_error;
  __typeof__(tenon_version)* version;
  __typeof__(tenon_dtype_size)* dtype_size;
  __typeof__(tenon_dtype_name)* dtype_name;
  __typeof__(tenon_context_create)* context_create;
  __typeof__(tenon_context_destroy)* context_destroy;
  __typeof__(tenon_device_count)* device_count;
  __typeof__(tenon_device_id)* device_id;
  __typeof__(tenon_device_find)* device_find;
  __typeof__(tenon_tensor_create)* tensor_create;
  __typeof__(tenon_tensor_destroy)* tensor_destroy;
  __typeof__(tenon_tensor_type)* tensor_type;
  __typeof__(tenon_tensor_read)* tensor_read;
  __typeof__(tenon_tensor_to_device)* tensor_to_device;
  __typeof__(tenon_tensor_device)* tensor_device;
  __typeof__(tenon_tensor_text)* tensor_text;
  __typeof__(tenon_graph_parse)* graph_parse;
  __typeof__(tenon_graph_destroy)* graph_destroy;
  __typeof__(tenon_graph_text)* graph_text;
  __typeof__(tenon_graph_counts)* graph_counts;
  __typeof__(tenon_graph_input)* graph_input;
  __typeof__(tenon_graph_output)* graph_output;
  __typeof__(tenon_graph_gradient)* graph_gradient;
  __typeof__(tenon_graph_compile)* graph_compile;
  __typeof__(tenon_graph_run)* graph_run;
} tenon_surface;
