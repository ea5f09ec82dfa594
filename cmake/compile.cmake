# How everything of ours is compiled. No -march=native, no -ffast-math: one binary for every x86-64, and IEEE results.
add_library(oprt_compile_options INTERFACE)
target_compile_features(oprt_compile_options INTERFACE c_std_11 cxx_std_20)
target_include_directories(oprt_compile_options INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${oprt_generated_dir} ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_compile_options(oprt_compile_options INTERFACE
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno -fno-trapping-math>)

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(OPRT_SANITIZE)
  add_compile_options(-fsanitize=${OPRT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  add_link_options(-fsanitize=${OPRT_SANITIZE})
endif()
