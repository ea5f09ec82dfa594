# CUDA for the NVIDIA backend: architectures, warnings, the static runtime.
#   OPRT_CUDA_ARCHS  "" is the GPU's own where there is one, else 90; "all" is 75, 80, 89, 90, 100 as far as nvcc knows them, with PTX of
#                    the last; or a list, "90;100" for example
set(OPRT_CUDA_ARCHS "" CACHE STRING "CUDA architectures: empty (the GPU here, else 90), \"all\", or a list")

execute_process(COMMAND ${CMAKE_CUDA_COMPILER} --list-gpu-code OUTPUT_VARIABLE known COMMAND_ERROR_IS_FATAL ANY)
set(oprt_cuda_all_architectures "")
foreach(number 75 80 89 90 100)
  if(known MATCHES "sm_${number}(\n|$)")
    list(APPEND oprt_cuda_all_architectures ${number})
  endif()
endforeach()
if(OPRT_CUDA_ARCHS STREQUAL "all")
  set(numbers ${oprt_cuda_all_architectures})
elseif(OPRT_CUDA_ARCHS)
  set(numbers ${OPRT_CUDA_ARCHS})
else()
  execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader
    OUTPUT_VARIABLE capabilities ERROR_QUIET RESULT_VARIABLE failed)
  string(REGEX MATCHALL "[0-9]+\\.[0-9]" capabilities "${capabilities}")
  list(REMOVE_DUPLICATES capabilities)
  list(TRANSFORM capabilities REPLACE "\\." "" OUTPUT_VARIABLE numbers)
  if(failed OR NOT numbers)
    set(numbers 90)
  endif()
endif()

list(TRANSFORM numbers APPEND -real OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
if(OPRT_CUDA_ARCHS STREQUAL "all")
  list(POP_BACK numbers last)
  list(APPEND numbers ${last})
  list(APPEND CMAKE_CUDA_ARCHITECTURES ${last}-virtual)
endif()
list(TRANSFORM numbers PREPEND sm_ OUTPUT_VARIABLE names)
list(JOIN names ", " names)
message(STATUS "Operator Runtime: CUDA code for ${names}")

enable_language(CUDA)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 12.4)
  message(FATAL_ERROR "The NVIDIA backend needs CUDA 12.4 or newer, ${CMAKE_CUDA_COMPILER} is ${CMAKE_CUDA_COMPILER_VERSION}. Without it, "
    "use:\n  cmake .. -DCAMP_ENABLE_NVIDIA=OFF -DCAMP_ENABLE_METAX=OFF")
endif()
find_package(CUDAToolkit REQUIRED)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
target_compile_features(oprt_compile_options INTERFACE cuda_std_20)
target_compile_definitions(oprt_compile_options INTERFACE OPRT_CUDA_ARCHITECTURES="${names}")
target_compile_options(oprt_compile_options INTERFACE
  $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra --Wext-lambda-captures-this>
  $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${CMAKE_COMPILE_WARNING_AS_ERROR}>>:-Werror=all-warnings>)
target_link_libraries(oprt_compile_options INTERFACE CUDA::cudart_static)
