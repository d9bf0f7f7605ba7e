# FlatBuffers: its compiler runs at build time; of the library only headers are used, so nothing that
# links intaglio::nn has to have it.

find_program(INTAGLIO_FLATC flatc)
find_path(INTAGLIO_FLATBUFFERS_INCLUDE flatbuffers/flatbuffers.h)
mark_as_advanced(INTAGLIO_FLATC INTAGLIO_FLATBUFFERS_INCLUDE)
if(NOT INTAGLIO_FLATC OR NOT INTAGLIO_FLATBUFFERS_INCLUDE)
  message(FATAL_ERROR "FlatBuffers was not found: install flatbuffers-compiler and libflatbuffers-dev "
                      "(scripts/setup does), or configure with -DINTAGLIO_NN_TFLITE=OFF or -DINTAGLIO_BUILD_NN=OFF")
endif()

# A target that includes what intaglio_flatbuffers made links this.
add_library(intaglio_flatbuffers INTERFACE)
target_include_directories(intaglio_flatbuffers SYSTEM INTERFACE
  ${INTAGLIO_GENERATED_ROOT} ${INTAGLIO_FLATBUFFERS_INCLUDE})
# Or else its conversions of text ask for a locale, which lies in its library.
target_compile_definitions(intaglio_flatbuffers INTERFACE FLATBUFFERS_LOCALE_INDEPENDENT=0)

# intaglio_flatbuffers(TARGET SCHEMA [flatc option...]): <room>/x.fbs of the calling room gives
# "intaglio/<room>/x_generated.h", made before TARGET is compiled. Only TARGET's own sources see it;
# another target links intaglio_flatbuffers privately as well.
function(intaglio_flatbuffers target schema)
  cmake_path(ABSOLUTE_PATH schema BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE input)
  cmake_path(RELATIVE_PATH input BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE relative)
  cmake_path(GET relative PARENT_PATH room)
  cmake_path(GET relative STEM stem)
  set(directory ${INTAGLIO_GENERATED_ROOT}/intaglio/${room})
  set(output ${directory}/${stem}_generated.h)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${INTAGLIO_FLATC} --cpp ${ARGN} -o ${directory} ${input}
    DEPENDS ${input}
    COMMENT "flatc ${relative}"
    VERBATIM)
  # A custom target, because a command's output is a known file only in its own directory, which need
  # not be where TARGET was made.
  add_custom_target(${target}_${stem} DEPENDS ${output})
  add_dependencies(${target} ${target}_${stem})
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:intaglio_flatbuffers>)
endfunction()
