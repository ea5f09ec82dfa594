/* Softmax over the last dimension, from C11. */
#include <stdio.h>
#include <stdlib.h>

/* [include] */
#include "operator_runtime/operator_runtime.h"
/* [/include] */

/* [softmax] */
static oprt_status_t softmax_rows(float* out, const float* in, int64_t rows, int64_t cols) {
  const int64_t shape[] = {rows, cols};
  const oprt_device_t cpu = {OPRT_DEVICE_CPU, 0};
  oprt_tensor_view_t view; /* out and in have the same description; create looks at no data */
  oprt_status_t status = oprt_make_contiguous_view(&view, NULL, OPRT_DTYPE_FLOAT32, cpu, 2, shape);
  if (status != OPRT_OK) return status;

  oprt_descriptor_t* desc = NULL;
  size_t size = 0;
  status = oprt_create_softmax_descriptor(&desc, OPRT_BACKEND_AUTO, &view, &view, -1);
  if (status == OPRT_OK) status = oprt_get_softmax_workspace_size(desc, &size);
  void* workspace = size > 0 ? aligned_alloc(OPRT_WORKSPACE_ALIGNMENT, size) : NULL;          /* whole multiples of the alignment */
  if (status == OPRT_OK) status = oprt_execute_softmax(desc, workspace, size, out, in, NULL); /* as often as you like */
  free(workspace);
  oprt_destroy_softmax_descriptor(desc);
  return status;
}
/* [/softmax] */

int main(void) {
  const float in[2][3] = {{1, 2, 3}, {0, 0, 0}};
  float out[2][3];
  if (softmax_rows(&out[0][0], &in[0][0], 2, 3) != OPRT_OK) {
    fprintf(stderr, "%s\n", oprt_last_error());
    return 1;
  }
  for (int row = 0; row < 2; ++row) printf("%.4f %.4f %.4f\n", out[row][0], out[row][1], out[row][2]);
  return out[0][2] > out[0][0] && out[1][0] == out[1][2] ? 0 : 1;
}
