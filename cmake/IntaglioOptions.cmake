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
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_SYSTEM_PROCESSOR MATCHES "^arm")
  # Or else g++ notes each argument that its version 7 passed in another way.
  list(APPEND INTAGLIO_COMPILE_OPTIONS -Wno-psabi)
endif()
if(INTAGLIO_WERROR)
  list(APPEND INTAGLIO_COMPILE_OPTIONS -Werror)
endif()

if(INTAGLIO_SANITIZE)
  # For every object, GoogleTest's own aside: a mixed program would miss half of the accesses.
  add_compile_options(-fsanitize=${INTAGLIO_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${INTAGLIO_SANITIZE})
  # For code that may be slower still: to optimize what sanitizers add takes as long as all else.
  if(NOT INTAGLIO_BUILD_FUZZERS)
    set(INTAGLIO_SANITIZED_QUICK_BUILD -O0)
  endif()
  if(INTAGLIO_SANITIZE MATCHES "address")
    # For kernels: to follow the scopes of all that is inlined takes a third of the time to compile one.
    set(INTAGLIO_SANITIZED_KERNEL -fno-sanitize-address-use-after-scope)
  endif()
endif()

# Flags that end the program when it writes past an array, in optimized builds, if the compiler and
# the linker know them. A sanitizer sees more.
option(INTAGLIO_HARDEN "Stack protector, FORTIFY and full RELRO in optimized builds" ON)
set(INTAGLIO_HARDENED_COMPILE "")
set(INTAGLIO_HARDENED_LINK "")
if(INTAGLIO_HARDEN AND NOT INTAGLIO_SANITIZE)
  include(CheckCXXCompilerFlag)
  include(CheckLinkerFlag)
  set(optimized $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
  check_cxx_compiler_flag(-fstack-protector-strong INTAGLIO_HAS_STACK_PROTECTOR)
  if(INTAGLIO_HAS_STACK_PROTECTOR)
    list(APPEND INTAGLIO_HARDENED_COMPILE $<${optimized}:-fstack-protector-strong>)
    # The engine reads no files, and its functions run for a tenth of a microsecond: those without an
    # array of bytes are not guarded.
    set(INTAGLIO_HARDENED_ENGINE $<${optimized}:-fstack-protector>)
    # Inner loops check nothing. They trust their callers.
    set(INTAGLIO_HARDENED_KERNEL $<${optimized}:-fno-stack-protector>)
  endif()
  check_cxx_compiler_flag("-O2;-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2" INTAGLIO_HAS_FORTIFY)
  if(INTAGLIO_HAS_FORTIFY)
    list(APPEND INTAGLIO_HARDENED_COMPILE $<${optimized}:-U_FORTIFY_SOURCE> $<${optimized}:-D_FORTIFY_SOURCE=2>)
  endif()
  check_linker_flag(CXX -Wl,-z,relro,-z,now INTAGLIO_HAS_RELRO)
  if(INTAGLIO_HAS_RELRO)
    list(APPEND INTAGLIO_HARDENED_LINK $<${optimized}:-Wl,-z,relro,-z,now>)
  endif()
endif()

# Flags that this project's code is compiled with, and that no user of a target inherits.
function(intaglio_compile_options target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE
    "$<$<COMPILE_LANGUAGE:CXX>:${INTAGLIO_COMPILE_OPTIONS};${INTAGLIO_HARDENED_COMPILE}>")
  target_link_options(${target} PRIVATE ${INTAGLIO_HARDENED_LINK})
endfunction()

# intaglio_precompile(TARGET HEADER...): headers that most sources of a target include are compiled once.
# Not by default: a source that lacks an #include would go unnoticed.
option(INTAGLIO_PRECOMPILED_HEADERS "Compile common headers once: builds faster, hides a missing #include" OFF)
function(intaglio_precompile target)
  if(INTAGLIO_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# For code that need not be fast, where most of the compile time goes into optimizing headers.
set(INTAGLIO_QUICK_BUILD $<$<CONFIG:Release>:-O1>)
# For tests: -Og compiles faster still, but an emulator would run it slowly.
set(INTAGLIO_TEST_BUILD ${INTAGLIO_QUICK_BUILD})
if(NOT CMAKE_CROSSCOMPILING)
  set(INTAGLIO_TEST_BUILD $<$<CONFIG:Release>:-Og>)
endif()

# intaglio_optimize(LEVEL FILE...): sources of the engine in the calling directory that are no inner loops:
# -O2 for those that small products call, -Os for those that check, describe and prepare.
function(intaglio_optimize level)
  set_property(SOURCE ${ARGN} TARGET_DIRECTORY intaglio_gemm
               APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:${level}>)
  if(level STREQUAL "-Os")
    # g++ takes no headers that it compiled for speed.
    set_source_files_properties(${ARGN} TARGET_DIRECTORY intaglio_gemm PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# A shared library exports what cmake/<target>.exports lists, if the linker takes such a list. The
# backend for GPUs needs more of intaglio_nn than other users. Tests look into the libraries: the
# sanitizers' builds hide nothing, and share the libraries because each test would be 400 MB without.
set(INTAGLIO_HIDES_INTERNALS OFF)
if(BUILD_SHARED_LIBS AND INTAGLIO_CUDA STREQUAL "off" AND NOT INTAGLIO_EXPORT_EVERYTHING)
  include(CheckLinkerFlag)
  check_linker_flag(CXX LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/intaglio_gemm.exports
                    INTAGLIO_LINKER_TAKES_EXPORTS)
  set(INTAGLIO_HIDES_INTERNALS ${INTAGLIO_LINKER_TAKES_EXPORTS})
endif()
function(intaglio_hide_internals target)
  set(exports ${PROJECT_SOURCE_DIR}/cmake/${target}.exports)
  if(INTAGLIO_HIDES_INTERNALS AND EXISTS ${exports})
    target_link_options(${target} PRIVATE LINKER:--version-script=${exports})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${exports})
  endif()
endfunction()

# Where the public headers are, and the language that they need, for who uses a target.
function(intaglio_public_headers target scope)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${INTAGLIO_INCLUDE_ROOT}>
                                                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# What both libraries have in common; they are exported as intaglio::<export_name>.
function(intaglio_library target export_name)
  intaglio_compile_options(${target})
  intaglio_hide_internals(${target})
  intaglio_public_headers(${target} PUBLIC)
  # No DEFINE_SYMBOL: nothing reads it, and shared and static libraries have the same compiled files.
  set_target_properties(${target} PROPERTIES
    EXPORT_NAME ${export_name}
    LINKER_LANGUAGE CXX
    DEFINE_SYMBOL ""
    POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endfunction()

# Finds a package that an option asks for, or says how to go on without it. Where INTAGLIO_<package>_SOURCE
# names a source tree, the package is built from it: for targets that no binary package is made for.
macro(intaglio_find package debian_package option)
  set(INTAGLIO_${package}_SOURCE "" CACHE PATH "Source tree to build ${package} from, instead of finding it")
  if(INTAGLIO_${package}_SOURCE)
    intaglio_build_from_source(${package} ${INTAGLIO_${package}_SOURCE} ${option})
  else()
    find_package(${package} QUIET)
    if(NOT ${package}_FOUND)
      message(FATAL_ERROR "${package} was not found: install ${debian_package} (scripts/setup does), "
                          "or configure with -D${option}=OFF")
    endif()
  endif()
endmacro()

function(intaglio_build_from_source package source option)
  if(NOT EXISTS ${source}/CMakeLists.txt)
    message(FATAL_ERROR "There is no source tree of ${package} in ${source}: scripts/setup_arm brings "
                        "it there; or configure with -D${option}=OFF")
  endif()
  # Quick to build; the loop that times a benchmark is in a header. Libraries alone: neither their tests, nor
  # their programs, nor their install rules.
  set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)
  set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
  foreach(unwanted BUILD_GMOCK INSTALL_GTEST BENCHMARK_ENABLE_TESTING BENCHMARK_ENABLE_GTEST_TESTS
                   BENCHMARK_ENABLE_INSTALL BENCHMARK_ENABLE_WERROR
                   protobuf_BUILD_TESTS protobuf_BUILD_PROTOC_BINARIES protobuf_BUILD_LIBPROTOC
                   protobuf_BUILD_SHARED_LIBS protobuf_INSTALL protobuf_WITH_ZLIB)
    set(${unwanted} OFF)
  endforeach()
  add_subdirectory(${source} ${PROJECT_BINARY_DIR}/dependencies/${package} EXCLUDE_FROM_ALL SYSTEM)
endfunction()
