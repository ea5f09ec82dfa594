# C and C++ tests and the examples, for ctest; and the library of wrong kernels that tests/test_planted.py asks for.
function(oprt_add_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE oprt_compile_options operator_runtime Threads::Threads)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
endfunction()

oprt_add_program(link_all_symbols ${oprt_generated_dir}/link_all_symbols.c)

if(CAMP_OPS)
  message(STATUS "Operator Runtime: CAMP_OPS is set, so the tests and examples that use all operators are left out")
  return()
endif()

foreach(folder tests/c_api examples/c examples/cpp)
  file(GLOB programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.c ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  string(REPLACE "/" "_" prefix ${folder})
  foreach(program IN LISTS programs)
    cmake_path(GET program STEM stem)
    oprt_add_program(${prefix}_${stem} ${program})
  endforeach()
endforeach()

if("nvidia" IN_LIST oprt_backends AND NOT CAMP_ENABLE_EMULATION)
  # scripts/check_device_code.py reads the kernels; nvdisasm wants them as they are.
  target_compile_options(oprt_kernels_nvidia PRIVATE $<$<COMPILE_LANGUAGE:CUDA>:-no-compress>)

  # Older and newer architectures than the build's own, for one file of each operator.
  file(GLOB portable CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ops/*/nvidia/strided.cu)
  add_library(other_architectures OBJECT EXCLUDE_FROM_ALL ${portable})
  target_link_libraries(other_architectures PRIVATE oprt_compile_options)
  set(others ${oprt_cuda_all_architectures})
  list(FILTER others INCLUDE REGEX "^(75|100)$")
  list(TRANSFORM others APPEND -real)
  set_target_properties(other_architectures PROPERTIES CUDA_ARCHITECTURES "${others}")

  file(GLOB programs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cuda/*.cc)
  foreach(program IN LISTS programs)
    cmake_path(GET program STEM stem)
    oprt_add_program(cuda_${stem} ${program})
    set_tests_properties(cuda_${stem} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
  add_executable(ceiling ${PROJECT_SOURCE_DIR}/benchmarks/ceiling.cu)
  set_target_properties(ceiling PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/benchmarks)
endif()

# The unit tests look inside the library, at what it hides: they link its objects.
find_package(GTest QUIET)
if(GTest_FOUND)
  file(GLOB unit_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/cpp/*_test.cc)
  add_executable(unit_tests ${unit_tests} $<TARGET_OBJECTS:oprt_core> ${oprt_kernel_objects})
  target_link_libraries(unit_tests PRIVATE oprt_compile_options GTest::gtest_main Threads::Threads)
  set_target_properties(unit_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  add_test(NAME unit_tests COMMAND unit_tests)
else()
  message(STATUS "Operator Runtime: GoogleTest is not installed, so the C++ unit tests are left out (Debian: libgtest-dev)")
endif()

if(CAMP_ENABLE_EMULATION)
  include(emulation_tests)
endif()

if(CAMP_BUILD_PYTHON)
  # <build>/planted is a build folder for CAMP_BUILD_DIR whose CPU kernels are tests/planted/<op>.cc.
  set(planted_sources "")
  foreach(op IN LISTS oprt_operators)
    if(EXISTS ${PROJECT_SOURCE_DIR}/tests/planted/${op}.cc)
      list(APPEND planted_sources ${PROJECT_SOURCE_DIR}/tests/planted/${op}.cc)
    else()
      list(APPEND planted_sources ${oprt_kernels_${op}_cpu})
    endif()
  endforeach()
  oprt_add_library(operator_runtime_planted ${PROJECT_BINARY_DIR}/planted/lib $<TARGET_OBJECTS:oprt_core> ${oprt_device_objects}
    ${planted_sources})
  add_custom_target(planted
    COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/planted/python
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:_native> ${PROJECT_BINARY_DIR}/python/_native.stamp
      ${PROJECT_BINARY_DIR}/planted/python)
  add_dependencies(planted operator_runtime_planted _native)
  set_target_properties(operator_runtime_planted planted PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
