/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Fits y = w x from C. cc fit.c -ltenon_c */
#include <stdio.h>
#include <stdlib.h>
#include <tenon/tenon.h>

static void check(tenon_status status) {
  if (status == TENON_OK) return;
  fprintf(stderr, "%s\n", tenon_last_error());
  exit(1);
}

static tenon_tensor* tensor(tenon_context* context, const float* values, int64_t count) {
  tenon_tensor* out;
  check(tenon_tensor_create(context, TENON_F32, 1, &count, values, sizeof(float) * (size_t)count,
                            &out));
  return out;
}

static const char* const kLoss =
    "graph loss(%x: f32[n], %y: f32[n], %w: f32[1]) where 1 <= n <= 4096 {\n"
    "  %v = expand %w : f32[n]  %p = mul %v, %x  %e = sub %p, %y  %s = mul %e, %e\n"
    "  %loss = reduce.add %s, axes=[0]  return %loss\n"
    "}\n";

int main(void) {
  static const float xs[] = {1, 2, 3, 4}, ys[] = {3, 6, 9, 12};
  const char* by = "w";
  tenon_context* context;
  tenon_graph *loss, *step;
  check(tenon_context_create(NULL, &context));
  check(tenon_graph_parse(context, kLoss, "fit.c", &loss));
  check(tenon_graph_gradient(loss, NULL, &by, 1, &step));
  tenon_tensor* inputs[] = {tensor(context, xs, 4), tensor(context, ys, 4), NULL};
  float w = 0;
  for (int i = 0; i < 20; ++i) {
    tenon_tensor* results[2]; /* the loss, and its gradient by w */
    float slope;
    inputs[2] = tensor(context, &w, 1);
    check(tenon_graph_run(step, inputs, 3, NULL, results, 2));
    check(tenon_tensor_read(results[1], &slope, sizeof slope));
    w -= 0.02F * slope;
    tenon_tensor_destroy(inputs[2]);
    for (int o = 0; o < 2; ++o) tenon_tensor_destroy(results[o]);
  }
  printf("w = %.4f\n", (double)w); /* 3.0000 */
  for (int i = 0; i < 2; ++i) tenon_tensor_destroy(inputs[i]);
  tenon_graph_destroy(step);
  tenon_graph_destroy(loss);
  tenon_context_destroy(context);
  return 0;
}
