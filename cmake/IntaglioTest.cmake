# intaglio_test(NAME SOURCES file... [LIBS target...] [LABELS label...]): a GoogleTest program over
# intaglio::gemm, and one CTest entry that runs it.
#
# Labels with a meaning:
#   threads     of the engine, worth running under the thread sanitizer; `intaglio_tests_threads` builds
#               just these
#   by_kernel   depends on the kernel that is chosen: worth running on every CPU;
#               `intaglio_tests_by_kernel` builds just these
#   one_cpu     runs the same instructions on every CPU of Arm: scripts/test runs it on the least of them
#   exhaustive  minutes under a sanitizer: scripts/test leaves it to the release build by default, and
#               INTAGLIO_EXHAUSTIVE_TESTS=OFF does not build it
#   cuda        of code for the device, emulated: hosts have 64 bits, others do not build it
#   onednn      needs a build with INTAGLIO_ONEDNN
#   onnx        needs the reader of .onnx files: INTAGLIO_NN_ONNX=OFF does not build it
#   models      whole models, which lie in the folder ../shared or $INTAGLIO_SHARED
#   full        many minutes anywhere: scripts/test leaves it to its level of this name
#   compiler    looks at sources and at what the compiler makes of them: the same for every CPU
add_custom_target(intaglio_tests_threads)
add_custom_target(intaglio_tests_by_kernel)

# intaglio_test_headers(NAME [HEADER...]): with INTAGLIO_PRECOMPILED_HEADERS, compiles GoogleTest, what most
# tests include and these headers once, for the tests of this directory and those below it, which are to have
# the same flags.
macro(intaglio_test_headers name)
  if(INTAGLIO_PRECOMPILED_HEADERS)
    file(CONFIGURE OUTPUT ${name}.cc CONTENT "")
    add_library(${name} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
    target_link_libraries(${name} PRIVATE intaglio::gemm GTest::gtest)
    intaglio_compile_options(${name})
    intaglio_precompile(${name} <gtest/gtest.h> <algorithm> <cmath> <cstring> <functional> <memory> <random>
                        <string> <vector> [["intaglio/gemm/gemm.h"]] ${ARGN})
    set(INTAGLIO_TEST_HEADERS ${name})
  endif()
endmacro()

# Marks a test that forks while it has threads, which the thread sanitizer would otherwise refuse.
function(intaglio_test_forks name)
  set_tests_properties(${name} PROPERTIES ENVIRONMENT TSAN_OPTIONS=halt_on_error=1:die_after_fork=0)
endfunction()

function(intaglio_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS;LABELS")
  foreach(file IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
    set_property(GLOBAL APPEND PROPERTY INTAGLIO_TEST_SOURCES ${path})
  endforeach()
  if("exhaustive" IN_LIST arg_LABELS AND NOT INTAGLIO_EXHAUSTIVE_TESTS)
    return()
  endif()
  if("cuda" IN_LIST arg_LABELS AND NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
    return()
  endif()
  if("onnx" IN_LIST arg_LABELS AND NOT INTAGLIO_NN_ONNX)
    return()
  endif()
  if("onednn" IN_LIST arg_LABELS AND NOT INTAGLIO_ONEDNN)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE intaglio::gemm ${arg_LIBS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE INTAGLIO_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  intaglio_compile_options(${name})
  if(INTAGLIO_TEST_HEADERS)
    target_precompile_headers(${name} REUSE_FROM ${INTAGLIO_TEST_HEADERS})
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 600 LABELS "${arg_LABELS}")
  if("exhaustive" IN_LIST arg_LABELS)
    # Started first, it leaves the others the other cores.
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
  foreach(label threads by_kernel)
    if(label IN_LIST arg_LABELS)
      add_dependencies(intaglio_tests_${label} ${name})
    endif()
  endforeach()
endfunction()
