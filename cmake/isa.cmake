# Instruction-set units: cpp/chainerx/native/<room>/simd/<unit>.cc, and those that families.cmake
# writes, each compiled once per instruction set. Units of two rooms have different names.
#
# What a unit sees (for unit "activation" built for "avx2"):
#   CX_ISA        = avx2                   the name of the namespace everything stands in
#   CX_ISA_AVX2   = 1                      to ask which one it is
#   CX_UNIT_ENTRY = cx_activation_avx2     the one symbol the unit exports, a table of kernels:
#                                              CX_EXPORT_LOOPS(Table){...};  (native/unit.h)
# What the other sources of cpp/chainerx/native see:
#   CX_HAVE_SSE4, CX_HAVE_AVX2, ... = 1    for each one built; native/isa.h says what for
#
# Why the objects are sealed: two units of different -march instantiate the same inline functions
# (of xsimd, of the standard library), and the linker keeps one copy, perhaps the one that needs
# AVX-512. So each unit is linked on its own (`ld -r --force-group-allocation` dissolves the groups
# by which copies are merged) and all its symbols but the entry are made local.
# tools/check_isa_symbols.py proves it on the result, in <build folder>/isa/.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    set(all_isas sse4 avx2 avx512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(all_isas neon)
else()
    message(FATAL_ERROR "chainerx: no instruction set is known for ${CMAKE_SYSTEM_PROCESSOR}")
endif()
set(CHAINERX_ISAS "native" CACHE STRING "Instruction sets that the float kernels are built for: \
native (the least able one and the best of this processor), all, or names separated by semicolons")
if(DEFINED ENV{CHAINERX_ISAS})  # for pip, and stronger than what the build folder remembers
    set(CHAINERX_ISAS "$ENV{CHAINERX_ISAS}" CACHE STRING "" FORCE)
endif()

# What /proc/cpuinfo calls the abilities that each set needs.
set(CX_CPU_FLAGS_sse4 sse4_2)
set(CX_CPU_FLAGS_avx2 avx2 fma f16c)
set(CX_CPU_FLAGS_avx512 avx512f avx512bw avx512dq avx512vl avx512cd)

# The least able set runs on every processor of this kind, so a library that moves to another
# machine always has one that works.
function(chainerx_native_isas result)
    list(GET all_isas 0 isas)
    set(abilities)
    if(EXISTS /proc/cpuinfo AND NOT CMAKE_CROSSCOMPILING)
        file(STRINGS /proc/cpuinfo abilities REGEX "^flags" LIMIT_COUNT 1)
        string(REPLACE " " ";" abilities "${abilities}")
    endif()
    set(best ${isas})
    foreach(isa IN LISTS all_isas)
        set(missing ${CX_CPU_FLAGS_${isa}})
        list(REMOVE_ITEM missing none ${abilities})
        if(NOT missing)
            set(best ${isa})
        endif()
    endforeach()
    list(APPEND isas ${best})
    list(REMOVE_DUPLICATES isas)
    set(${result} "${isas}" PARENT_SCOPE)
endfunction()
if(CHAINERX_ISAS STREQUAL "native")
    chainerx_native_isas(built_isas)
elseif(CHAINERX_ISAS STREQUAL "all")
    set(built_isas ${all_isas})
else()
    set(built_isas ${CHAINERX_ISAS})
endif()
message(STATUS "Instruction sets of the float kernels: ${built_isas}")

set(CX_ISA_FLAGS_sse4 -msse4.2)
set(CX_ISA_FLAGS_avx2 -mavx2 -mfma -mf16c)
set(CX_ISA_FLAGS_avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mavx512cd -mavx2 -mfma -mf16c)
set(CX_ISA_FLAGS_neon)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Its own header of AVX-512 reads a variable that it leaves undefined by design.
    list(APPEND CX_ISA_FLAGS_avx512 -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
if(NOT CHAINERX_SANITIZE)
    # For processors of before 2013 in a package that all others carry, too: as many loops are
    # vectorized, but few are copied for special cases, which makes the set a quarter smaller.
    list(APPEND CX_ISA_FLAGS_sse4 "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release,RelWithDebInfo>>:\
-O2;-ftree-vectorize;-fvect-cost-model=dynamic>")
endif()
set(known_isas sse4 avx2 avx512 neon)

# mold and lld have no --force-group-allocation, so the sealing asks for GNU ld by its full name.
find_program(CHAINERX_GNU_LD NAMES ld.bfd ld)
mark_as_advanced(CHAINERX_GNU_LD)
if(NOT CHAINERX_GNU_LD OR NOT CMAKE_OBJCOPY)
    message(FATAL_ERROR "chainerx: GNU ld and objcopy (binutils) are needed to build the native kernels")
endif()

# How a target is compiled for an instruction set.
function(chainerx_compile_for_isa target isa)
    string(TOUPPER "${isa}" isa_upper)
    target_link_libraries(${target} PRIVATE chainerx_flags chainerx_xsimd chainerx_pocketfft)
    target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cpp")
    target_compile_options(${target} PRIVATE ${CX_ISA_FLAGS_${isa}}
        $<$<CXX_COMPILER_ID:GNU>:-fno-gnu-unique>)
    target_compile_definitions(${target} PRIVATE CHAINERX_BUILDING
        CX_ISA=${isa} CX_ISA_${isa_upper}=1)
endfunction()

# Precompiles for each instruction set what nearly all of its units include.
function(chainerx_add_isa_headers)
    if(NOT CHAINERX_PCH)
        return()
    endif()
    set(source "${PROJECT_BINARY_DIR}/isa_headers.cc")
    file(CONFIGURE OUTPUT "${source}" CONTENT "")
    foreach(isa IN LISTS built_isas)
        add_library(isa_headers_${isa} OBJECT "${source}")
        chainerx_compile_for_isa(isa_headers_${isa} ${isa})
        target_precompile_headers(isa_headers_${isa} PRIVATE <algorithm> <cmath> <cstdint>
            <type_traits> <utility> <xsimd/xsimd.hpp>)
    endforeach()
endfunction()

# Adds the sealed objects of `source` to `target`.
function(chainerx_add_isa_unit target source)
    get_filename_component(unit "${source}" NAME_WE)
    foreach(isa IN LISTS built_isas)
        set(object_target isa_${unit}_${isa})
        set(entry cx_${unit}_${isa})
        set(sealed "${PROJECT_BINARY_DIR}/isa/${unit}.${isa}.o")

        add_library(${object_target} OBJECT "${source}")
        chainerx_compile_for_isa(${object_target} ${isa})
        target_compile_options(${object_target} PRIVATE ${unit_flags_${unit}})
        target_compile_definitions(${object_target} PRIVATE CX_UNIT_ENTRY=${entry})
        if(CHAINERX_PCH AND NOT unit_flags_${unit})
            target_precompile_headers(${object_target} REUSE_FROM isa_headers_${isa})
        endif()

        add_custom_command(
            OUTPUT "${sealed}"
            COMMAND "${CHAINERX_GNU_LD}" -r --force-group-allocation
                -o "${sealed}" "$<TARGET_OBJECTS:${object_target}>"
            COMMAND "${CMAKE_OBJCOPY}" --keep-global-symbol=${entry} "${sealed}"
            DEPENDS ${object_target} "$<TARGET_OBJECTS:${object_target}>"
            COMMENT "Sealing ${unit} for ${isa}"
            VERBATIM)
        target_sources(${target} PRIVATE "${sealed}")
        set_source_files_properties("${sealed}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
    endforeach()
endfunction()

# Checks CHAINERX_ISAS and tells `target` (the baseline code of the native backend) what is built.
function(chainerx_publish_isas target)
    foreach(isa IN LISTS built_isas)
        if(NOT isa IN_LIST known_isas)
            message(FATAL_ERROR "chainerx: CHAINERX_ISAS has '${isa}', known are: native, all, ${known_isas}")
        endif()
        string(TOUPPER "${isa}" isa_upper)
        target_compile_definitions(${target} PRIVATE CX_HAVE_${isa_upper}=1)
    endforeach()
endfunction()
