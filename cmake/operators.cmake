# Finds the operators: every folder ops/<op>/ is one. Collects their sources and generates what lists them.
#   oprt_operators          names
#   oprt_operator_sources   ops/<op>/*.cc without python.cc
#   oprt_kernel_sources_<backend>   ops/*/<backend>/*
#   oprt_kernels_<op>_cpu   the CPU part of one operator
#   oprt_binding_sources    ops/<op>/python.cc
set(oprt_generated_dir ${PROJECT_BINARY_DIR}/generated)

file(GLOB folders LIST_DIRECTORIES true RELATIVE ${PROJECT_SOURCE_DIR}/ops CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ops/*)
set(oprt_operators "")
foreach(op IN LISTS folders)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/ops/${op} AND (NOT CAMP_OPS OR op IN_LIST CAMP_OPS))
    list(APPEND oprt_operators ${op})
  endif()
endforeach()
foreach(op IN LISTS CAMP_OPS)
  if(NOT op IN_LIST oprt_operators)
    message(FATAL_ERROR "CAMP_OPS names \"${op}\", but there is no folder ops/${op}. There are: ${folders}")
  endif()
endforeach()

set(ops_h "/* Generated: the operators of this build. */\n#pragma once\n\n")
set(declarations "")
set(operator_rows "")
set(operator_row_count 0)
set(backend_rows "")
set(bind_declarations "")
set(bind_calls "")
set(public_headers "")

# A name becomes a C++ namespace, part of C functions, and a Python function beside <op>_ and prepare_<op>.
set(oprt_keywords
  alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class co_await co_return
  co_yield compl concept const const_cast consteval constexpr constinit continue decltype default delete do double dynamic_cast else
  enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr
  operator or or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static
  static_assert static_cast struct switch template this thread_local throw true try typedef typeid typename union unsigned using
  virtual void volatile wchar_t while xor xor_eq
  as assert async await def del elif except finally from global import in is lambda nonlocal pass raise with yield)
foreach(op IN LISTS oprt_operators)
  if(NOT op MATCHES "^[a-z][a-z0-9]*(_[a-z0-9]+)*$" OR op IN_LIST oprt_keywords)
    message(FATAL_ERROR "ops/${op}: the name of an operator is lower-case letters, digits and single underscores, and no keyword of C++ "
      "or Python")
  endif()
  foreach(file ops/${op}/${op}.cc include/operator_runtime/ops/${op}.h)
    if(NOT EXISTS ${PROJECT_SOURCE_DIR}/${file})
      message(FATAL_ERROR "ops/${op} is an operator, but ${file} is missing (docs/add-an-operator.md)")
    endif()
  endforeach()
  string(APPEND ops_h "#include \"operator_runtime/ops/${op}.h\"\n")

  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ops/${op}/*.cc)
  list(FILTER sources EXCLUDE REGEX "/python\\.cc$")
  list(APPEND oprt_operator_sources ${sources})
  if(EXISTS ${PROJECT_SOURCE_DIR}/ops/${op}/python.cc)
    list(APPEND oprt_binding_sources ${PROJECT_SOURCE_DIR}/ops/${op}/python.cc)
    string(APPEND bind_declarations "void bind_${op}(nanobind::module_&);\n")
    string(APPEND bind_calls "  bind_${op}(module);\n")
  endif()

  foreach(vendor IN LISTS oprt_backends)
    if(CAMP_ENABLE_EMULATION AND vendor STREQUAL "metax")
      set(kernels ${oprt_kernels_${op}_nvidia})  # the same at 64 lanes
    else()
      oprt_glob(kernels ${vendor} ${PROJECT_SOURCE_DIR}/ops/${op}/${vendor})
    endif()
    set(oprt_kernels_${op}_${vendor} ${kernels})
    if(kernels)
      list(APPEND oprt_kernel_sources_${vendor} ${kernels})
      string(TOUPPER ${vendor} id)
      string(APPEND declarations "namespace ${op} {\nImplementations ${vendor}_implementations();\n}\n")
      math(EXPR operator_row_count "${operator_row_count} + 1")
      string(APPEND operator_rows "    {\"${op}\", OPRT_BACKEND_${id}, ${op}::${vendor}_implementations},\n")
    endif()
  endforeach()
endforeach()

if(operator_row_count EQUAL 0)
  message(FATAL_ERROR "No operator has kernels for a backend of this build (${oprt_backends}): ops/<op>/<backend>/ are all empty")
endif()

foreach(vendor IN LISTS oprt_backends)
  string(APPEND declarations "const Backend& ${vendor}_backend();\n")
  string(APPEND backend_rows "    ${vendor}_backend,\n")
endforeach()

foreach(vendor IN LISTS enabled)
  set(without "")
  foreach(op IN LISTS oprt_operators)
    if(NOT oprt_kernels_${op}_${vendor})
      list(APPEND without ${op})
    endif()
  endforeach()
  if(without)
    list(JOIN without ", " without)
    message(STATUS "Operator Runtime: operators without ${vendor} kernels: ${without}")
  endif()
endforeach()

# Every function that a public header declares, for a program that links them all.
file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/operator_runtime/*.h)
list(TRANSFORM oprt_operators PREPEND ${PROJECT_SOURCE_DIR}/include/operator_runtime/ops/ OUTPUT_VARIABLE operator_headers)
list(TRANSFORM operator_headers APPEND .h)
set(symbol_rows "")
foreach(header IN LISTS public_headers operator_headers)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header})
  file(STRINGS ${header} lines REGEX "^OPRT_EXPORT")
  foreach(line IN LISTS lines)
    if(line MATCHES "(oprt_[a-z0-9_]+)\\(")
      string(APPEND symbol_rows "    (function_t)${CMAKE_MATCH_1},\n")
    else()
      message(FATAL_ERROR "${header}: no function name on the line of OPRT_EXPORT: ${line}")
    endif()
  endforeach()
endforeach()

file(CONFIGURE OUTPUT ${oprt_generated_dir}/operator_runtime/ops.h CONTENT "${ops_h}" @ONLY)
foreach(name registry.cc bind_ops.cc link_all_symbols.c)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.in ${oprt_generated_dir}/${name} @ONLY)
endforeach()
