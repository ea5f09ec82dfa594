/* Backends: who computes. */
#pragma once

#include <stdint.h>

#include "operator_runtime/export.h"
#include "operator_runtime/status.h"

OPRT_BEGIN_C

typedef int32_t oprt_backend_t;

enum {
  OPRT_BACKEND_AUTO = 0, /* follows the tensors' device */
  OPRT_BACKEND_CPU = 1,
  OPRT_BACKEND_NVIDIA = 2,
  OPRT_BACKEND_METAX = 3
};

/* "auto", "cpu", "nvidia", "metax", or "unknown". Static, never NULL. */
OPRT_EXPORT const char* oprt_backend_name(oprt_backend_t backend) OPRT_NOEXCEPT;

/*
 * OPRT_OK where `backend` can run here, else BACKEND_UNAVAILABLE with the reason as the last error: not in this build,
 * no driver, driver too old, no device; DEVICE_ERROR in a child forked from a process that used the GPU. AUTO is always
 * available. INVALID_ARGUMENT for a code that is no backend. The first call for a GPU backend may load its driver; nothing
 * before it does.
 */
OPRT_EXPORT oprt_status_t oprt_check_backend(oprt_backend_t backend) OPRT_NOEXCEPT;

OPRT_END_C
