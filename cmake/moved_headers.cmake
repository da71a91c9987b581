# Headers at the paths that they had before the sources moved into rooms: for one release, programs
# and plug-ins that include them compile unchanged. moved_headers.txt has a line "old new" for each.
# It leaves out native/: what is declared there is private to the CPU backend and has other names
# now, but for native/native_backend.h, which did not move.

set(moved_headers "${CMAKE_CURRENT_LIST_DIR}/moved_headers.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${moved_headers}")
file(STRINGS "${moved_headers}" lines)
foreach(line IN LISTS lines)
    string(REPLACE " " ";" paths "${line}")
    list(GET paths 0 old)
    list(GET paths 1 new)
    file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/moved_headers/chainerx/${old}" CONTENT
        "// Moved; this path goes with the next release.\n#include \"chainerx/${new}\"\n" @ONLY)
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/moved_headers/chainerx"
    DESTINATION ${package_dir}/include)
