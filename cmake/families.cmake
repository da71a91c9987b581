# The sources of the families of elementwise operations: a family's kernels, and its units of loops
# over floats and over integers; and its kernels for CUDA. All that is to say of one stands in its
# table, ops/elementwise/tables/<family>.def, and in its line here, so these sources are written while
# CMake configures, into <build folder>/families/. Sets family_sources, family_units and
# family_cuda_sources.

set(family_sources)
set(family_units)
set(family_cuda_sources)

# Writes a source that expands the family's table by a header, as chainerx/ names it.
function(chainerx_write_family_source path family lines header)
    file(CONFIGURE OUTPUT "${path}" CONTENT "// Written by cmake/families.cmake.
${lines}#define CX_FAMILY ${family}
#define CX_FAMILY_DEF \"chainerx/ops/elementwise/tables/${family}.def\"
#include \"chainerx/${header}\"\n" @ONLY)
endfunction()

# The cost of an element is one of native/elementwise's; the options:
#   INTEGER    a unit of loops over integers and bool
#   COMPLEX    the unit of loops over floats has loops over complex numbers; LANES: some of them by
#              native/elementwise/simd/complex_rows.h
#   NO_FLOATS  no loops over floats
#   OWN_UNIT   the unit of loops over floats is in native/elementwise/simd/, for it includes more
macro(chainerx_add_family family cost)
    cmake_parse_arguments(of "INTEGER;COMPLEX;LANES;NO_FLOATS;OWN_UNIT" "" "" ${ARGN})
    set(folder "${PROJECT_BINARY_DIR}/families")
    set(include "#include \"chainerx/kernels/elementwise/${family}.h\"\n\n")
    chainerx_write_family_source("${folder}/cuda/${family}.cc" ${family} "${include}"
        cuda/elementwise/family.h)
    list(APPEND family_cuda_sources "${folder}/cuda/${family}.cc")
    set(complex "")
    if(of_COMPLEX)
        string(APPEND complex "#define CX_FAMILY_COMPLEX\n")
    endif()
    if(of_LANES)
        string(APPEND complex "#define CX_FAMILY_LANES\n")
    endif()
    set(lines "${include}${complex}#define CX_FAMILY_COST ${cost}\n")
    if(of_INTEGER)
        string(APPEND lines "#define CX_FAMILY_INTEGER\n")
        set(unit "${folder}/simd/integer_${family}.cc")
        chainerx_write_family_source("${unit}" ${family} "" native/elementwise/simd/integer.h)
        list(APPEND family_units "${unit}")
    endif()
    if(of_NO_FLOATS)
        string(APPEND lines "#define CX_FAMILY_NO_FLOATS\n")
    elseif(NOT of_OWN_UNIT)
        set(unit "${folder}/simd/${family}.cc")
        chainerx_write_family_source("${unit}" ${family} "${complex}"
            native/elementwise/simd/family.h)
        list(APPEND family_units "${unit}")
    endif()
    chainerx_write_family_source("${folder}/${family}.cc" ${family} "${lines}"
        native/elementwise/family.h)
    list(APPEND family_sources "${folder}/${family}.cc")
endmacro()

chainerx_add_family(activation kLight)
chainerx_add_family(arithmetic kLight INTEGER COMPLEX LANES)
chainerx_add_family(bitwise kLight INTEGER NO_FLOATS)
chainerx_add_family(explog kHeavy COMPLEX)
chainerx_add_family(hyperbolic kHeavy COMPLEX)
chainerx_add_family(logic kLight INTEGER)
chainerx_add_family(numeric kLight)
chainerx_add_family(rounding kLight)
chainerx_add_family(special kSlow OWN_UNIT)
chainerx_add_family(trigonometric kHeavy COMPLEX)
