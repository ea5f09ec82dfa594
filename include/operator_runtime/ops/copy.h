/*
 * copy: out[i] = in[i], bit for bit.
 *
 * Shapes    in (d0, .., dn-1); out the same. 0 to 8 dimensions.
 * Dtypes    any; out the same. Nothing is converted: a bool byte of 2 stays 2, a NaN keeps its payload.
 * Layouts   any strides to any strides; out may not write one address twice. Aliasing: out may be exactly in (a no-op); see
 *           descriptor.h.
 * Workspace asked for by the descriptor, 0 on the cpu.
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
 * On failure *desc is NULL.
 * INVALID_ARGUMENT     a NULL argument, a malformed view, shapes that differ, mixed devices, an out that writes one address
 *                      twice, an unknown backend
 * UNSUPPORTED          dtypes that differ, a device that is neither cpu nor cuda; nothing
 *                      in the backend takes the case
 * BACKEND_UNAVAILABLE  the backend cannot run here
 * OUT_OF_MEMORY        of the host, or of the device to load a kernel
 * DEVICE_ERROR         a kernel could not be loaded or configured, or the process was forked from one that used the GPU
 */
OPRT_EXPORT oprt_status_t oprt_create_copy_descriptor(oprt_descriptor_t** desc, oprt_backend_t backend,
                                                      const oprt_tensor_view_t* out, const oprt_tensor_view_t* in) OPRT_NOEXCEPT;

/* What create would answer, without keeping anything; the reason is the last error. */
OPRT_EXPORT oprt_status_t oprt_check_copy_support(oprt_backend_t backend, const oprt_tensor_view_t* out,
                                                  const oprt_tensor_view_t* in) OPRT_NOEXCEPT;

/* Bytes, the most that any execute of this descriptor may use. INVALID_ARGUMENT: a NULL argument, another operator's descriptor. */
OPRT_EXPORT oprt_status_t oprt_get_copy_workspace_size(const oprt_descriptor_t* desc, size_t* workspace_size) OPRT_NOEXCEPT;

/*
 * Enqueues the computation on `stream`; `out` and `in` point to element 0.
 * INVALID_ARGUMENT        another operator's descriptor, a NULL or misaligned pointer or workspace, forbidden overlap,
 *                         a stream on the cpu
 * INSUFFICIENT_WORKSPACE  workspace_size is too small
 * DEVICE_ERROR            the launch failed, or the process was forked from one that used the GPU
 * OUT_OF_MEMORY           of the device to launch; on the cpu, of the host for threads after a fork
 */
OPRT_EXPORT oprt_status_t oprt_execute_copy(const oprt_descriptor_t* desc, void* workspace, size_t workspace_size, void* out,
                                            const void* in, void* stream) OPRT_NOEXCEPT;

/* OPRT_OK for NULL. INVALID_ARGUMENT: another operator's descriptor, which is left alive. */
OPRT_EXPORT oprt_status_t oprt_destroy_copy_descriptor(oprt_descriptor_t* desc) OPRT_NOEXCEPT;

OPRT_END_C
