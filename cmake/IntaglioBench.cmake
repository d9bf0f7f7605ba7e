# intaglio_bench(NAME SOURCES file... [LIBS target...]): a Google Benchmark program over intaglio::gemm.
function(intaglio_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE intaglio::gemm ${arg_LIBS} benchmark::benchmark)
  intaglio_compile_options(${name})
endfunction()
