// What the source of a kernel includes: how it registers, how its work is divided among threads
// and interrupted, and memory for the time of a call.
#pragma once

#include "chainerx/core/interrupt.h"
#include "chainerx/core/thread_pool.h"
#include "chainerx/native/native_backend.h"
#include "chainerx/native/ranges.h"
#include "chainerx/native/scratch.h"
