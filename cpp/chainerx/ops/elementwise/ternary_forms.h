// Overloads for the operands of a ternary operation: arrays or numbers, but not three numbers.
#pragma once

#define CX_TERNARY_FORMS(Form, Name)                                           \
    Form(Name, Array, Array, Array) Form(Name, Array, Array, Scalar)           \
        Form(Name, Array, Scalar, Array) Form(Name, Array, Scalar, Scalar)     \
            Form(Name, Scalar, Array, Array) Form(Name, Scalar, Array, Scalar) \
                Form(Name, Scalar, Scalar, Array)
