/* Marks what liboperator_runtime exports; everything else is hidden. */
#pragma once

#if defined(_WIN32)
#error "Operator Runtime supports Linux; there is no Windows build"
#endif

#define OPRT_EXPORT __attribute__((visibility("default")))

#if defined(__cplusplus)
#define OPRT_NOEXCEPT noexcept
#define OPRT_BEGIN_C extern "C" {
#define OPRT_END_C }
#else
#define OPRT_NOEXCEPT
#define OPRT_BEGIN_C
#define OPRT_END_C
#endif
