#pragma once

namespace kvplan {

/// What a module is to a quantizer.
enum class ModuleKind {
    linear,     // quantized unless excluded
    router,     // the linear layer of the expert choice: most producers leave it alone
    embedding,  // quantized by MLX only
    head,       // lm_head
    sensitive,  // a linear layer that stays in 16 bits by convention (eh_proj, the indexer's weights_proj)
    vision,     // towers and projectors
    vector,     // norms, biases, tables, convolutions: never quantized
};

}  // namespace kvplan
