# The program chainerx-run. Under scikit-build-core it goes where the wheel's scripts go, so that pip
# puts it on PATH: a launcher in Python would take 20 ms. From there it finds the libraries by the
# path that leads from scripts to packages in all layouts of Python: an environment, one of lib64,
# Debian's own, and `pip install --target`. Else it goes beside the libraries.

file(GLOB runner_sources CONFIGURE_DEPENDS "chainerx/run/*.cc")
add_executable(chainerx_run ${runner_sources})
set_target_properties(chainerx_run PROPERTIES OUTPUT_NAME chainerx-run)
target_include_directories(chainerx_run PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_definitions(chainerx_run PRIVATE CHAINERX_VERSION="${CHAINERX_VERSION}")
target_compile_options(chainerx_run PRIVATE ${cold_level})
target_link_libraries(chainerx_run PRIVATE chainerx_flags chainerx_onnx)

if(DEFINED SKBUILD_SCRIPTS_DIR)
    set(runner_dir "${SKBUILD_SCRIPTS_DIR}")
    set(version "python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}")
    set(runner_rpath)
    foreach(packages "../lib/${version}/site-packages" "../lib64/${version}/site-packages"
            "../lib/${version}/dist-packages" "../lib/python3/dist-packages" "..")
        list(APPEND runner_rpath "$ORIGIN/${packages}/${package_dir}/lib")
    endforeach()
else()
    set(runner_dir "${package_dir}/bin")
    set(runner_rpath "$ORIGIN/../lib")
endif()
set_target_properties(chainerx_run PROPERTIES
    INSTALL_RPATH "${runner_rpath}" BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS chainerx_run RUNTIME DESTINATION "${runner_dir}")
if(CHAINERX_INPLACE)
    set_target_properties(chainerx_run PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${inplace_dir}/bin")
endif()
