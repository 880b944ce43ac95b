# Puts the console, and the reports' style and script, into the program.
#
# hindsight_embed_report(target): the reports' script and style, as src/sim/report_assets.h declares them.
# hindsight_embed_console(target): the console's files, as src/server/assets.h declares them.
#
# Both are built by Vite from web/, after a check of all types, whenever one of their sources has changed.

set(web ${PROJECT_SOURCE_DIR}/web)
set(web_tools ${web}/node_modules)
set(web_output ${PROJECT_BINARY_DIR}/generated)
find_program(NODE_PROGRAM node REQUIRED)
foreach(tool uplot/dist/uPlot.esm.js vite/bin/vite.js typescript/bin/tsc)
  if(NOT EXISTS ${web_tools}/${tool})
    message(FATAL_ERROR
      "A package of web/ is not installed (web/node_modules/${tool}).\n"
      "Run scripts/build.sh, which fetches all of them, or: cd web && npm ci --ignore-scripts")
  endif()
endforeach()
file(GLOB_RECURSE web_sources CONFIGURE_DEPENDS
  ${web}/console/* ${web}/report/* ${web}/shared/* ${web}/*.config.js ${web}/tsconfig.json ${web}/package-lock.json)

add_custom_command(
  OUTPUT ${web_output}/web_types.stamp
  COMMAND ${NODE_PROGRAM} ${web_tools}/typescript/bin/tsc --noEmit -p ${web}/tsconfig.json
  COMMAND ${CMAKE_COMMAND} -E touch ${web_output}/web_types.stamp
  DEPENDS ${web_sources}
  COMMENT "Checking the types of web/"
  VERBATIM)
add_custom_target(web_types DEPENDS ${web_output}/web_types.stamp)

# web_build(folder config outputs...): runs Vite with one of its configurations, into a folder of the build.
function(web_build folder config)
  add_custom_command(
    OUTPUT ${ARGN}
    COMMAND ${NODE_PROGRAM} ${web_tools}/vite/bin/vite.js build --config ${config} --configLoader runner
            --outDir ${folder} --logLevel warn
    DEPENDS ${web_sources} ${web_output}/web_types.stamp
    WORKING_DIRECTORY ${web}
    COMMENT "Building web/ with ${config}"
    VERBATIM)
endfunction()

function(hindsight_embed_report target)
  set(styles ${web_tools}/uplot/dist/uPlot.min.css ${web}/shared/tokens.css ${web}/shared/charts.css
      ${web}/report/report.css)
  set(script ${web_output}/report/report.js)
  web_build(${web_output}/report vite.report.config.js ${script})
  set(writer ${PROJECT_SOURCE_DIR}/cmake/WriteAssets.cmake)
  set(licence ${web_tools}/uplot/LICENSE)
  add_custom_command(
    OUTPUT ${web_output}/report_assets.cc
    COMMAND ${CMAKE_COMMAND} "-DSTYLES=${styles}" -DSCRIPTS=${script} -DLICENCE=${licence} -DFOLDER=${web_output}
            -P ${writer}
    DEPENDS ${styles} ${script} ${licence} ${writer}
    COMMENT "Embedding the reports' style and script"
    VERBATIM)
  target_sources(${target} PRIVATE ${web_output}/report_assets.cc)
  add_dependencies(${target} web_types)
endfunction()

function(hindsight_embed_console target)
  set(page ${web_output}/console/index.html)
  web_build(${web_output}/console vite.config.js ${page})
  set(writer ${PROJECT_SOURCE_DIR}/cmake/WriteConsole.cmake)
  add_custom_command(
    OUTPUT ${web_output}/console_assets.cc
    COMMAND ${CMAKE_COMMAND} -DFOLDER=${web_output}/console -DSOURCE=${web_output}/console_assets.cc -P ${writer}
    DEPENDS ${page} ${writer}
    COMMENT "Embedding the console"
    VERBATIM)
  target_sources(${target} PRIVATE ${web_output}/console_assets.cc)
  add_dependencies(${target} web_types)
endfunction()
