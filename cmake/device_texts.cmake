# The texts of device sources as a source of the CUDA plug-in: <build folder>/cuda/texts.cc has them
# by .incbin. Sets device_texts_source.

set(device_texts)  # pairs: the name that an #include spells, the file
set(cpp_dir "${PROJECT_SOURCE_DIR}/cpp")
file(GLOB found CONFIGURE_DEPENDS RELATIVE "${cpp_dir}"
    "${cpp_dir}/chainerx/cuda/device/*.h"
    "${cpp_dir}/chainerx/cuda/*/device/*.h"
    "${cpp_dir}/chainerx/cuda/*/params.h"
    "${cpp_dir}/chainerx/native/math/simd/*.h")
list(APPEND found
    chainerx/core/float16.h
    chainerx/kernels/random/short_range.h
    chainerx/kernels/rnn/recurrent_cell.h
    chainerx/native/attention/simd/power_of_2.h
    chainerx/native/elementwise/complex_math.h
    chainerx/native/elementwise/complex_number.h
    chainerx/native/elementwise/integer_math.h
    chainerx/native/loss/simd/log_sum_of_three.h
    chainerx/native/math/incomplete_beta.cc
    chainerx/native/math/incomplete_gamma.cc
    chainerx/native/math/incomplete_gamma_beta.h
    chainerx/native/math/incomplete_parts.h
    chainerx/native/norm/row_order.h
    chainerx/native/random/choice.h
    chainerx/native/random/counts.h
    chainerx/native/random/gamma.h
    chainerx/native/random/integer_range.h
    chainerx/native/random/random.h
    chainerx/native/random/ranks.h
    chainerx/native/random/simd/normal_pairs.h
    chainerx/native/random/substream.h
    chainerx/native/reduce/scan_order.h
    chainerx/native/rnn/recurrent_units.h
    chainerx/native/rnn/simd/gates.h
    chainerx/native/rnn/simd/lstm_cells.h
    chainerx/native/rnn/simd/recurrent_steps.h
    chainerx/native/strided/scalar_traits.h
    chainerx/native/strided/simd/poly.h)
foreach(name IN LISTS found)
    list(APPEND device_texts "${name}" "${name}")
endforeach()
# native's batch has one lane on a device, and its standard library is our own.
list(APPEND device_texts chainerx/native/strided/simd/batch.h chainerx/cuda/device/batch.h
    chainerx/native/rnn/simd/units.h chainerx/cuda/rnn/device/units.h
    complex chainerx/cuda/device/std_complex.h)
foreach(name algorithm bit cmath cstdint initializer_list limits type_traits utility)
    list(APPEND device_texts ${name} chainerx/cuda/device/std.h)
endforeach()

set(device_texts_source "${PROJECT_BINARY_DIR}/cuda/texts.cc")
set(assembly "")
set(declarations "")
set(entries "")
set(files)
set(index 0)
while(device_texts)
    list(POP_FRONT device_texts name file)
    string(APPEND assembly "    \"cx_device_text_${index}: .incbin \\\"${cpp_dir}/${file}\\\"\\n.byte 0\\n\"\n")
    string(APPEND declarations "extern const char cx_device_text_${index}[];\n")
    string(APPEND entries "    {\"${name}\", cx_device_text_${index}},\n")
    list(APPEND files "${cpp_dir}/${file}")
    math(EXPR index "${index} + 1")
endwhile()
file(CONFIGURE OUTPUT "${device_texts_source}" CONTENT
"// Written by cmake/device_texts.cmake.
#include \"chainerx/cuda/compile/texts.h\"

asm(\".pushsection .rodata\\n\"
${assembly}    \".popsection\\n\");

extern \"C\" {
${declarations}}

namespace chainerx::cuda {

std::span<const DeviceText> GetDeviceTexts() {
    static const DeviceText kTexts[] = {
${entries}    };
    return kTexts;
}

}  // namespace chainerx::cuda
" @ONLY)
set_source_files_properties("${device_texts_source}" PROPERTIES OBJECT_DEPENDS "${files}")
