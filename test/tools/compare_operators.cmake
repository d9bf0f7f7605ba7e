# Fails where the file EXPECTED is not what `INTAGLIO operators` prints.
execute_process(COMMAND ${INTAGLIO} operators OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
file(READ ${EXPECTED} expected)
if(NOT printed STREQUAL expected)
  message(FATAL_ERROR "docs/operators.md is not current: intaglio operators > docs/operators.md")
endif()
