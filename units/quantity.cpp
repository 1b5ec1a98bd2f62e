#include "units/quantity.hpp"

#include <string>

namespace kvplan::detail {

void throw_overflow(const char* operation) {
    throw OverflowError(std::string("an exact count leaves 64 bits in a ") + operation);
}

}  // namespace kvplan::detail
