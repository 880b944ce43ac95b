# hindsight_embed_text(target file header function): puts a file's bytes into the target, as
# `std::string_view function()` of namespace hindsight, which `header` declares.
function(hindsight_embed_text target file header function)
  set(source ${PROJECT_BINARY_DIR}/generated/${function}.cc)
  set(writer ${PROJECT_SOURCE_DIR}/cmake/WriteText.cmake)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DFILE=${file} -DHEADER=${header} -DFUNCTION=${function} -DSOURCE=${source} -P ${writer}
    DEPENDS ${file} ${writer}
    COMMENT "Embedding ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE ${source})
endfunction()
