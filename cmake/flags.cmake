# Compiler flags that every target of the project shares, as the interface target chainerx_flags.

add_library(chainerx_flags INTERFACE)
target_compile_features(chainerx_flags INTERFACE cxx_std_20)
target_compile_options(chainerx_flags INTERFACE
    # A result must not depend on which of two equal expressions the compiler fuses, nor may an
    # overflow of an integer array be undefined.
    -fwrapv -ffp-contract=off
    -fvisibility=hidden -fvisibility-inlines-hidden
    # All calls inside the library are direct; calls out of it skip the lazy stub.
    -fno-semantic-interposition -fno-plt
    -Wall -Wextra
    # Conditions in loops are joined by & and |, without branches, so that they can be vectorized.
    $<$<CXX_COMPILER_ID:Clang>:-Wno-bitwise-instead-of-logical>
    # GCC 11 takes a product of bools for a mistake.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,12>>:-Wno-int-in-bool-context>
    $<$<BOOL:${CHAINERX_WARNINGS_AS_ERRORS}>:-Werror>)
set_target_properties(chainerx_flags PROPERTIES INTERFACE_POSITION_INDEPENDENT_CODE ON)

# -O2 is CMake's own default for some configurations; the integer kernels rely on the vectorizer.
string(REPLACE "-O2" "-O3" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")

# One load instead of a call per access to the thread-local state. Not for programs that link us:
# the model is a property of where the variable is defined.
add_library(chainerx_tls INTERFACE)
target_compile_options(chainerx_tls INTERFACE -ftls-model=initial-exec)

if(CHAINERX_SANITIZE)
    # -O1 takes half of the time of -O3 to build.
    # vptr checks need type information that hidden visibility keeps apart between libraries.
    set(sanitize -O1 "-fsanitize=${CHAINERX_SANITIZE}" -fno-sanitize-recover=undefined
        -fno-omit-frame-pointer -g1)
    if(CHAINERX_SANITIZE MATCHES "undefined")
        list(APPEND sanitize -fno-sanitize=vptr)
    endif()
    target_compile_options(chainerx_flags INTERFACE ${sanitize})
    target_link_options(chainerx_flags INTERFACE ${sanitize})
endif()

find_program(CHAINERX_CCACHE ccache)
find_program(CHAINERX_MOLD mold)
mark_as_advanced(CHAINERX_CCACHE CHAINERX_MOLD)
if(CHAINERX_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER "${CHAINERX_CCACHE}")
endif()
if(CHAINERX_MOLD)
    target_link_options(chainerx_flags INTERFACE -fuse-ld=mold)
endif()

# Another version of libstdc++ may be in the process, while ours is linked statically (-static-libstdc++,
# or a compiler that has no shared one): neither may resolve the symbols of the other.
function(chainerx_keep_std_inside target)
    set(map "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/local_std.map")
    target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL "-Wl,--version-script=${map}")
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${map}")
endfunction()
