# Which backends this build holds, from the options and from what src/backends/<vendor>/ contains. The CPU backend is always built.
include(CheckLanguage)

if(CAMP_ENABLE_METAX AND CAMP_ENABLE_NVIDIA)
  message(FATAL_ERROR
    "CAMP_ENABLE_NVIDIA and CAMP_ENABLE_METAX are both ON. Both name their tensors with DLPack's device code for CUDA, so one library "
    "cannot tell them apart. Use a build folder for each:\n"
    "  cmake .. -DCAMP_ENABLE_NVIDIA=ON -DCAMP_ENABLE_METAX=OFF\n"
    "  cmake .. -DCAMP_ENABLE_NVIDIA=OFF -DCAMP_ENABLE_METAX=ON")
endif()

if(CAMP_ENABLE_EMULATION AND (CAMP_ENABLE_NVIDIA OR CAMP_ENABLE_METAX))
  message(FATAL_ERROR
    "CAMP_ENABLE_EMULATION runs the kernels of nvidia and metax on the CPU, and excludes CAMP_ENABLE_NVIDIA and CAMP_ENABLE_METAX. Use a "
    "build folder for each:\n"
    "  cmake -S .. -B ../build-emulation -DCAMP_ENABLE_EMULATION=ON -DCAMP_ENABLE_NVIDIA=OFF -DCAMP_ENABLE_METAX=OFF")
endif()

set(nvidia_default OFF)
if(NOT CAMP_ENABLE_METAX AND NOT CAMP_ENABLE_EMULATION AND (CAMP_ENABLE_NVIDIA OR NOT DEFINED CAMP_ENABLE_NVIDIA))
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(nvidia_default ON)
  endif()
endif()
option(CAMP_ENABLE_NVIDIA "Build the NVIDIA backend (needs nvcc); ON where nvcc works" ${nvidia_default})

if(CAMP_ENABLE_NVIDIA AND NOT CMAKE_CUDA_COMPILER)
  message(FATAL_ERROR
    "CAMP_ENABLE_NVIDIA=ON needs a working nvcc, and there is none here. Without it, use:\n"
    "  cmake .. -DCAMP_ENABLE_NVIDIA=OFF -DCAMP_ENABLE_METAX=OFF")
endif()

if(CAMP_ENABLE_METAX)
  find_program(MXCC mxcc HINTS $ENV{MACA_PATH}/mxgpu_llvm/bin /opt/maca/mxgpu_llvm/bin)
  if(NOT MXCC)
    message(FATAL_ERROR
      "CAMP_ENABLE_METAX=ON needs mxcc of the MACA SDK, and it is neither in PATH nor under MACA_PATH. Without it, use:\n"
      "  cmake .. -DCAMP_ENABLE_NVIDIA=OFF -DCAMP_ENABLE_METAX=OFF")
  endif()
endif()

set(enabled cpu)
if(CAMP_ENABLE_NVIDIA)
  list(APPEND enabled nvidia)
endif()
if(CAMP_ENABLE_METAX)
  list(APPEND enabled metax)
endif()
if(CAMP_ENABLE_EMULATION)
  list(APPEND enabled nvidia metax)
endif()

# Source patterns of a vendor's kernels, the same under src/backends/<vendor>/ and ops/<op>/<vendor>/.
set(oprt_patterns_cpu *.cc)
set(oprt_patterns_nvidia *.cc *.cu)
set(oprt_patterns_metax *.cc *.maca)

# oprt_glob(<variable> <vendor> <folder>): sources of that vendor in that folder.
function(oprt_glob variable vendor folder)
  list(TRANSFORM oprt_patterns_${vendor} PREPEND ${folder}/ OUTPUT_VARIABLE patterns)
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()

set(oprt_backends "")
set(oprt_backend_sources "")
foreach(vendor IN LISTS enabled)
  if(CAMP_ENABLE_EMULATION AND NOT vendor STREQUAL "cpu")
    oprt_glob(sources cpu ${PROJECT_SOURCE_DIR}/src/backends/emulated)
  else()
    oprt_glob(sources ${vendor} ${PROJECT_SOURCE_DIR}/src/backends/${vendor})
  endif()
  if(sources)
    list(APPEND oprt_backends ${vendor})
    list(APPEND oprt_backend_sources ${sources})
  else()
    message(STATUS "Operator Runtime: src/backends/${vendor} has no sources, so this build has no ${vendor} backend")
  endif()
endforeach()
list(REMOVE_DUPLICATES oprt_backend_sources)
