/* Operator Runtime, the whole C API. ops.h is generated at configure time: it includes ops/<op>.h of every operator. */
#pragma once

#include "operator_runtime/backend.h"
#include "operator_runtime/descriptor.h"
#include "operator_runtime/dlpack.h"
#include "operator_runtime/ops.h"
#include "operator_runtime/status.h"
#include "operator_runtime/tensor.h"
#include "operator_runtime/version.h"
