# kvplan_embed(<target> <folder>): every <folder>/**/data/*.json becomes part of the target, reached by
# embedded_file("models/llm/data/x.json") of models/embedded.hpp. The generated source is written at build time.
function(kvplan_embed target folder)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${folder}/*.json)
  list(FILTER files INCLUDE REGEX "/data/[^/]+\\.json$")
  list(SORT files)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}_data.cpp)
  list(JOIN files "|" joined)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} "-DFILES=${joined}" -DROOT=${CMAKE_SOURCE_DIR}
            -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${files} ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    VERBATIM)
  # One literal a file is longer than the standard's guaranteed minimum; g++ and clang take it.
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  target_sources(${target} PRIVATE ${output})
endfunction()
