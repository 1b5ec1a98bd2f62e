#include "planner/engines/linear_state.hpp"

#include "units/quantity.hpp"

namespace kvplan {

StateElements state_elements(const LinearAttention& a, std::int64_t tp, std::int64_t extra_rows) {
    std::int64_t channels = a.conv_channels;
    const bool grouped = a.kind == LinearAttention::Kind::mamba2 || a.kind == LinearAttention::Kind::gated_delta_net;
    if (grouped && a.groups > 0 && a.groups % tp != 0) channels += 2 * (tp - a.groups) * a.state_size;
    StateElements e;
    e.convolution = a.conv_kernel > 1 ? ceil_div(channels, tp) * (a.conv_kernel - 1 + extra_rows) : 0;
    e.recurrent = a.kind == LinearAttention::Kind::short_conv ? 0 : checked_mul(ceil_div(a.heads, tp) * a.head_dim, a.state_size);
    return e;
}

}  // namespace kvplan
