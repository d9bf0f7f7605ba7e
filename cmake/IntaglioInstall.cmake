# Install rules: libraries, public headers, the command, the CMake package and pkg-config files.
include(CMakePackageConfigHelpers)

set(targets intaglio_gemm)
set(modules intaglio)
set(headers fixedpoint/*.h pipeline/*.h gemm/gemm.h gemm/context.h gemm/depthwise.h gemm/describe.h
    gemm/gemm_plan.h)
if(INTAGLIO_HAS_CUDA)
  list(APPEND targets intaglio_cuda)
  list(APPEND headers gemm/cuda/gemm.h gemm/cuda/gemm.cuh)
endif()
if(INTAGLIO_BUILD_NN AND INTAGLIO_HAS_CUDA)
  list(APPEND targets intaglio_nn_cuda)
  list(APPEND headers nn/cuda/backend.h)
endif()
if(INTAGLIO_BUILD_NN)
  list(APPEND targets intaglio_nn)
  list(APPEND modules intaglio-nn)
  list(APPEND headers nn/runtime/model.h nn/ops/builder.h nn/passes/infer_shapes.h nn/passes/integer_only.h
       nn/passes/partition.h nn/formats/tflite/writer.h nn/formats/tflite/reader.h)
endif()

# The entry points of the public interface; what they include is found when installing.
install(CODE "
  set(SOURCE \"${PROJECT_SOURCE_DIR}\")
  set(HEADERS \"${headers}\")
  set(DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_INCLUDEDIR}/intaglio\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/InstallHeaders.cmake\")")

set_target_properties(${targets} PROPERTIES INSTALL_RPATH "$ORIGIN")
install(TARGETS ${targets} EXPORT intaglio
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET intaglio)
  if(BUILD_SHARED_LIBS)
    file(RELATIVE_PATH libraries /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
    set_target_properties(intaglio PROPERTIES INSTALL_RPATH "$ORIGIN/${libraries}")
  endif()
  install(TARGETS intaglio RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/intaglio)
install(EXPORT intaglio NAMESPACE intaglio:: FILE intaglioTargets.cmake
  DESTINATION ${package_directory})
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
