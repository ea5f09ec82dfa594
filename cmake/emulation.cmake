# The emulator: kernels of ops/*/nvidia/ compiled by the C++ compiler, at 32 lanes for nvidia and at 64 for metax; and src/emulator,
# which runs them.
#   OPRT_EMULATION_CHECK  ON reports races, wrong addresses and uninitialised reads of the kernels
option(OPRT_EMULATION_CHECK "Check every memory access of emulated kernels" OFF)

include(CheckCXXSourceCompiles)
set(CMAKE_REQUIRED_LIBRARIES backtrace)
check_cxx_source_compiles("#include <backtrace.h>
int main() { return backtrace_create_state(nullptr, 1, nullptr, nullptr) == nullptr; }" OPRT_HAS_BACKTRACE)
unset(CMAKE_REQUIRED_LIBRARIES)
if(NOT OPRT_HAS_BACKTRACE)
  message(FATAL_ERROR
    "The emulator finds the lines of faults with libbacktrace, which Debian's g++ contains and ${CMAKE_CXX_COMPILER} lacks. Use that "
    "g++ (cmake -DCMAKE_CXX_COMPILER=g++), or install libbacktrace (https://github.com/ianlancetaylor/libbacktrace)")
endif()
target_link_libraries(oprt_compile_options INTERFACE backtrace)

file(GLOB emulator_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/emulator/*.cc)
set_source_files_properties(${emulator_sources} PROPERTIES COMPILE_OPTIONS
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)  # g++ 12 finds overlaps in text + text that are none
list(APPEND oprt_backend_sources ${emulator_sources})
add_compile_definitions(OPRT_EMULATION)
if(OPRT_EMULATION_CHECK)
  add_compile_definitions(OPRT_EMULATION_CHECK)
endif()

set(oprt_lanes_nvidia 32)
set(oprt_lanes_metax 64)

# oprt_emulate(<target> <vendor>): compiles the target's kernels for the CPU. The checker takes the place of the sanitizers' own
# libraries, so they are named to the compiler alone, not to the linker. -O2, for the sake of build time and of debuggers; the checker
# itself asks for lines alone.
function(oprt_emulate target vendor)
  get_target_property(sources ${target} SOURCES)
  set_source_files_properties(${sources} PROPERTIES LANGUAGE CXX)
  target_compile_definitions(${target} PRIVATE OPRT_WARP_SIZE=${oprt_lanes_${vendor}})
  target_compile_options(${target} PRIVATE -O2 $<IF:$<BOOL:${OPRT_EMULATION_CHECK}>,-g1,-g> -fno-strict-aliasing -Wno-unknown-pragmas
    -Wno-conversion -Wno-pedantic)
  if(OPRT_EMULATION_CHECK)
    target_compile_options(${target} PRIVATE -fsanitize=thread -fsanitize=alignment,bounds -Wno-maybe-uninitialized
      $<$<CXX_COMPILER_ID:GNU>:SHELL:--param tsan-instrument-func-entry-exit=0>)
  endif()
endfunction()
