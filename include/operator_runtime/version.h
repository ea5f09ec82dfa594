/* Version of the library, and of the binary interface. */
#pragma once

#include <stdint.h>

#include "operator_runtime/export.h"

#define OPRT_VERSION_MAJOR 0
#define OPRT_VERSION_MINOR 1
#define OPRT_VERSION_PATCH 0
#define OPRT_VERSION_STRING "0.1.0"

/* Structs and signatures never change within one ABI version. The library's SONAME ends in it. */
#define OPRT_ABI_VERSION 0

OPRT_BEGIN_C

/* OPRT_ABI_VERSION of the loaded library. A program compares it with its own before the first other call. */
OPRT_EXPORT int32_t oprt_abi_version(void) OPRT_NOEXCEPT;

/* OPRT_VERSION_STRING of the loaded library. Static, never NULL. */
OPRT_EXPORT const char* oprt_version(void) OPRT_NOEXCEPT;

OPRT_END_C
