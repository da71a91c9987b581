#define CX_FAMILY explog
#define CX_FAMILY_DEF "chainerx/ops/explog.def"
#include "chainerx/native/isa/family.h"
