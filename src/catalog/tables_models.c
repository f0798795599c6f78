/* Field tables of what is trained and with what: models, data sets, recipes, rigs, images, stacks,
 * suites. The rules of a
 * catalog file are in tables.c. Model keys are those of a workload's `model:` mapping where both have the fact. */
#include "catalog/table_rows.h"

#define S ap_model
static const ap_field model_fields[] = {
    ID("id", id, "Unique id, [a-z0-9._-]."),
    TEXTS("aliases", aliases, "Other spellings: hub names, file names."),
    TEXT("family", family, "Model family."),
    ROW("domain", AP_T_ID, domain, AP_F_REQUIRED, AP_DIM_NONE, 0, 0, "llm nlp vision detection diffusion trees …"),
    TEXT("arch", arch, "decoder encoder encdec moe cnn vit mixed unet dit dlrm rnn gnn gbdt linear …"),
    NUM("params", params, AP_DIM_COUNT, 1, 1e14, "Parameters, e.g. 8.03B; of an LLM the language part without MTP."),
    NUM("active_params", active_params, AP_DIM_COUNT, 1, 1e14, "Parameters a token meets in a mixture of experts."),
    INT("layers", layers, 1, 5000, "Blocks."),
    INT("enc_layers", enc_layers, 1, 5000, "Encoder blocks of an encoder-decoder."),
    INT("dec_layers", dec_layers, 1, 5000, "Decoder blocks of an encoder-decoder."),
    INT("hidden", hidden, 1, 1e6, "Width of the residual stream."),
    INT("head_dim", head_dim, 1, 1e5, "Width of one attention head."),
    INT("heads", heads, 1, 1e5, "Query heads."),
    INT("kv_heads", kv_heads, 1, 1e5, "Key and value heads."),
    INT("ffn", ffn, 1, 1e7, "Inner width of the feed-forward block."),
    BOOL("gated_mlp", gated_mlp, "Three matrices (SwiGLU, GeGLU) instead of two."),
    BOOL("tied_embeddings", tied_embeddings, "Input and output embeddings are one matrix."),
    INT("vocab", vocab, 1, 1e9, "Rows of the embedding."),
    INT("max_seq", max_seq, 1, 1e9, "Longest sequence it was made for."),
    TEXT("attention", attention, "mha gqa mqa mla, or sliding:WINDOW:RATIO with RATIO local layers for each full one."),
    INT("mla_kv_rank", mla_kv_rank, 0, 1e6, "Latent width of keys and values (MLA)."),
    INT("mla_q_rank", mla_q_rank, 0, 1e6, "Latent width of queries; 0 = not compressed."),
    INT("rope_head_dim", rope_head_dim, 0, 1e5, "Width with positions, added to head_dim (MLA)."),
    INT("experts", experts, 0, 1e5, "Routed experts of a layer."),
    INT("top_k", top_k, 0, 1e5, "Routed experts that a token meets."),
    INT("shared_experts", shared_experts, 0, 1e4, "Experts that every token meets, in units of expert_ffn."),
    INT("expert_ffn", expert_ffn, 1, 1e7, "Inner width of an expert."),
    INT("shared_ffn", shared_ffn, 1, 1e7, "Inner width of the shared expert, if not a multiple of expert_ffn."),
    INT("moe_every", moe_every, 1, 1000, "Every how many layers one has experts."),
    INT("dense_first_layers", dense_first_layers, 0, 1000, "Leading layers without experts."),
    INT("mtp_layers", mtp_layers, 0, 100, "Layers for multi-token prediction, not counted in params."),
    TEXT("layer_mix", layer_mix, "Hybrids: kinds of layers and how many of each, e.g. mamba2:24;attn:4."),
    NUM("macs", fwd_mac, AP_DIM_COUNT, 1, 1e20, "Multiply-accumulates of one forward pass of one sample, e.g. 4.11B."),
    NUM("activations", acts, AP_DIM_COUNT, 1, 1e15, "Elements that one forward pass of one sample writes, e.g. 11.1M."),
    INT("weighted_layers", weighted_layers, 1, 1e5, "Convolutions and dense layers of a net: what kernels are launched for."),
    TEXT("input", input, "What one sample is: 224x224, seq 2048."),
    TEXT("frozen_parts", frozen_parts, "What is not trained."),
    TEXT("library", library, "Trees and classic methods: xgboost, lightgbm, scikit-learn …"),
    INT("trees", trees, 1, 1e8, "Boosting rounds or trees."),
    INT("depth", depth, 1, 1000, "Greatest depth of a tree."),
    INT("leaves", leaves, 2, 1e7, "Greatest number of leaves of a tree."),
    NUM("embedding_rows", embedding_rows, AP_DIM_COUNT, 1, 1e13, "Recommenders: rows of all tables together."),
    INT("embedding_dim", embedding_dim, 1, 1e6, "Width of a row."),
    INT("tables", tables, 1, 1e6, "Embedding tables."),
    NUM("pooling", pooling, AP_DIM_NONE, 0.01, 1e6, "Rows read of each table for one sample."),
    REF("dataset", dataset, "Usual data set."),
    TEXT("precision", precision, "Usual compute precision."),
    TEXT("optimizer", optimizer, "Usual optimizer."),
    INT("global_batch", global_batch, 1, 1e9, "Usual samples or sequences of an optimizer step."),
    NUM("samples", samples, AP_DIM_COUNT, 1, 1e15, "Samples of its published training."),
    NUM("tokens", tokens, AP_DIM_TOKENS, 1, 1e16, "Tokens of its published training, e.g. 15T."),
    NUM("epochs", epochs, AP_DIM_NONE, 0.001, 1e6, "Usual passes over the data."),
    TEXT("recipe", recipe, "The usual training in words."),
    TEXT("licence", licence, "open, gated or unknown."),
    INT("tier", tier, 1, 3, "1: core, 2: less common, 3: long tail."),
    PROVENANCE,
};
#undef S
const ap_object ap_model_object = {"model", "The shape and cost of a model.", sizeof(ap_model),
                                   AP_FIELDS_OF(model_fields), NULL};

#define S ap_dataset
static const ap_field dataset_fields[] = {
    ID("id", id, "Unique id, [a-z0-9._-]."),
    TEXTS("aliases", aliases, "Other spellings: hub names."),
    REF("domain", domain, "vision llm nlp speech trees gnn recsys …"),
    NUM("samples", samples, AP_DIM_COUNT, 1, 1e15, "Samples of the training part."),
    NUM("tokens", tokens, AP_DIM_TOKENS, 1, 1e16, "Tokens, with `tokenizer`."),
    TEXT("tokenizer", tokenizer, "What counted the tokens."),
    NUM("size", bytes, AP_DIM_BYTES, 1, 1e17, "Size on disk, e.g. 146.9GB."),
    NUM("sample_size", bytes_per_sample, AP_DIM_BYTES, 0.1, 1e13, "Mean size of a sample on disk, e.g. 114.66kB."),
    TEXT("format", format, "JPEG, parquet, TFRecord …"),
    TEXT("mean_size", mean_size, "What a sample is: about 400x350."),
    NUM("rows", rows, AP_DIM_COUNT, 1, 1e15, "Rows of a table."),
    INT("features", features, 1, 1e8, "Columns of a table."),
    TEXT("licence", licence, "Licence in short."),
    PROVENANCE,
};
#undef S
const ap_object ap_dataset_object = {"dataset", "A data set.", sizeof(ap_dataset), AP_FIELDS_OF(dataset_fields), NULL};

#define S ap_recipe
static const ap_field recipe_fields[] = {
    ID("id", id, "Unique id, [a-z0-9._-]."),
    REF("model", model, "Model id; absent: a rule for any model."),
    REF("dataset", dataset, "Data set id; absent = the user's own data."),
    TEXT("task", task, "train, pretrain, finetune, lora or qlora."),
    NUM("epochs", epochs, AP_DIM_NONE, 0.001, 1e6, "Passes over the data."),
    NUM("tokens", tokens, AP_DIM_TOKENS, 1, 1e16, "Tokens trained on."),
    NUM("samples", samples, AP_DIM_COUNT, 1, 1e15, "Samples trained on; of RL runs environment steps."),
    INT("global_batch", global_batch, 1, 1e9, "Samples or sequences of an optimizer step."),
    NUM("critical_batch", critical_batch, AP_DIM_COUNT, 1, 1e9,
        "Batch at which a run to the target needs twice the fewest samples; they grow as 1 + batch / critical batch."),
    INT("largest_batch", largest_batch, 1, 1e9, "Largest batch that is known to reach the target."),
    NUM("steps", steps, AP_DIM_COUNT, 1, 1e12, "Optimizer steps."),
    INT("image_size", image_size, 1, 1e5, "Side of a square image."),
    INT("seq_len", seq_len, 1, 1e9, "Sequence length."),
    TEXT("input", input, "Input size where it is not square: 800x1333."),
    TEXT("precision", precision, "Compute precision."),
    TEXT("optimizer", optimizer, "Optimizer."),
    NUM("early_stop_factor", early_stop_factor, AP_DIM_NONE, 0.01, 1,
        "Part of the nominal epochs that is usually run."),
    PROVENANCE,
};
#undef S
const ap_object ap_recipe_object = {"recipe", "How long a model is trained on a data set.", sizeof(ap_recipe),
                                    AP_FIELDS_OF(recipe_fields), NULL};

#define S ap_rig
static const ap_field rig_fields[] = {
    ID("id", id, "Unique id; the target is rig/ID."),
    TEXT("name", name, "What it is in words."),
    ROW("chip", AP_T_ID, chip, AP_F_REQUIRED, AP_DIM_NONE, 0, 0, "Chip id."),
    REF("cpu", cpu, "Chip id of the CPU."),
    NUM("chip_count", chip_count, AP_DIM_NONE, 0.5, 100000, "How many of the chips."),
    NUM("vcpus", vcpus, AP_DIM_NONE, 1, 1e6, "Hardware threads."),
    NUM("memory", memory, AP_DIM_MEMORY, 1e8, 1e16, "Host memory, e.g. 64GiB."),
    NUM("price", price_usd, AP_DIM_USD, 0, 1e9, "Purchase price of the whole machine, USD."),
    NUM("rest", rest_usd, AP_DIM_USD, 0, 1e9, "Part of the price that is not the chips, USD."),
    NUM("power", power_w, AP_DIM_WATTS, 1, 1e7, "Power at the wall while training, e.g. 550W."),
    NUM("idle_power", idle_w, AP_DIM_WATTS, 0, 1e7, "Power at the wall when idle."),
    NUM("intra_bandwidth", intra_bandwidth, AP_DIM_BYTES_PER_S, 1e8, 1e14, "Chip to chip, one direction."),
    NUM("network", network, AP_DIM_BYTES_PER_S, 1e5, 1e13, "Network, one direction."),
    NUM("depreciation_years", depreciation_years, AP_DIM_NONE, 0.1, 30, "Years over which the price is written off."),
    NUM("resale", resale_fraction, AP_DIM_FRACTION, 0, 1, "Part of the price that resale brings after that."),
    NUM("admin_hours_per_month", admin_h_per_month, AP_DIM_NONE, 0, 500, "Hours of care a month."),
    TEXT("country", country, "Where it stands (list regions --cloud world): price and carbon of electricity."),
    NUM("electricity", electricity_usd_per_kwh, AP_DIM_USD_PER_KWH, 0, 5, "Price of electricity, USD/kWh."),
    NUM("pue", pue, AP_DIM_NONE, 1, 3, "Cooling: power of all over power of the machine, 1 if absent."),
    PROVENANCE,
};
#undef S
const ap_object ap_rig_object = {"rig", "A machine of one's own.", sizeof(ap_rig), AP_FIELDS_OF(rig_fields), NULL};

#define S ap_image
static const ap_field image_fields[] = {
    ID("id", id, "Unique id."),
    TEXT("stack", stack, "What it is made for: PyTorch on NVIDIA …"),
    NEED("reference", reference, "What to pull: registry/name:tag."),
    TEXT("contents", frameworks_text, "What is inside, in words."),
    TEXTS("kinds", kinds, "Chip kinds it runs on."),
    TEXTS("archs", archs, "Compile targets it supports, e.g. sm_80."),
    TEXTS("frameworks", frameworks, "Frameworks inside."),
    TEXTS("clouds", clouds, "Clouds it is made for; anywhere if absent."),
    TEXTS("hosts", hosts, "Host processors: x86_64, aarch64; x86_64 if absent."),
    TEXTS("lacks", lacks, "Those of its frameworks that must be installed with pip first."),
    TEXT("cuda", cuda, "CUDA, ROCm or SynapseAI version."),
    TEXT("driver_min", driver_min, "Oldest driver that runs it."),
    TEXT("os", os, "Operating system inside."),
    PROVENANCE,
};
#undef S
const ap_object ap_image_object = {"image", "A container image.", sizeof(ap_image), AP_FIELDS_OF(image_fields), NULL};

#define S ap_stack
static const ap_field stack_fields[] = {
    ID("id", id, "Unique id."),
    TEXTS("aliases", aliases, "Other spellings."),
    NEED("name", name, "Name as people write it."),
    TEXT("framework", framework, "pytorch, jax, tensorflow, xgboost …"),
    TEXT("family", family, "Stack family of the calibration: fsdp mcore meg21 xla hf dle habana neuron ipu tree …"),
    TEXTS("kinds", kinds, "Chip kinds it runs on."),
    TEXTS("domains", domains, "Model domains it trains; absent = any of its framework."),
    TEXTS("default_for", default_for,
          "Globs over DOMAIN:METHOD:KIND:VENDOR:SIZE in lower case, SIZE small or large (over 30 B parameters): the "
          "stack when none is named, longest match first."),
    BOOL("tp", tp, "Supports tensor parallelism."),
    BOOL("pp", pp, "Supports pipeline parallelism."),
    BOOL("cp", cp, "Supports context parallelism."),
    BOOL("ep", ep, "Supports expert parallelism."),
    TEXTS("sharding", sharding, "Kinds of data parallelism: none ddp zero1 zero2 zero3 hsdp offload."),
    TEXT("launcher", launcher,
         "How recipes start it: torchrun, accelerate, deepspeed, megatron, maxtext or python; by framework if absent."),
    TEXTS("packages", packages, "pip packages that a plain image of the framework lacks."),
    PROVENANCE,
};
#undef S
const ap_object ap_stack_object = {"stack", "Training software with a speed of its own.", sizeof(ap_stack),
                                   AP_FIELDS_OF(stack_fields), NULL};

#define S ap_suite_run
static const ap_field suite_run_fields[] = {
    REF("model", model, "Rows of this model; any if absent."),
    REF("dataset", dataset, "Rows of this data set; any if absent."),
    TEXT("task", task, "Rows of this task (train, finetune, lora …); any if absent."),
    TEXT("precision", precision, "Rows of this precision; fp32 serves tf32 too; any if absent."),
    INT("of_seq_len", of_seq_len, 1, 1e9, "Rows of this sequence length; any if absent."),
    NUM("micro_batch", micro_batch, AP_DIM_NONE, 0.001, 1e9, "Samples or sequences of one chip in a step."),
    NUM("global_batch", global_batch, AP_DIM_NONE, 1, 1e10, "Samples or sequences of all chips in a step."),
    INT("seq_len", seq_len, 1, 1e9, "Sequence length; it stands over a row's, which the tables do not print."),
    TEXT("date", date, "Age of the software, YYYY[-MM]."),
    BOOL("compile", compile, "Whether the model was compiled."),
    TEXT("ran_precision", ran_precision, "Precision that a slip in the script really ran in."),
    NUM("ran_chips", ran_chips, AP_DIM_NONE, 1, 1e6, "Chips that a slip in the script really used."),
};
#undef S
static const ap_object suite_run_object = {"suite_run", "Settings of one run.", sizeof(ap_suite_run),
                                           AP_FIELDS_OF(suite_run_fields), NULL};

#define S ap_suite
static const ap_field suite_fields[] = {
    ID("id", id, "Unique id: benchmark and machine."),
    NEED("rows_from", rows_from, "How the source of the benchmark's measurement rows begins."),
    REF("chip", chip, "Chip id; any if absent."),
    NUM("chips", chips, AP_DIM_NONE, 1, 1e6, "Chips of the machine; any number if absent."),
    TEXT("date", date, "Age of the software, YYYY[-MM]."),
    BOOL("fills_card", fills_card, "The scripts choose each batch as large as the card holds."),
    {"runs", AP_T_OBJECTS, offsetof(S, runs), 0, AP_DIM_NONE, 0, 0, NULL, &suite_run_object, "Settings by run."},
    PROVENANCE,
};
#undef S
const ap_object ap_suite_object = {"suite", "Settings of a published benchmark that its tables leave out.",
                                   sizeof(ap_suite), AP_FIELDS_OF(suite_fields), NULL};
