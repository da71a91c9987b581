#include "chainerx/core/capture_observer.h"

#include <utility>

#include "chainerx/core/array.h"

namespace chainerx {

ReplayPart::~ReplayPart() = default;

internal::CaptureObserver::~CaptureObserver() = default;

void internal::CaptureObserver::Add(std::shared_ptr<ReplayPart> part) { Add(std::move(part), {}); }

}  // namespace chainerx
