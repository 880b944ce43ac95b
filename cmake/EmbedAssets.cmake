# Puts the reports' style and script into the program.
#
# hindsight_embed_report(target): reads web/report and the chart library of web/node_modules at build time
# and adds a source with their bytes and hashes (src/sim/report_assets.h) to the target.

function(hindsight_embed_report target)
  set(web ${PROJECT_SOURCE_DIR}/web)
  set(uplot ${web}/node_modules/uplot)
  if(NOT EXISTS ${uplot}/dist/uPlot.iife.min.js)
    message(FATAL_ERROR
      "The reports' chart library is not installed (web/node_modules/uplot).\n"
      "Run scripts/build.sh, which fetches it, or: cd web && npm ci --ignore-scripts")
  endif()
  set(styles ${uplot}/dist/uPlot.min.css ${web}/report/report.css)
  set(scripts ${uplot}/dist/uPlot.iife.min.js)
  foreach(name style parts line_chart bar_chart main)
    list(APPEND scripts ${web}/report/${name}.js)
  endforeach()
  set(writer ${PROJECT_SOURCE_DIR}/cmake/WriteAssets.cmake)
  set(folder ${PROJECT_BINARY_DIR}/generated)
  add_custom_command(
    OUTPUT ${folder}/report_assets.cc
    COMMAND ${CMAKE_COMMAND} "-DSTYLES=${styles}" "-DSCRIPTS=${scripts}" -DLICENCE=${uplot}/LICENSE
            -DFOLDER=${folder} -P ${writer}
    DEPENDS ${styles} ${scripts} ${uplot}/LICENSE ${writer}
    COMMENT "Embedding the reports' style and script"
    VERBATIM)
  target_sources(${target} PRIVATE ${folder}/report_assets.cc)
endfunction()
