# Unity builds (CHAINERX_UNITY): up to 8 sources of a folder are compiled as one, since most of the
# work on a small source is to read its headers. So names in unnamed namespaces of a folder differ.

# Sources that are large by themselves, or that give the same names to other things than their
# neighbours do: by a table which they expand, or by the two directions of a normalization.
set(lone_pattern
    "/python/engine/"
    "/(ops/elementwise/tables|bindings/elementwise|families)/"
    "/native/(norm/|linalg/factor\\.)")
list(JOIN lone_pattern "|" lone_pattern)

function(chainerx_unite target)
    if(NOT CHAINERX_UNITY)
        return()
    endif()
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources EXCLUDE REGEX "${lone_pattern}")
    list(FILTER sources INCLUDE REGEX "/chainerx/.*\\.cc$")
    list(SORT sources)
    set(folder "")
    foreach(source IN LISTS sources)
        get_filename_component(source_folder "${source}" DIRECTORY)
        if(NOT source_folder STREQUAL folder)
            set(folder "${source_folder}")
            file(RELATIVE_PATH name "${CMAKE_CURRENT_SOURCE_DIR}/chainerx" "${folder}")
            string(REPLACE "/" "_" name "${name}")
            set(count 0)
        endif()
        math(EXPR batch "${count} / 8")
        math(EXPR count "${count} + 1")
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${name}_${batch}")
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # What is unnamed in one source is seen by no other, even if GCC thinks it included.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
