# Writes OUTPUT: the bytes of FONT as a string literal.
file(READ ${FONT} content HEX)
string(LENGTH "${content}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" escaped "${content}")
file(WRITE ${OUTPUT} "#include \"charts/embedded_font.hpp\"\n\nnamespace kvplan::charts {\n\nstd::string_view embedded_font() {\n    static constexpr char kFont[] =\n        \"${escaped}\";\n    return {kFont, ${size}};\n}\n\n}  // namespace kvplan::charts\n")
