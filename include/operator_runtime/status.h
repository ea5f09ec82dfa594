/* Status codes, and the text that explains the last failure on this thread. */
#pragma once

#include <stdint.h>

#include "operator_runtime/export.h"

OPRT_BEGIN_C

typedef int32_t oprt_status_t;

enum {
  OPRT_OK = 0,
  OPRT_ERR_INVALID_ARGUMENT = 1,       /* the caller broke the operator's contract */
  OPRT_ERR_UNSUPPORTED = 2,            /* a valid request that no implementation takes */
  OPRT_ERR_INSUFFICIENT_WORKSPACE = 3, /* workspace_size is below the descriptor's need */
  OPRT_ERR_BACKEND_UNAVAILABLE = 4,    /* not built, no driver, no device */
  OPRT_ERR_OUT_OF_MEMORY = 5,          /* host or device memory could not be had */
  OPRT_ERR_DEVICE_ERROR = 6,           /* the vendor's runtime refused a call */
  OPRT_ERR_INTERNAL = 7                /* a fault of this library; any function may return it */
};

/* The enumerator's name, "OPRT_ERR_UNSUPPORTED" for 2; "OPRT_ERR_UNKNOWN" for a code that is none. Never NULL, static. */
OPRT_EXPORT const char* oprt_status_name(oprt_status_t status) OPRT_NOEXCEPT;

/*
 * What the last failed call on this thread had to say: operator, argument, what came, what is accepted. For example
 * "softmax: dim is 3, expected -2..1 for a 2-D input". Owned by the library, never NULL, "" before the first failure,
 * valid until this thread's next oprt call. A call that succeeds leaves it unchanged.
 */
OPRT_EXPORT const char* oprt_last_error(void) OPRT_NOEXCEPT;

/* The argument that oprt_last_error() speaks of, as it is spelled in the header ("dim", "out", "a"), or "". Same lifetime. */
OPRT_EXPORT const char* oprt_last_error_argument(void) OPRT_NOEXCEPT;

OPRT_END_C
