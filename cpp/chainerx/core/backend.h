// A family of devices with one kernel table. How to write one: docs/adding_a_backend.md.
#pragma once

#include <memory>
#include <string>

#include "chainerx/core/device.h"
#include "chainerx/core/fork_mutex.h"
#include "chainerx/core/macro.h"

namespace chainerx {

class Context;
struct KernelCallData;  // kernels/kernel.h

class CX_API Backend {
 public:
    // `kernels` has one entry per kernel id and must outlive the backend. Without it, all calls go
    // to Launch.
    Backend(Context& context, std::string name, const KernelFn* kernels = nullptr);
    virtual ~Backend();
    Backend(const Backend&) = delete;
    Backend& operator=(const Backend&) = delete;

    Context& context() const { return context_; }
    const std::string& name() const { return name_; }
    const KernelFn* kernels() const { return kernels_; }

    // Receives calls of kernels that the table lacks. Operands are erased and may be kept as a
    // KeptCall: for backends that treat all calls alike, for example by sending them elsewhere. The
    // default is a ChainerxError.
    virtual void Launch(const KernelCallData& call);

    virtual int GetDeviceCount() const = 0;

    // Made on first use; IndexError if there is no such device.
    Device& GetDevice(int index);

 protected:
    virtual std::unique_ptr<Device> CreateDevice(int index) = 0;
    // Called when the context has been destroyed. Backend and devices stay, since arrays may still
    // refer to them and free their memory, but nothing is computed any more: release the other
    // resources.
    virtual void OnRetired() noexcept {}

 private:
    friend class Context;
    friend struct internal::LayoutAccess;

    void Retire() noexcept;

    Context& context_;
    std::string name_;
    const KernelFn* kernels_;
    internal::GrowingList<Device> devices_;
};

}  // namespace chainerx
