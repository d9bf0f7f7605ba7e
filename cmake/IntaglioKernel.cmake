# Kernel files. Every kernel is compiled into the one library, each with the flags of its own
# instruction set and nothing else with them, so that one binary serves every CPU.
#
# The suffix of a file's name is its instruction set: kernels/x86/int8_avx2.cc, registers_avx2.h.

include(CheckCXXCompilerFlag)

# `_scalar` is plain C++.
set(INTAGLIO_FLAGS_scalar)
set(INTAGLIO_ISAS sse41 avx2 avxvnni avx512 avx512vnni avx512vbmi amx)
set(INTAGLIO_FLAGS_sse41 -msse4.1)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # What should know a constant is a template here: copies that g++ makes of its own accord are a tenth
  # of the code and no faster.
  list(APPEND INTAGLIO_FLAGS_sse41 -fno-ipa-cp-clone)
endif()
set(INTAGLIO_FLAGS_avx2 ${INTAGLIO_FLAGS_sse41} -mavx2 -mfma)
set(INTAGLIO_FLAGS_avxvnni ${INTAGLIO_FLAGS_avx2} -mavxvnni)
set(INTAGLIO_FLAGS_avx512 ${INTAGLIO_FLAGS_avx2} -mavx512f -mavx512bw -mavx512dq -mavx512vl)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12's own AVX-512 header starts results from a variable that it leaves uninitialized on purpose.
  list(APPEND INTAGLIO_FLAGS_avx512 -Wno-maybe-uninitialized)
endif()
set(INTAGLIO_FLAGS_avx512vnni ${INTAGLIO_FLAGS_avx512} -mavx512vnni)
set(INTAGLIO_FLAGS_avx512vbmi ${INTAGLIO_FLAGS_avx512} -mavx512vbmi)
set(INTAGLIO_FLAGS_amx ${INTAGLIO_FLAGS_avx512vnni} -mamx-tile -mamx-int8)
# Addresses of tiles stay out of vector registers, where they would wait for the epilogue. The option
# is g++'s, which may drop it in some version: it makes no difference but in speed.
set(apart -mtune-ctrl=^general_regs_sse_spill,^inter_unit_moves_to_vec,^inter_unit_moves_from_vec)
check_cxx_compiler_flag("${apart}" INTAGLIO_KEEPS_ADDRESSES_APART)
if(INTAGLIO_KEEPS_ADDRESSES_APART)
  list(APPEND INTAGLIO_FLAGS_amx -fno-tree-slp-vectorize ${apart})
endif()
unset(apart)

# Arm: `_neon` is the baseline of AArch64, and asked for on 32-bit Arm; the others are of AArch64 only.
list(APPEND INTAGLIO_ISAS neon)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64)$")
  list(APPEND INTAGLIO_ISAS dotprod i8mm)
  set(INTAGLIO_FLAGS_neon)
else()
  set(INTAGLIO_FLAGS_neon -march=armv7-a+simd)
endif()
set(INTAGLIO_FLAGS_dotprod -march=armv8.2-a+dotprod)
set(INTAGLIO_FLAGS_i8mm -march=armv8.2-a+dotprod+i8mm)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(INTAGLIO_ARCH x86)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64|ARM64|arm|armv7.*|armv8l)$")
  set(INTAGLIO_ARCH arm)
else()
  set(INTAGLIO_ARCH none)
endif()

# intaglio_kernel(FILE [flag...]): lists a kernel of the calling directory, and compiles it into the
# engine, with these flags, where the directory is the target's architecture or `reference`.
function(intaglio_kernel file)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
  set_property(GLOBAL APPEND PROPERTY INTAGLIO_KERNELS ${path})
  cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME directory)
  if(NOT directory MATCHES "^(${INTAGLIO_ARCH}|reference)$")
    return()
  endif()
  target_sources(intaglio_gemm PRIVATE ${path})
  # Its flags are its own.
  set_source_files_properties(${path} TARGET_DIRECTORY intaglio_gemm PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  set_source_files_properties(${path} TARGET_DIRECTORY intaglio_gemm PROPERTIES
    COMPILE_OPTIONS "${ARGN};${INTAGLIO_SANITIZED_KERNEL};${INTAGLIO_HARDENED_KERNEL}")
  if(ARGN)
    cmake_path(GET path FILENAME name)
    set_property(GLOBAL APPEND PROPERTY INTAGLIO_ISA_KERNELS ${directory}/${name})
  endif()
endfunction()

# intaglio_kernels(ISA...): intaglio_kernel for each *_<isa>.cc of the calling directory, so that a new
# kernel needs no line in a CMakeLists.txt.
function(intaglio_kernels)
  foreach(isa IN LISTS ARGN)
    file(GLOB files CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_${isa}.cc)
    foreach(file IN LISTS files)
      intaglio_kernel(${file} ${INTAGLIO_FLAGS_${isa}})
    endforeach()
  endforeach()
endfunction()
