// libFuzzer's entry: one program for each target, named by KVPLAN_FUZZ_TARGET (cmake --preset fuzz).
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/targets.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const kvplan::fuzz::Target* const target = kvplan::fuzz::find_target(KVPLAN_FUZZ_TARGET);
    target->run({reinterpret_cast<const char*>(data), size});
    return 0;
}
