# kvplan_font(<target>): charts write text with DejaVu Sans, which becomes part of the program, and stb draws it.
find_path(KVPLAN_STB_INCLUDE_DIR stb_truetype.h PATH_SUFFIXES stb REQUIRED)
find_library(KVPLAN_STB_LIBRARY stb REQUIRED)
find_path(KVPLAN_FONT_DIR DejaVuSans.ttf PATHS /usr/share/fonts/truetype/dejavu /usr/share/fonts/TTF /usr/share/fonts/dejavu-sans-fonts NO_DEFAULT_PATH REQUIRED)

function(kvplan_font target)
  set(output ${CMAKE_BINARY_DIR}/embedded/charts_font.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DFONT=${KVPLAN_FONT_DIR}/DejaVuSans.ttf -DOUTPUT=${output} -P ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedFont.cmake
    DEPENDS ${KVPLAN_FONT_DIR}/DejaVuSans.ttf ${CMAKE_CURRENT_SOURCE_DIR}/cmake/EmbedFont.cmake
    COMMENT "Generating embedded/charts_font.cpp"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS "-Wno-overlength-strings;-O0")
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} SYSTEM PRIVATE ${KVPLAN_STB_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE ${KVPLAN_STB_LIBRARY})
endfunction()
