// The parts of DLPack's binary interface that are used here, versions 0.x to 1.3. Layouts are fixed by that standard.
#pragma once

#include <cstddef>
#include <cstdint>

#include "operator_runtime/dlpack.h"

namespace oprt_python {

struct DlpackVersion {
  uint32_t major;
  uint32_t minor;
};

constexpr DlpackVersion kDlpackVersion = {1, 3};

// Capsules named "dltensor".
struct DlpackManaged {
  oprt_dltensor_t tensor;
  void* context;
  void (*deleter)(DlpackManaged*);
};

// Capsules named "dltensor_versioned".
struct DlpackManagedVersioned {
  DlpackVersion version;
  void* context;
  void (*deleter)(DlpackManagedVersioned*);
  uint64_t flags;
  oprt_dltensor_t tensor;
};

constexpr uint64_t kDlpackReadOnly = 1;
constexpr uint64_t kDlpackIsCopied = 2;

struct DlpackExchangeHeader {
  DlpackVersion version;
  const DlpackExchangeHeader* previous;
};

// What a type offers as __dlpack_c_exchange_api__, major version 1. Functions return 0, or set a Python error.
struct DlpackExchange {
  DlpackExchangeHeader header;
  int (*allocate)(oprt_dltensor_t* prototype, DlpackManagedVersioned** out, void* error_context,
                  void (*set_error)(void* error_context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, DlpackManagedVersioned** out);
  int (*managed_to_object)(DlpackManagedVersioned* tensor, void** out_object);
  int (*borrow_from_object)(void* object, oprt_dltensor_t* out);  // may be NULL; valid while the object is
  int (*current_stream)(int32_t device_type, int32_t device_id, void** out);
};

static_assert(offsetof(DlpackManaged, context) == 48 && offsetof(DlpackManaged, deleter) == 56 && sizeof(DlpackManaged) == 64);
static_assert(offsetof(DlpackManagedVersioned, context) == 8 && offsetof(DlpackManagedVersioned, flags) == 24 &&
              offsetof(DlpackManagedVersioned, tensor) == 32 && sizeof(DlpackManagedVersioned) == 80);
static_assert(offsetof(DlpackExchange, allocate) == 16 && offsetof(DlpackExchange, current_stream) == 48);

}  // namespace oprt_python
