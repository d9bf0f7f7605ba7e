# Protocol Buffers: its compiler runs at build time, and its small library, protobuf-lite, is linked.

find_package(Protobuf QUIET)
if(NOT TARGET protobuf::libprotobuf-lite OR NOT TARGET protobuf::protoc)
  message(FATAL_ERROR "Protocol Buffers were not found: install protobuf-compiler and libprotobuf-dev "
                      "(scripts/setup does), or configure with -DINTAGLIO_NN_ONNX=OFF")
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
