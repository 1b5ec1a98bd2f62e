# Warnings for all targets; errors only where a preset asks for it, never in a user's plain build.
add_library(kvplan_options INTERFACE)
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(kvplan_options INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
                                                  -Wold-style-cast -Wnon-virtual-dtor -Woverloaded-virtual)
  # g++ 12 warns of its own std::string operator+ when it optimises (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(kvplan_options INTERFACE -Wno-restrict)
  endif()
  if(KVPLAN_WERROR)
    target_compile_options(kvplan_options INTERFACE -Werror)
  endif()
  # Paths inside the binary do not depend on where the source lies, so that builds are reproducible.
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    target_compile_options(kvplan_options INTERFACE -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
  endif()
endif()
