/* Explanations of estimates: shapes by hand, sums that agree with the engine, constants that really move what they are
 * said to move. */
#include "testing_data.h"

#include "estimate/llm.h"
#include "estimate/trace.h"

typedef struct explained {
    ap_est_context context;
    ap_estimate estimate;
    ap_run_estimate run;
    const ap_est_trace *trace;
} explained;

static explained *explain(const fixture *f, const ap_case *job, const ap_layout *layout)
{
    explained *e = AP_NEW(f->arena, explained);
    ap_est_init(&e->context, f->calibration, job);
    ap_est_run(&e->context, layout, &e->estimate);
    assert_null(e->estimate.error);
    ap_est_whole_run(&e->context, &e->estimate, 1, &e->run);
    e->trace = ap_est_trace_new(&e->context, &e->estimate, &e->run, f->arena);
    return e;
}

static ap_case job_of(const fixture *f, const char *model, const char *chip, double chips)
{
    ap_case job;
    ap_case_clear(&job);
    job.model = ap_catalog_find_model(f->catalog, model);
    job.chip = ap_catalog_find_chip(f->catalog, chip).chip;
    assert_non_null(job.model);
    assert_non_null(job.chip);
    job.domain = job.model->domain;
    job.arch = job.model->arch;
    job.precision = AP_PREC_BF16;
    job.chips = chips;
    job.chips_per_node = chips < 8 ? chips : 8;
    return job;
}

static explained *explain_gpt3(const fixture *f)
{
    ap_case job = job_of(f, "gpt3-175b", "a100-sxm4-80gb", 1024);
    job.method = AP_METHOD_PRETRAIN;
    job.seq_len = 2048;
    job.global_batch = 1536;
    job.stack = "megatron";
    job.stack_info = ap_catalog_find_stack(f->catalog, job.stack);
    job.tokens_total = 3e11;
    ap_layout layout;
    ap_layout_clear(&layout);
    layout.tp = 8;
    layout.pp = 16;
    layout.micro_batch = 1;
    layout.recompute = AP_RECOMPUTE_NONE;
    return explain(f, &job, &layout);
}

static const ap_trace_product *product_of(const ap_est_trace *trace, const char *name)
{
    for (size_t i = 0; i < trace->products.count; i++)
        if (strcmp(trace->products.items[i].name, name) == 0)
            return &trace->products.items[i];
    return NULL;
}

static const ap_trace_const *const_of(const ap_est_trace *trace, const char *id)
{
    for (size_t i = 0; i < trace->consts.count; i++)
        if (strcmp(trace->consts.items[i].from->id, id) == 0)
            return &trace->consts.items[i];
    return NULL;
}

/* h 12288 over t 8: qkv 3 h / 8, MLP 4 h / 8; one sequence of 2048. */
static void products_have_the_shapes_of_the_shards(void **state)
{
    const ap_est_trace *trace = explain_gpt3(*state)->trace;
    const ap_trace_product *qkv = product_of(trace, "query, key, value"), *up = product_of(trace, "MLP up");
    assert_non_null(qkv);
    assert_non_null(up);
    assert_same(qkv->m, 2048);
    assert_same(qkv->n, 4608);
    assert_same(qkv->k, 12288);
    assert_same(up->n, 6144);
    assert_near(up->flop, 2.0 * 2048 * 6144 * 12288, 1e-9);
}

/* What is listed is what the engine adds up: forward products of a layer, x 3 passes x slowdown x layers x
 * micro-batches. */
static void products_add_up_to_the_term(void **state)
{
    const explained *e = explain_gpt3(*state);
    const ap_llm_facts *facts = ap_llm_facts_of(&e->context);
    double layer = 0, term = 0;
    for (size_t i = 0; i < e->trace->products.count; i++)
        if (strcmp(e->trace->products.items[i].of, "layer") == 0)
            layer += e->trace->products.items[i].seconds;
    for (size_t i = 0; i < e->estimate.term_count; i++)
        if (strcmp(e->estimate.terms[i].formula, "M-21") == 0)
            term = e->estimate.terms[i].seconds;
    double slowdown = e->context.consts[LLM_slowdown] * facts->progress;
    assert_near(term, layer * 3 * slowdown * 96 / 16 * e->estimate.layout.accum, 1e-6);
}

static void experts_add_up_too(void **state)
{
    const fixture *f = *state;
    ap_case job = job_of(f, "mixtral-8x7b", "h100-sxm5-80gb", 64);
    job.method = AP_METHOD_PRETRAIN;
    job.seq_len = 4096;
    job.global_batch = 256;
    job.stack = "megatron";
    job.stack_info = ap_catalog_find_stack(f->catalog, job.stack);
    ap_layout layout;
    ap_layout_clear(&layout);
    layout.tp = 2;
    layout.ep = 8;
    layout.micro_batch = 1;
    const explained *e = explain(f, &job, &layout);
    ap_llm_plan plan;
    ap_estimate scratch = e->estimate;
    ap_llm_layer_time layer;
    assert_null(ap_llm_plan_complete(&e->context, &e->estimate.layout, &scratch, &plan));
    ap_llm_layer(ap_llm_facts_of(&e->context), e->context.consts, &plan, &layer);
    double sum = 0;
    for (size_t i = 0; i < e->trace->products.count; i++)
        if (strcmp(e->trace->products.items[i].of, "layer") == 0)
            sum += e->trace->products.items[i].seconds;
    assert_near(sum, layer.gemm, 1e-6);
}

/* Products go with the rate, the rate with gemm_16: a constant that is named for a term moves it, others do not. */
static void constants_are_those_that_move_a_term(void **state)
{
    const ap_est_trace *trace = explain_gpt3(*state)->trace;
    bool gemm = false, flash = false;
    for (size_t i = 0; i < trace->links.count; i++) {
        const ap_trace_link *l = &trace->links.items[i];
        const char *id = trace->consts.items[l->constant].from->id;
        if (strcmp(l->formula, "M-21") != 0)
            continue;
        if (strcmp(id, "gemm_16") == 0) {
            gemm = true;
            assert_near(l->effect, -0.99, 0.02);
        }
        flash = flash || strcmp(id, "flash") == 0;
    }
    assert_true(gemm);
    assert_false(flash);
    const ap_trace_const *share = const_of(trace, "mem_act");
    assert_non_null(share);
    assert_true(share->on_memory > 0 && share->on_step == 0);
}

/* value x exp(sum of deviations) is the value in this case. */
static void a_constant_is_its_value_and_deviations(void **state)
{
    const ap_est_trace *trace = explain_gpt3(*state)->trace;
    size_t judged = 0;
    for (size_t i = 0; i < trace->consts.count; i++) {
        const ap_trace_const *c = &trace->consts.items[i];
        double sum = 0;
        for (size_t k = 0; k < c->by.count; k++)
            sum += c->by.items[k].value;
        if (c->from->scale != AP_SCALE_LOG || strcmp(c->engine, "llm") != 0)
            continue;
        assert_near(c->value, c->from->value * exp(sum), 1e-9);
        judged++;
    }
    assert_true(judged > 10);
    assert_non_null(strstr(ap_trace_const_text(const_of(trace, "gemm_16"), ((fixture *)*state)->arena), "x exp("));
}

static void bands_name_their_cell(void **state)
{
    const explained *e = explain_gpt3(*state);
    const ap_trace_cell *step = &e->trace->cells[AP_Q_STEP];
    assert_non_null(step->cell);
    assert_true(strncmp(step->cell, "step", 4) == 0);
    assert_true(step->rows > 0);
}

static void every_engine_explains_itself(void **state)
{
    const fixture *f = *state;
    static const struct {
        const char *model, *chip;
    } jobs[] = {{"resnet50", "h100-sxm5-80gb"},
                {"xgboost", "xeon-8480plus"},
                {"dlrm-dcnv2", "a100-sxm4-80gb"},
                {"bert-large", "v100-sxm2-32gb"}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        ap_case job = job_of(f, jobs[i].model, jobs[i].chip, 1);
        job.precision = AP_PREC_FP32;
        ap_layout layout;
        ap_layout_clear(&layout);
        const explained *e = explain(f, &job, &layout);
        assert_true(e->trace->lines.count > 3);
        assert_true(e->trace->consts.count > 3);
        bool peak = false;
        for (size_t k = 0; k < e->trace->lines.count; k++)
            peak = peak || (strcmp(e->trace->lines.items[k].name, "peak") == 0 &&
                            e->trace->lines.items[k].value == e->estimate.peak_bytes);
        assert_true(peak);
    }
}

/* Whatever an estimator says it assumed has a reason. */
static void assumptions_have_reasons(void **state)
{
    (void)state;
    static const char *const names[] = {"sequence_length", "sharding",     "tensor_parallel", "micro_batch",
                                        "recompute",       "global_batch", "optimizer",       "threads"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(ap_trace_why(names[i]));
    assert_null(ap_trace_why("nothing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_have_the_shapes_of_the_shards),
        cmocka_unit_test(products_add_up_to_the_term),
        cmocka_unit_test(experts_add_up_too),
        cmocka_unit_test(constants_are_those_that_move_a_term),
        cmocka_unit_test(a_constant_is_its_value_and_deviations),
        cmocka_unit_test(bands_name_their_cell),
        cmocka_unit_test(every_engine_explains_itself),
        cmocka_unit_test(assumptions_have_reasons),
    };
    return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
