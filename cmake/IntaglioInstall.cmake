# Install rules: libraries, public headers, the command, the CMake package and pkg-config files.
include(CMakePackageConfigHelpers)

set(libraries intaglio_gemm)
set(modules intaglio)
set(parts gemm)  # of public_headers.txt
if(INTAGLIO_HAS_CUDA)
  list(APPEND libraries intaglio_cuda)
  list(APPEND parts cuda)
endif()
if(INTAGLIO_BUILD_NN AND INTAGLIO_HAS_CUDA)
  list(APPEND libraries intaglio_nn_cuda)
  list(APPEND parts nn_cuda)
endif()
if(INTAGLIO_BUILD_NN)
  list(APPEND libraries intaglio_nn)
  list(APPEND modules intaglio-nn)
  list(APPEND parts nn)
endif()
if(INTAGLIO_BUILD_NN AND INTAGLIO_NN_TFLITE)
  list(APPEND parts tflite)
endif()
set(INTAGLIO_PC_PROTOBUF "")
set(INTAGLIO_PC_OWN_PROTOBUF "")
if(INTAGLIO_BUILD_NN AND INTAGLIO_NN_ONNX)
  list(APPEND parts onnx)
  if(NOT BUILD_SHARED_LIBS AND INTAGLIO_OWN_PROTOBUF)
    install(TARGETS libprotobuf-lite EXPORT intaglio ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    set(INTAGLIO_PC_OWN_PROTOBUF " -lintaglio_protobuf")
  elseif(NOT BUILD_SHARED_LIBS)
    set(INTAGLIO_PC_PROTOBUF ", protobuf-lite")
  endif()
endif()
if(INTAGLIO_BUILD_NN AND INTAGLIO_NN_TUNE)
  list(APPEND parts tune)
endif()
if(INTAGLIO_BUILD_NN AND INTAGLIO_NN_QUANTIZE)
  list(APPEND parts quantize)
endif()
if(INTAGLIO_BUILD_C)
  list(APPEND modules intaglio-c)
  list(APPEND parts c)
endif()

set(public_headers ${PROJECT_SOURCE_DIR}/cmake/public_headers.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public_headers})
list(JOIN parts "|" parts)
file(STRINGS ${public_headers} lines REGEX "^(${parts}) ")
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^[^ ]+ +[^ ]+ +" "" header "${line}")
  cmake_path(GET header PARENT_PATH room)
  if(line MATCHES "^c ")
    set(room "")  # <intaglio/intaglio.h>
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/${header}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/intaglio/${room})
endforeach()

set_target_properties(${libraries} PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS ${libraries} intaglio_headers EXPORT intaglio
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(INTAGLIO_BUILD_C)
  # In a set of its own: a program in C finds it without the packages that the static libraries need.
  if(BUILD_SHARED_LIBS)
    set_target_properties(intaglio_c PROPERTIES INSTALL_RPATH "$ORIGIN")
  endif()
  install(TARGETS intaglio_c EXPORT intaglio_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET intaglio)
  if(BUILD_SHARED_LIBS)
    file(RELATIVE_PATH to_libraries /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
    set_target_properties(intaglio PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  endif()
  install(TARGETS intaglio RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/intaglio)
install(EXPORT intaglio NAMESPACE intaglio:: FILE intaglioTargets.cmake
  DESTINATION ${package_directory})
if(INTAGLIO_BUILD_C)
  install(EXPORT intaglio_c NAMESPACE intaglio:: FILE intaglioCTargets.cmake
    DESTINATION ${package_directory})
endif()
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/intaglioConfig.cmake.in
  ${PROJECT_BINARY_DIR}/intaglioConfig.cmake INSTALL_DESTINATION ${package_directory})
# Before 1.0 a minor version may break what stood before.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/intaglioConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/intaglioConfig.cmake
              ${PROJECT_BINARY_DIR}/intaglioConfigVersion.cmake
  DESTINATION ${package_directory})

# The prefix follows from where the .pc file lies, so that an installed tree can be moved.
file(RELATIVE_PATH INTAGLIO_PC_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
cmake_path(NORMAL_PATH INTAGLIO_PC_PREFIX)
foreach(module IN LISTS modules)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/${module}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${module}.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
