/*
 * reduce_sum: out[kept] = sum over the reduced dimensions of in.
 *
 * Shapes    in (d0, .., dn-1), 0 to 8 dimensions; out is in's shape without the reduced dimensions, or with 1 in their
 *           place when keepdim is not 0.
 * dims      num_dims values, -n <= dim < n, none twice; num_dims 0 reduces every dimension. A 0-d tensor accepts 0 and -1.
 * Dtypes    float16, bfloat16, float32, float64 to the same dtype; float16 and bfloat16 also to float32; integers and bool to
 *           int64, modulo 2^64, a bool counting its non-zero bytes.
 * Layouts   any strides; out may not write one address twice. Aliasing: out may share no byte with in.
 * Values    float16 and bfloat16 accumulate in float32 and round once. float32 error is at most
 *           (64 + log2 n) 2^-24 sum|x| while sum|x| is within the range of the accumulator; beyond it a partial sum may be
 *           infinite. NaN and infinities propagate as in IEEE addition. An empty sum writes +0; the sum of
 *           negative zeros is +0, whatever their number.
 * Workspace asked for by the descriptor: partial sums where few long rows are split, on the cpu too.
 * Order     enqueued on the stream, capture-safe. Bits repeat for the same build, device model, descriptor and alignments;
 *           on the cpu also for any number of threads.
 * Threads   a descriptor may be executed from any number of threads at once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "operator_runtime/backend.h"
#include "operator_runtime/descriptor.h"
#include "operator_runtime/export.h"
#include "operator_runtime/status.h"
#include "operator_runtime/tensor.h"

OPRT_BEGIN_C

/*
 * On failure *desc is NULL. `dims` may be NULL when num_dims is 0; it is read during the call only.
 * INVALID_ARGUMENT     a NULL argument, a malformed view, num_dims outside 0..8, a dim out of range or given twice, an out of
 *                      another shape, mixed devices, an out that writes one address twice, an unknown backend
 * UNSUPPORTED          a pair of dtypes that is not listed, a device that is neither cpu nor cuda; nothing
 *                      in the backend takes the case
 * BACKEND_UNAVAILABLE  the backend cannot run here
 * OUT_OF_MEMORY        of the host, or of the device to load a kernel
 * DEVICE_ERROR         a kernel could not be loaded or configured, or the process was forked from one that used the GPU
 */
OPRT_EXPORT oprt_status_t oprt_create_reduce_sum_descriptor(oprt_descriptor_t** desc, oprt_backend_t backend,
                                                            const oprt_tensor_view_t* out, const oprt_tensor_view_t* in,
                                                            const int32_t* dims, int32_t num_dims, int32_t keepdim) OPRT_NOEXCEPT;

/* What create would answer, without keeping anything; the reason is the last error. */
OPRT_EXPORT oprt_status_t oprt_check_reduce_sum_support(oprt_backend_t backend, const oprt_tensor_view_t* out,
                                                        const oprt_tensor_view_t* in, const int32_t* dims, int32_t num_dims,
                                                        int32_t keepdim) OPRT_NOEXCEPT;

/* Bytes, the most that any execute of this descriptor may use. INVALID_ARGUMENT: a NULL argument, another operator's descriptor. */
OPRT_EXPORT oprt_status_t oprt_get_reduce_sum_workspace_size(const oprt_descriptor_t* desc, size_t* workspace_size) OPRT_NOEXCEPT;

/*
 * Enqueues the computation on `stream`; `out` and `in` point to element 0.
 * INVALID_ARGUMENT        another operator's descriptor, a NULL or misaligned pointer or workspace, forbidden overlap,
 *                         a stream on the cpu
 * INSUFFICIENT_WORKSPACE  workspace_size is too small
 * DEVICE_ERROR            the launch failed, or the process was forked from one that used the GPU
 * OUT_OF_MEMORY           of the device to launch; on the cpu, of the host for threads after a fork
 */
OPRT_EXPORT oprt_status_t oprt_execute_reduce_sum(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out,
                                                  const void* in, void* stream) OPRT_NOEXCEPT;

/* OPRT_OK for NULL. INVALID_ARGUMENT: another operator's descriptor, which is left alive. */
OPRT_EXPORT oprt_status_t oprt_destroy_reduce_sum_descriptor(oprt_descriptor_t* desc) OPRT_NOEXCEPT;

OPRT_END_C
