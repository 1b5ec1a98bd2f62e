if(KVPLAN_SANITIZE)
  add_compile_options(-fsanitize=${KVPLAN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KVPLAN_SANITIZE})
endif()
