# Protocol Buffers: its compiler runs at build time, and its small library, protobuf-lite, is linked. Where
# INTAGLIO_Protobuf_SOURCE names a source tree, the library is built from it and installed beside ours. The
# compiler is always one of the build machine.

intaglio_find(Protobuf "protobuf-compiler and libprotobuf-dev" INTAGLIO_NN_ONNX)
set(INTAGLIO_OWN_PROTOBUF OFF)
if(INTAGLIO_Protobuf_SOURCE)
  set(INTAGLIO_OWN_PROTOBUF ON)
  find_program(INTAGLIO_PROTOC protoc)
  mark_as_advanced(INTAGLIO_PROTOC)
  if(NOT INTAGLIO_PROTOC)
    message(FATAL_ERROR "The compiler of Protocol Buffers was not found: install protobuf-compiler "
                        "(scripts/setup does), or configure with -DINTAGLIO_NN_ONNX=OFF")
  endif()
  # What another version of the compiler makes does not build with this library.
  execute_process(COMMAND ${INTAGLIO_PROTOC} --version OUTPUT_VARIABLE compiler OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_directory_property(version DIRECTORY ${INTAGLIO_Protobuf_SOURCE} DEFINITION protobuf_VERSION)
  string(REGEX REPLACE "^[^0-9]+" "" compiler "${compiler}")
  string(REGEX REPLACE "^([0-9]+\\.[0-9]+\\.[0-9]+).*" "\\1" version "${version}")
  if(NOT compiler VERSION_EQUAL version)
    message(FATAL_ERROR "${INTAGLIO_PROTOC} has version '${compiler}' and ${INTAGLIO_Protobuf_SOURCE} '${version}': "
                        "both must be the same; or configure with -DINTAGLIO_NN_ONNX=OFF")
  endif()
  add_executable(protobuf::protoc IMPORTED)
  set_target_properties(protobuf::protoc PROPERTIES IMPORTED_LOCATION ${INTAGLIO_PROTOC})
  target_compile_options(libprotobuf-lite PRIVATE -O2 -w)
  set_target_properties(libprotobuf-lite PROPERTIES
    EXPORT_NAME protobuf
    OUTPUT_NAME intaglio_protobuf
    POSITION_INDEPENDENT_CODE ON
    INTERFACE_INCLUDE_DIRECTORIES $<BUILD_INTERFACE:${INTAGLIO_Protobuf_SOURCE}/src>)
elseif(NOT TARGET protobuf::libprotobuf-lite OR NOT TARGET protobuf::protoc)
  message(FATAL_ERROR "Protocol Buffers lack protobuf-lite or the compiler: install protobuf-compiler and "
                      "libprotobuf-dev (scripts/setup does), or configure with -DINTAGLIO_NN_ONNX=OFF")
endif()

# intaglio_protobuf(TARGET SCHEMA): <room>/x.proto of the calling room gives
# "intaglio/<room>/x.pb.h", made before TARGET is compiled, and the functions behind it. They are
# compiled apart, because our warnings are not for them.
function(intaglio_protobuf target schema)
  cmake_path(ABSOLUTE_PATH schema BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE input)
  cmake_path(RELATIVE_PATH input BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE relative)
  cmake_path(GET relative PARENT_PATH room)
  cmake_path(GET relative STEM stem)
  set(directory ${INTAGLIO_GENERATED_ROOT}/intaglio/${room})
  file(MAKE_DIRECTORY ${directory})
  add_custom_command(
    OUTPUT ${directory}/${stem}.pb.h ${directory}/${stem}.pb.cc
    COMMAND protobuf::protoc --cpp_out=${directory} --proto_path=${CMAKE_CURRENT_SOURCE_DIR} ${input}
    DEPENDS ${input}
    COMMENT "protoc ${relative}"
    VERBATIM)
  set(objects ${target}_${stem})
  add_library(${objects} OBJECT ${directory}/${stem}.pb.cc)
  target_compile_options(${objects} PRIVATE -w)
  target_link_libraries(${objects} PUBLIC protobuf::libprotobuf-lite)
  set_target_properties(${objects} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(NOT INTAGLIO_EXPORT_EVERYTHING)
    set_target_properties(${objects} PROPERTIES CXX_VISIBILITY_PRESET hidden)
  endif()
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  add_dependencies(${target} ${objects})
  # Only TARGET's own sources see the headers.
  target_include_directories(${target} SYSTEM PRIVATE ${INTAGLIO_GENERATED_ROOT})
  target_link_libraries(${target} PRIVATE protobuf::libprotobuf-lite)
endfunction()
