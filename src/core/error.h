// Errors inside the library are exceptions; they end at the C boundary, where guard() turns them into a status and a text.
#pragma once

#include <cstdarg>
#include <exception>
#include <new>

#include "operator_runtime/status.h"

namespace oprt {

// A failure on its way to the C boundary. Holds its text inline: throwing needs no further allocation.
class Error : public std::exception {
 public:
  static constexpr int kMaxText = 512;
  static constexpr int kMaxArgument = 24;

  // `argument` is the header's spelling of the argument at fault, or "".
  [[gnu::format(printf, 4, 5)]] Error(oprt_status_t status, const char* argument, const char* format, ...);

  const char* what() const noexcept override { return text_; }
  const char* argument() const noexcept { return argument_; }
  oprt_status_t status() const noexcept { return status_; }

 private:
  oprt_status_t status_;
  char argument_[kMaxArgument];
  char text_[kMaxText];
};

// Sets this thread's last error to "op: text" and returns `status`. `op` may be "".
oprt_status_t set_last_error(const char* op, const char* argument, oprt_status_t status, const char* text) noexcept;

// Runs `body` for the operator (or function) named `op`; an exception becomes a status and the last error.
template <class Body>
oprt_status_t guard(const char* op, Body&& body) noexcept {
  try {
    body();
    return OPRT_OK;
  } catch (const Error& error) {
    return set_last_error(op, error.argument(), error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return set_last_error(op, "", OPRT_ERR_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& error) {
    return set_last_error(op, "", OPRT_ERR_INTERNAL, error.what());
  } catch (...) {
    return set_last_error(op, "", OPRT_ERR_INTERNAL, "unknown exception");
  }
}

}  // namespace oprt

// The caller's fault: OPRT_CHECK(dim < ndim, "dim", OPRT_ERR_INVALID_ARGUMENT, "dim is %d, expected ...", dim)
#define OPRT_CHECK(cond, argument, status, ...)               \
  do {                                                        \
    if (!(cond)) [[unlikely]]                                 \
      throw ::oprt::Error((status), (argument), __VA_ARGS__); \
  } while (0)

// Ours: a condition that only a fault of this library can break.
#define OPRT_ICHECK(cond)                                                                               \
  do {                                                                                                  \
    if (!(cond)) [[unlikely]]                                                                           \
      throw ::oprt::Error(OPRT_ERR_INTERNAL, "", "%s:%d: %s does not hold", __FILE__, __LINE__, #cond); \
  } while (0)
