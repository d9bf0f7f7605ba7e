# How this project's own code is found and compiled.

# A source file includes "intaglio/<room>/<header>.h", in this tree as in an installed one: the build
# tree's include root holds one link, intaglio -> the source directory. Headers made at build time lie
# under a second root, in the same form.
set(INTAGLIO_INCLUDE_ROOT ${PROJECT_BINARY_DIR}/include)
set(INTAGLIO_GENERATED_ROOT ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${INTAGLIO_INCLUDE_ROOT} ${INTAGLIO_GENERATED_ROOT})
file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${INTAGLIO_INCLUDE_ROOT}/intaglio SYMBOLIC)

# Fused multiply-add rounds once where a multiplication and an addition round twice, so letting the
# compiler contract would give bits that depend on the instruction set.
set(INTAGLIO_COMPILE_OPTIONS -Wall -Wextra -Wconversion -ffp-contract=off)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlapping copies in the sum of a literal and a std::string (GCC bug 105651).
  list(APPEND INTAGLIO_COMPILE_OPTIONS -Wno-restrict)
endif()
if(INTAGLIO_WERROR)
  list(APPEND INTAGLIO_COMPILE_OPTIONS -Werror)
endif()

if(INTAGLIO_SANITIZE)
  # For every object, GoogleTest's own aside: a mixed program would miss half of the accesses.
  add_compile_options(-fsanitize=${INTAGLIO_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${INTAGLIO_SANITIZE})
endif()

# Flags that this project's code is compiled with, and that no user of a target inherits.
function(intaglio_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:${INTAGLIO_COMPILE_OPTIONS}>")
endfunction()

# What both libraries have in common; they are exported as intaglio::<export_name>.
function(intaglio_library target export_name)
  intaglio_compile_options(${target})
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${INTAGLIO_INCLUDE_ROOT}>
                                              $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${export_name}
    LINKER_LANGUAGE CXX
    POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# Finds a package that an option asks for, or says how to go on without it.
macro(intaglio_find package debian_package option)
  find_package(${package} QUIET)
  if(NOT ${package}_FOUND)
    message(FATAL_ERROR "${package} was not found: install ${debian_package} (scripts/setup does), "
                        "or configure with -D${option}=OFF")
  endif()
endmacro()
