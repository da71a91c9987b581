# Sources whose compiler flags differ from those of flags.cmake, each with its reason.

# A level of optimization; builds with sanitizers or for debugging keep theirs.
function(chainerx_level variable level)
    set(${variable} "" PARENT_SCOPE)
    if(NOT CHAINERX_SANITIZE)
        set(${variable} "$<$<CONFIG:Release,RelWithDebInfo>:${level}>" PARENT_SCOPE)
    endif()
endfunction()

# Units of instruction sets: unit_flags_<unit>.
# A division of floats could trap, and so is not vectorized next to a choice.
set(unit_flags_divide -fno-trapping-math)

# Vectors of one complex64, which GCC makes of its parts, wait for stores of these: 5 times slower.
set_source_files_properties(chainerx/native/linalg/factor.cc PROPERTIES
    COMPILE_OPTIONS -fno-tree-slp-vectorize SKIP_PRECOMPILE_HEADERS ON)

# Cold sources are compiled for size, to little more than half of it. None has a loop over
# elements; what they call takes so long that some 20 instructions more per call do not count, or
# they are called once. Elsewhere, -Os and even -O2 miss the instruction budgets.
chainerx_level(cold_level -Os)
set(cold_pattern
    "/autograd/(check_backward|graph_view)"
    "/capture/(capture|chain|fuse|graph_replay|memory_plan|part|recorder|recording|results|stream_order|verify)\\."
    "/kernels/(plugin|profiler|validator)\\."
    "/(ops|bindings)/(signal|sort)/"
    "/ops/(conv/conv_columns|pool/pooling_table)\\."
    "/shape/(routines_)?rearrange\\."
    "/linalg/(routines_)?(decomposition|det_gradient|einsum|factor|norm|pseudo_inverse)"
    "/ops/elementwise/tables/special\\."
    "/ops/random/random_(discrete|gamma|truncated)\\."
    "/ops/(attention/|to_string|checkpoint|loss/(crf|ctc)|reduce/(covariance|statistics))"
    "/ops/(index/(choose|histogram|put)|shape/(block|diagonal|pad_values|padding|tiling))"
    "/core/(kernel_error|memory_stats|plugin)\\."
    "/bindings/(attention|conv|loss|norm|pool|random)/"
    "/bindings/(index/routines_(choosing|histogram|put)|shape/routines_padding)"
    "/bindings/elementwise/routines_closeness\\."
    "/bindings/elementwise/routines_special\\."
    "/python/(cuda|errors|graph|kernels|engine/cupy|interop/cuda_array|ndarray/methods_numpy)\\.")
list(JOIN cold_pattern "|" cold_pattern)

# Moves the cold ones of the list `from` to the list `to`.
function(chainerx_take_cold from to)
    set(hot ${${from}})
    set(cold ${${from}})
    list(FILTER hot EXCLUDE REGEX "${cold_pattern}")
    list(FILTER cold INCLUDE REGEX "${cold_pattern}")
    set(${from} "${hot}" PARENT_SCOPE)
    set(${to} "${cold}" PARENT_SCOPE)
endfunction()
