# CMake reads this before it picks a generator: Ninja (requirements.txt brings it) where there is no make.
find_program(OPRT_MAKE_PROGRAM NAMES gmake make)
mark_as_advanced(OPRT_MAKE_PROGRAM)
if(NOT OPRT_MAKE_PROGRAM AND NOT CMAKE_GENERATOR AND NOT DEFINED ENV{CMAKE_GENERATOR})
  set(CMAKE_GENERATOR Ninja CACHE INTERNAL "")
endif()
