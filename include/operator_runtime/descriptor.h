/*
 * The life of an operator call, the same four functions for every operator (ops/<op>.h):
 *
 *   create    checks shapes, dtypes, layouts and attributes; picks an implementation and its launch plan
 *   workspace says how many bytes execute may use
 *   execute   checks the pointers and enqueues; never allocates, never synchronises (on the cpu, the first one of a forked
 *             child starts the child's own threads)
 *   destroy   frees the descriptor
 *
 * A descriptor is immutable and keeps no pointer of the caller: any number of threads and streams may execute it at
 * once, each call with its own workspace. It may be destroyed once every execute has returned, even with work queued or
 * captured.
 *
 * Alignment: a pointer that is not aligned to its element size (complex128: to 8 bytes) is INVALID_ARGUMENT. NULL is
 * accepted for a tensor without elements.
 *
 * Aliasing: `out` may be exactly an input of the same shape and strides where the operator says so. Interleaved views
 * that share no byte are accepted. Anything else that shares a byte with `out`, and whatever a bounded test cannot
 * decide, is INVALID_ARGUMENT. Inputs may overlap each other.
 *
 * Workspace is the caller's: aligned to OPRT_WORKSPACE_ALIGNMENT bytes, contents arbitrary, reusable in order on one
 * stream, may be NULL when the size is 0. Bytes of it between the first and the last of an operand are
 * INVALID_ARGUMENT, even in a gap that the operand's strides leave.
 *
 * Stream is the vendor's handle as void*, on the descriptor's device, NULL for its default stream. On the cpu it must be
 * NULL, and execute returns when the result is there.
 */
#pragma once

#include <stddef.h>

#include "operator_runtime/backend.h"
#include "operator_runtime/export.h"
#include "operator_runtime/status.h"

OPRT_BEGIN_C

#define OPRT_WORKSPACE_ALIGNMENT 256

typedef struct oprt_descriptor oprt_descriptor_t;

/* The implementation that create chose, "contiguous" for example. Static text, "" for NULL. */
OPRT_EXPORT const char* oprt_descriptor_implementation(const oprt_descriptor_t* desc) OPRT_NOEXCEPT;

/* The backend that will execute, never AUTO; AUTO for NULL. */
OPRT_EXPORT oprt_backend_t oprt_descriptor_backend(const oprt_descriptor_t* desc) OPRT_NOEXCEPT;

OPRT_END_C
