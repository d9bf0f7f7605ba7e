# oneDNN 2.x or 3.x. Debian's package file (libdnnl-dev) insists on OpenCL, so header and library are found by
# their names, as bench/peers does.
find_path(INTAGLIO_dnnl_INCLUDE oneapi/dnnl/dnnl.hpp)
find_library(INTAGLIO_dnnl_dnnl dnnl)
if(NOT INTAGLIO_dnnl_INCLUDE OR NOT INTAGLIO_dnnl_dnnl)
  message(FATAL_ERROR "INTAGLIO_ONEDNN: oneDNN was not found: install libdnnl-dev, or name it by "
                      "-DINTAGLIO_dnnl_INCLUDE=<folder> and -DINTAGLIO_dnnl_dnnl=<library>")
endif()

# intaglio_link_onednn(TARGET FILE): for the one source that includes its headers.
function(intaglio_link_onednn target file)
  if(NOT INTAGLIO_dnnl_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    set_source_files_properties(${file} TARGET_DIRECTORY ${target} PROPERTIES
                                COMPILE_OPTIONS -isystem${INTAGLIO_dnnl_INCLUDE})
  endif()
  target_link_libraries(${target} PRIVATE ${INTAGLIO_dnnl_dnnl})
endfunction()
