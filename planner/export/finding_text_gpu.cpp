#include "planner/export/finding_text.hpp"

namespace kvplan::exporting {
namespace {

std::vector<FindingTemplate> fit_templates() {
    return {
        {"weights_do_not_fit", "The weights are larger than what the memory fraction gives.",
         "The weights of one GPU take {weights}; the fraction {fraction} of the {free} that are free before the load gives {budget}: {lacking} are missing.",
         "Smallest fraction that can work: {smallest_fraction}. Otherwise: {ways_out}."},
        {"no_room_for_kv", "The weights fit, but the smallest pool does not fit beside them.",
         "Beside {weights} of weights the budget of {budget} has no room for one page of KV and the state of its requests: {lacking} are missing.",
         "Raise the fraction (smallest that can work: {smallest_fraction}). Otherwise: {ways_out}."},
        {"weights_may_not_fit", "At the high end of their estimate the weights leave no pool.",
         "The weights may take up to {weights_high}, the budget is {budget}.", "Give --weights-per-gpu (\"mem usage\" of \"Load weight end\" in a log)."},
        {"pool_below_context", "The pool is smaller than one request of the full context length.",
         "The pool holds {pool} tokens, the context length is {context}: longer requests are refused.",
         "Lower --context-length, or make room: a higher fraction, fp8 KV, more GPUs."},
        {"max_total_tokens_above_pool", "The given limit of tokens is higher than what fits.",
         "--max-total-tokens {asked} has no effect: the memory holds {pool}; the engine warns and takes these.", "Leave it out, or raise the memory fraction."},
        {"no_feasible_fraction", "No memory fraction leaves room for both a pool and what the engine needs beside it.",
         "After {weights} of weights, what is left of {free} holds no page of KV together with the least that runs outside the fraction.", "{ways_out}."},
        {"fraction_too_high", "The memory fraction leaves too little for activations and graphs.",
         "At {fraction} even the least that runs outside the fraction does not fit; feasible is {feasible_min} to {feasible_max}.",
         "Set --mem-fraction-static {recommended}, or: {ways_out}."},
        {"start_lacks_memory", "What the start is expected to take outside the fraction does not fit; only at the least that it might take would it.",
         "At {fraction} request table, workspaces and graphs are expected to take {wanted}, and {slack} are left outside the fraction; above {feasible_max} even their least does not fit.",
         "Set --mem-fraction-static {recommended}, or: {ways_out}."},
        {"fraction_leaves_little", "The memory fraction leaves less than large batches may need.",
         "At {fraction} about {left} stay free after start-up; feasible is {feasible_min} to {feasible_max}, and {recommended} leaves room for full batches. "
         "The engine does not measure activations: a long prompt or a large batch may run out of memory later.",
         "Set --mem-fraction-static {recommended}, or: {ways_out}."},
        {"draft_model_unknown", "Speculative decoding is asked for, and no drafter is known.",
         "{algorithm} needs a drafter: none is named, and the checkpoint brings none for it. Its weights are counted as nothing and its KV is a guess.",
         "Name it with --speculative-draft-model-path (--draft-model)."},
        {"pool_exceeds_budget", "At this version a token takes more than the engine counts, so the pool outgrows its budget.",
         "A token takes {taken_per_token} B and is counted as {counted_per_token}: the pool takes {excess} from what the fraction keeps free.",
         "Lower the fraction by that much, or take a newer version."},
    };
}

std::vector<FindingTemplate> pool_templates() {
    return {
        {"latent_replicated", "Every tensor-parallel rank keeps the same latent KV.",
         "MLA keeps one latent a token, the same on all {copies} ranks: {tokens} tokens in all. DP attention would not hold more here, because every worker "
         "then keeps the attention weights of several ranks.",
         ""},
        {"dp_attention_holds_more", "Every tensor-parallel rank keeps the same latent KV; data-parallel attention would keep different requests on them.",
         "MLA keeps one latent a token, the same on all {copies} ranks: {tokens} tokens in all. With DP attention of {workers} workers the same GPUs hold "
         "{with_workers}, attention weights included.",
         "--enable-dp-attention --dp-size {workers}"},
        {"kv_heads_replicated", "There are more ranks than KV heads, so heads are kept more than once.",
         "Each KV head is kept {copies} times over {ranks} ranks: tokens per GPU do not rise with more tensor parallelism.",
         "Fewer ranks a replica (and more replicas), or DP attention."},
        {"request_table_does_not_fit", "The table of requests alone is larger than the memory outside the fraction.",
         "{rows} rows for {context} tokens of context take {table}; {slack} are left outside the fraction.",
         "Give --max-running-requests or a smaller --context-length."},
        {"request_table_large", "The table of requests takes unusually much memory outside the fraction.",
         "{rows} rows for {context} tokens of context take {table}.", "Give --max-running-requests or a smaller --context-length."},
        {"state_pool_too_small", "The state pool holds less than one request.",
         "There are {slots} state slots; one running request needs {per_request}.", "Raise --mamba-full-memory-ratio or give --max-mamba-cache-size."},
        {"state_slots_limit_requests", "State slots limit the requests that run at once before tokens do.",
         "{slots} state slots of {per_slot}, {per_request} a request: at most {requests} requests run at once.",
         "Raise --mamba-full-memory-ratio, or give --max-mamba-cache-size."},
        {"window_pool_too_small", "The window pool holds less than one window.",
         "The pool has {slots} slots; one request needs a window of {window} tokens and a page of {page}: newer versions refuse to start.",
         "Raise --swa-full-tokens-ratio or the memory fraction."},
        {"foreign_gpu_memory", "Less memory is free than this GPU usually has: something else holds some.",
         "{free} are free before the load; this GPU usually has at least {usual}: {missing} are held by something else.",
         "Look for other processes (kvplan doctor), also in other containers."},
        {"unbalanced_gpus", "The engine refuses to start when one GPU has much less free memory than the others.",
         "{free} are free where {usual} are usual. If the other GPUs have that much, the start ends with \"The memory capacity is unbalanced\"; below that "
         "difference all ranks are sized by the least.",
         "Free the GPU, or leave it out."},
    };
}

}  // namespace

std::vector<FindingTemplate> gpu_finding_templates() {
    std::vector<FindingTemplate> all = fit_templates();
    for (const FindingTemplate& entry : pool_templates()) all.push_back(entry);
    return all;
}

}  // namespace kvplan::exporting
