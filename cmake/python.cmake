# The Python module <build>/python/_native.*.so, and a stamp of the headers and bindings that it was built from.
set(Python_FIND_UNVERSIONED_NAMES FIRST)  # the `python` of an active virtual environment
find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
if(NOT Python_Interpreter_FOUND)
  message(FATAL_ERROR "There is no Python 3.10 or newer here. Install it, or build without Python:\n  cmake .. -DCAMP_BUILD_PYTHON=OFF")
elseif(NOT Python_Development.Module_FOUND)
  message(FATAL_ERROR
    "${Python_EXECUTABLE} has no headers. Install them, or build without Python:\n"
    "  apt-get install python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}-dev (Debian, Ubuntu); dnf install python3-devel (Fedora)\n"
    "  cmake .. -DCAMP_BUILD_PYTHON=OFF")
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
if(failed)
  message(FATAL_ERROR
    "${Python_EXECUTABLE} has no nanobind. Install it in a virtual environment, or build without Python:\n"
    "  python3 -m venv ~/oprt_venv && . ~/oprt_venv/bin/activate && pip install -r requirements.txt\n"
    "  cmake .. -DCAMP_BUILD_PYTHON=OFF")
endif()
find_package(nanobind CONFIG REQUIRED)

# What stamp.py hashes: a change of any of it is a new stamp, so it is a new module too.
file(GLOB stamped CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/operator_runtime/*.h ${PROJECT_SOURCE_DIR}/include/operator_runtime/ops/*.h
  ${PROJECT_SOURCE_DIR}/python/native/*.h ${PROJECT_SOURCE_DIR}/python/native/*.cc ${PROJECT_SOURCE_DIR}/ops/*/python.cc)
file(GLOB native_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/native/*.cc)
nanobind_add_module(_native NB_STATIC NB_DOMAIN operator_runtime NB_SUPPRESS_WARNINGS
  ${native_sources} ${oprt_binding_sources} ${oprt_generated_dir}/bind_ops.cc)
target_include_directories(_native PRIVATE ${PROJECT_SOURCE_DIR}/python)
target_link_libraries(_native PRIVATE oprt_compile_options operator_runtime)
set_target_properties(_native PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python
  LINK_DEPENDS "${stamped}")
add_custom_command(TARGET _native POST_BUILD
  COMMAND ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/python/operator_runtime/_internal/stamp.py
    ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/python/_native.stamp)
