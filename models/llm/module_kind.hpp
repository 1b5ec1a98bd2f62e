#pragma once

namespace kvplan {

/// What a module is to a quantizer.
enum class ModuleKind {
    linear,     // quantized unless excluded
    expert,     // a routed expert's matrix
    embedding,  // quantized by MLX only
    lm_head,
    router,  // the linear layer of the expert choice: most producers leave it alone
    small,   // linear layers kept in 16 bits by convention: eh_proj, indexer.weights_proj, in_proj_a/b,
             // shared_expert_gate
    vision,  // towers and projectors
    other,   // norms, biases, tables, convolutions: never quantized
};

}  // namespace kvplan
