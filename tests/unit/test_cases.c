/* Measurement rows as cases: what is read, what is not, and free text. */
#include "testing.h"

#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "estimate/predict.h"

typedef struct fixture {
    ap_arena *arena;
    ap_diags diags;
    ap_catalog *catalog;
} fixture;

static int setup(void **state)
{
    static fixture f;
    f.arena = ap_arena_new();
    ap_diags_init(&f.diags, f.arena);
    f.catalog = ap_catalog_builtin(f.arena);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    ap_arena_free(((fixture *)*state)->arena);
    return 0;
}

static ap_measures parse(fixture *f, const char *text)
{
    ap_measures measures;
    assert_int_equal(ap_cases_parse(text, strlen(text), "cases.csv", f->catalog, f->arena, &f->diags, &measures), AP_OK);
    return measures;
}

static void columns_may_come_in_any_order_and_number(void **state)
{
    fixture *f = *state;
    ap_measures m = parse(f, "metric,unknown_column,chips,chip,model,value,sharding,seq_len\n"
                             "tokens_per_s,x,8,a100-sxm4-80gb,llama-2-7b,12345,offload,4096\n");
    assert_int_equal(m.count, 1);
    const ap_measure *row = &m.items[0];
    assert_null(row->skip);
    assert_int_equal(row->metric, AP_METRIC_TOKENS_PER_S);
    assert_same(row->value, 12345);
    assert_same(row->job.chips, 8);
    assert_same(row->job.seq_len, 4096);
    assert_string_equal(row->job.chip->id, "a100-sxm4-80gb");
    assert_string_equal(row->job.model->id, "llama-2-7b");
    assert_int_equal(row->layout.sharding, AP_SHARD_ZERO3);
    assert_int_equal(row->job.offload, AP_OFFLOAD_OPTIMIZER | AP_OFFLOAD_PARAMETERS);
    assert_true(isnan(row->layout.micro_batch));
    assert_int_equal(row->job.flash, -1);
}

static void neither_value_nor_notes_reach_a_prediction(void **state)
{
    fixture *f = *state;
    ap_measures m = parse(f, "model,chip,chips,seq_len,micro_batch,metric,value,notes\n"
                             "llama-2-7b,h100-sxm5-80gb,8,4096,1,tokens_per_s,1,runs at 99999 tokens/s\n"
                             "llama-2-7b,h100-sxm5-80gb,8,4096,1,tokens_per_s,99999,\n");
    const ap_calibration *calibration = ap_calibration_builtin(f->arena);
    ap_prediction a, b;
    ap_predict(calibration, &m.items[0], &a);
    ap_predict(calibration, &m.items[1], &b);
    assert_null(a.reason);
    assert_true(a.p50 > 0);
    assert_same(a.p50, b.p50);
    assert_same(a.p10, b.p10);
    assert_true(a.p10 < a.p50 && a.p50 < a.p90);
}

static void the_rows_shape_beats_the_profile(void **state)
{
    fixture *f = *state;
    ap_measures m = parse(f, "model,chip,metric,layers,hidden,params_m,fwd_gmac_per_sample\n"
                             "llama-2-7b,t4,tokens_per_s,16,,,\n"
                             "made-up,t4,samples_per_s,,,25.5,4.1\n");
    const ap_model *cut = m.items[0].job.model;
    assert_same(cut->layers, 16);
    assert_same(cut->hidden, 4096);
    assert_true(isnan(cut->params)); /* half the layers: the published count no longer holds */
    assert_same(m.items[1].job.model->params, 25.5e6);
    assert_near(m.items[1].job.model->fwd_mac, 4.1e9, 1e-12);
}

static void storage_formats_of_a_frozen_base_are_not_arithmetic(void **state)
{
    fixture *f = *state;
    ap_measures m = parse(f, "model,chip,task,precision,metric\nllama-2-7b,a100-sxm4-40gb,qlora,nf4,tokens_per_s\n"
                             "resnet50,a100-sxm4-40gb,train,fp16,samples_per_s\n");
    assert_int_equal(m.items[0].job.base_precision, AP_PREC_NF4);
    assert_int_equal(m.items[0].job.precision, AP_PREC_BF16);
    assert_int_equal(m.items[0].job.method, AP_METHOD_QLORA);
    assert_int_equal(m.items[1].job.base_precision, -1);
    assert_int_equal(m.items[1].job.precision, AP_PREC_FP16);
}

static void rows_that_cannot_be_judged_say_why(void **state)
{
    fixture *f = *state;
    ap_measures m = parse(f, "model,chip,metric,value\nresnet50,,samples_per_s,1\nresnet50,warp-9,samples_per_s,1\n"
                             "resnet50,t4,bogomips,1\nresnet50,t4,samples_per_s,abc\n");
    for (int i = 0; i < 3; i++)
        assert_non_null(m.items[i].skip);
    assert_null(m.items[3].skip);
    assert_true(isnan(m.items[3].value));
    assert_non_null(testing_find(&f->diags, 901));
}

#define LAMBDA "lambdal/deeplearning-benchmark: pytorch/results/machine/PyTorch_task/"

#define HABANA "\"huggingface/optimum-habana: tests/baselines/fixture/tests/test_examples.json key "

/* Expected values: config_pytorch_{8xV100,4xV100,8xA100_80GB_SXM4,2x2080Ti,A40}.sh of the repository. */
static void what_a_benchmarks_tables_leave_out_comes_from_its_scripts(void **state)
{
    fixture *f = *state;
    ap_measures m = parse(f, "model,chip,chips,precision,seq_len,micro_batch,metric,source\n"
                             "gnmt,v100-sxm2-32gb,8,fp32,,,tokens_per_s," LAMBDA "\n"
                             "ncf,v100-sxm2-32gb,4,fp16,,,samples_per_s," LAMBDA "\n"
                             "transformer-xl-large,a100-sxm4-80gb,8,tf32,384,,tokens_per_s," LAMBDA "\n"
                             "bert-large,rtx-2080-ti,2,fp16,384,,samples_per_s," LAMBDA "\n"
                             "gnmt,v100-sxm2-32gb,8,fp32,,64,tokens_per_s," LAMBDA "\n"
                             "ncf,a40,3,fp32,,,samples_per_s," LAMBDA "\n"
                             "gnmt,v100-sxm2-32gb,8,fp32,,,tokens_per_s,elsewhere\n"
                             "llama-7b,gaudi2,8,bf16,,,samples_per_s," HABANA "\"\"test_run_lora_clm_llama-7b_multi_card\"\"\"\n"
                             "bert-large,gaudi1,1,bf16,128,,tokens_per_s,huggingface/optimum-habana tests/baselines/x\n");
    assert_same(m.items[0].layout.micro_batch, 372);
    assert_same(m.items[1].job.global_batch, 22278184);
    assert_true(isnan(m.items[1].layout.micro_batch));
    assert_same(m.items[2].job.global_batch, 182); /* the script of fp32 is what tf32 rows ran */
    assert_same(m.items[2].job.seq_len, 256);      /* and its length stands over the row's */
    assert_same(m.items[3].layout.micro_batch, 2); /* its script's arguments are shifted by one */
    assert_int_equal(m.items[3].job.precision, AP_PREC_FP32);
    assert_same(m.items[3].job.chips, 1);
    assert_same(m.items[4].layout.micro_batch, 64); /* what the row has stays */
    assert_near(m.items[5].job.global_batch, 15e6, 1e-12); /* from two or four cards: 5 million each */
    assert_true(isnan(m.items[6].layout.micro_batch));
    assert_same(m.items[7].layout.micro_batch, 8); /* llama_7b.json: 8 a card, gathered over 2 steps, length 512 */
    assert_same(m.items[7].job.global_batch, 128);
    assert_same(m.items[7].job.seq_len, 512);
    assert_same(m.items[8].layout.micro_batch, 32); /* MRPC at 128; SQuAD at 384 has 24 */
}

static void a_file_without_the_columns_is_no_measurement_table(void **state)
{
    fixture *f = *state;
    ap_measures measures;
    assert_int_equal(ap_cases_parse("a,b\n1,2\n", 8, "x.csv", f->catalog, f->arena, &f->diags, &measures), AP_BAD_INPUT);
    assert_non_null(testing_find(&f->diags, 900));
}

static void dates(void **state)
{
    (void)state;
    assert_near(ap_cases_date("2023-07"), 2023 + 6.5 / 12, 1e-12);
    assert_same(ap_cases_date("2023"), 2023.5);
    assert_true(isnan(ap_cases_date("soon")));
    assert_true(isnan(ap_cases_date(NULL)));
}

static void network(const char *text, double per_node_gbit, double chips_per_node)
{
    ap_case job;
    ap_case_clear(&job);
    job.chips_per_node = chips_per_node;
    ap_cases_read_interconnect(text, &job);
    assert_near(job.nic_bytes_per_s, per_node_gbit * 1e9 / 8, 1e-12);
}

static void networks(void **state)
{
    (void)state;
    network("NVLINK Gen5 1800 GB/s + NVSWITCH Gen5; 4x ConnectX-7 IB NDR 400Gb/s", 1600, 8);
    network("NVLINK Gen4 900 GB/s + NVSWITCH Gen3; Storage: 2x ConnectX-7 IB NDR 400Gb/s, Compute: 8x ConnectX-7 IB NDR "
            "400Gb/s",
            3200, 8);
    network("NVLink + 4x Omni-Path 100Gb/s", 400, 8);
    network("RoCE 1600Gbps/node", 1600, 8);
    network("NVLink3; 800 Gbit/s per node", 800, 8);
    network("NVLink + 400Gb/s RDMA per GPU", 3200, 8);
    network("NVLink+8x HDR IB (Selene)", 1600, 8);
    network("NVLink 600 GB/s", AP_UNKNOWN, 8);
    network("PCIe", AP_UNKNOWN, 4);
}

static void fast_domains_and_buses(void **state)
{
    (void)state;
    ap_case job;
    ap_case_clear(&job);
    ap_cases_read_interconnect("NVL72", &job);
    assert_same(job.domain_chips, 72);
    ap_case_clear(&job);
    ap_cases_read_interconnect("PCIe 4.0", &job);
    assert_same(job.intra_bytes_per_s, 32e9);
}

static void processors(void **state)
{
    const fixture *f = *state;
    assert_string_equal(ap_cases_find_cpu(f->catalog, "cpu:Intel Xeon Platinum 8275CL")->id, "xeon-8275cl");
    assert_string_equal(ap_cases_find_cpu(f->catalog, "cpu:AMD EPYC 9R14")->id, "epyc-9r14");
    assert_string_equal(ap_cases_find_cpu(f->catalog, "cpu:AMD EPYC 7742 64-Core Processor")->id, "epyc-7742");
}

static void sources(void **state)
{
    const fixture *f = *state;
    assert_string_equal(ap_cases_family("mlcommons/training_results_v3.0: NVIDIA/x", f->arena), "mlcommons/training_results_v3.0");
    assert_string_equal(ap_cases_family("NVIDIA/Megatron-LM@5281919420: README", f->arena), "NVIDIA/Megatron-LM");
    assert_string_equal(ap_cases_family("arXiv 2412.19437 Table 1", f->arena), "arXiv 2412.19437");
    assert_string_equal(ap_cases_family(NULL, f->arena), "unknown");
}

/* A page's own suite against a folder's: what a run names decides, then the chips; the longer beginning only between equals. */
static void the_run_that_names_most_wins(void **state)
{
    fixture *f = *state;
    static const char page[] = "bench/marks: a/rather/long/way/to/one/page.md";
    ap_suite_run whole_page = {.micro_batch = 1, .global_batch = AP_UNKNOWN, .of_seq_len = AP_UNKNOWN, .seq_len = AP_UNKNOWN,
                               .compile = -1, .ran_chips = AP_UNKNOWN};
    ap_suite_run of_model = whole_page;
    of_model.model = "resnet50";
    of_model.micro_batch = 2;
    ap_suite suites[] = {
        {.id = "page", .rows_from = page, .chips = AP_UNKNOWN, .fills_card = -1, .runs = {&whole_page, 1}},
        {.id = "model", .rows_from = "bench", .chips = AP_UNKNOWN, .fills_card = -1, .runs = {&of_model, 1}},
    };
    f->catalog->suites.items = suites;
    f->catalog->suites.count = 2;
    static const char rows[] = "model,chip,chips,metric,value,source\nresnet50,t4,1,samples_per_s,1,\"bench/marks: a/rather/long/way/to/one/page.md\"\n";
    assert_same(parse(f, rows).items[0].layout.micro_batch, 2);
    whole_page.model = "resnet50"; /* now they name the same: the page's */
    assert_same(parse(f, rows).items[0].layout.micro_batch, 1);
    suites[0].chips = 8;
    suites[1].chips = 1; /* one of the row's number of chips is nearer than a longer text */
    assert_same(parse(f, rows).items[0].layout.micro_batch, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(columns_may_come_in_any_order_and_number, setup, teardown),
        cmocka_unit_test_setup_teardown(neither_value_nor_notes_reach_a_prediction, setup, teardown),
        cmocka_unit_test_setup_teardown(the_rows_shape_beats_the_profile, setup, teardown),
        cmocka_unit_test_setup_teardown(storage_formats_of_a_frozen_base_are_not_arithmetic, setup, teardown),
        cmocka_unit_test_setup_teardown(rows_that_cannot_be_judged_say_why, setup, teardown),
        cmocka_unit_test_setup_teardown(what_a_benchmarks_tables_leave_out_comes_from_its_scripts, setup, teardown),
        cmocka_unit_test_setup_teardown(a_file_without_the_columns_is_no_measurement_table, setup, teardown),
        cmocka_unit_test_setup_teardown(dates, setup, teardown),
        cmocka_unit_test_setup_teardown(networks, setup, teardown),
        cmocka_unit_test_setup_teardown(fast_domains_and_buses, setup, teardown),
        cmocka_unit_test_setup_teardown(processors, setup, teardown),
        cmocka_unit_test_setup_teardown(the_run_that_names_most_wins, setup, teardown),
        cmocka_unit_test_setup_teardown(sources, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
