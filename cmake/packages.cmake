# Headers that come as Python packages at build time: xsimd and pocketfft (inside pythran), nanobind.
#
# They are copied to a fixed folder of the build tree: pip builds in an isolated environment whose
# path changes each time, which would make ninja and ccache start anew. The copy compares contents,
# so an unchanged header keeps its time stamp.

# Sets `out` to the folder of an installed Python package, without importing it: importing pythran
# takes a second and needs packages that are of no use here.
function(chainerx_find_python_package out name)
    execute_process(
        COMMAND "${Python_EXECUTABLE}" -c
            "import importlib.util as u; s = u.find_spec('${name}'); print(s.submodule_search_locations[0] if s else '')"
        OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    set(${out} "${folder}" PARENT_SCOPE)
endfunction()

function(chainerx_copy_folder from to)
    execute_process(
        COMMAND "${CMAKE_COMMAND}" -E copy_directory_if_different "${from}" "${to}"
        COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(third_party "${PROJECT_BINARY_DIR}/third_party")

# Their licenses ask that they go with the binary: what a header has at its head, ...
function(chainerx_take_license name header)
    file(READ "${header}" text)
    string(REGEX MATCH "^/\\*[^*]*(\\*+[^*/][^*]*)*\\*+/" text "${text}")
    file(WRITE "${third_party}/licenses/LICENSE.${name}" "${text}\n")
    install(FILES "${third_party}/licenses/LICENSE.${name}" DESTINATION "${package_dir}/licenses")
endfunction()
# ... and cmake/licenses/ where it only names one.
function(chainerx_give_license name)
    install(FILES "${PROJECT_SOURCE_DIR}/cmake/licenses/LICENSE.${name}"
        DESTINATION "${package_dir}/licenses")
endfunction()

add_library(chainerx_xsimd INTERFACE)
chainerx_find_python_package(pythran_folder pythran)
if(pythran_folder AND EXISTS "${pythran_folder}/xsimd/xsimd.hpp")
    chainerx_copy_folder("${pythran_folder}/xsimd" "${third_party}/xsimd/include/xsimd")
    target_include_directories(chainerx_xsimd SYSTEM INTERFACE "${third_party}/xsimd/include")
else()
    find_package(xsimd 13 CONFIG)
    if(NOT xsimd_FOUND)
        message(FATAL_ERROR "chainerx: xsimd was not found. Install it for this build with "
            "'pip install pythran' (which brings its headers), or as a system package.")
    endif()
    target_link_libraries(chainerx_xsimd INTERFACE xsimd)
endif()
chainerx_give_license(xsimd)

add_library(chainerx_pocketfft INTERFACE)
set(pocketfft_header "${third_party}/pocketfft/include/pocketfft_hdronly.h")
set(pocketfft_source "${pythran_folder}/pythonic/numpy/fft/pocketfft.hpp")
if(NOT pythran_folder OR NOT EXISTS "${pocketfft_source}")
    find_path(pocketfft_system pocketfft_hdronly.h)
    mark_as_advanced(pocketfft_system)
    if(NOT pocketfft_system)
        message(FATAL_ERROR "chainerx: pocketfft was not found. Install it for this build with "
            "'pip install pythran' (which brings its header), or as a system package.")
    endif()
    set(pocketfft_source "${pocketfft_system}/pocketfft_hdronly.h")
endif()
configure_file("${pocketfft_source}" "${pocketfft_header}" COPYONLY)
target_include_directories(chainerx_pocketfft SYSTEM INTERFACE "${third_party}/pocketfft/include")
chainerx_take_license(pocketfft "${pocketfft_header}")

if(CHAINERX_BUILD_PYTHON)
    chainerx_find_python_package(nanobind_folder nanobind)
    if(NOT nanobind_folder)
        message(FATAL_ERROR "chainerx: nanobind was not found; 'pip install nanobind' brings it.")
    endif()
    foreach(part cmake include src ext)
        chainerx_copy_folder("${nanobind_folder}/${part}" "${third_party}/nanobind/${part}")
    endforeach()
    find_package(nanobind CONFIG REQUIRED NO_DEFAULT_PATH PATHS "${third_party}/nanobind/cmake")
    chainerx_give_license(nanobind)
    chainerx_take_license(robin_map
        "${third_party}/nanobind/ext/robin_map/include/tsl/robin_map.h")
endif()
