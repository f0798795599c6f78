/* Reading of job files: values as foreign formats write them, shell text, TOML, recognition, places of facts. */
#include "testing.h"

#include <string.h>

#include "jobs/reader.h"

static ap_arena *arena;

static int setup(void **state)
{
    (void)state;
    arena = ap_arena_new();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ap_arena_free(arena);
    return 0;
}

static void assert_number(double have, double want)
{
    if (!(have <= want && have >= want))
        fail_msg("%.17g instead of %.17g", have, want);
}

/* -- values: sbatch(1) and the Kubernetes quantity grammar
 * ------------------------------------------------------------- */

static void slurm_times(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"45", 2700},          {"90:30", 5430},     {"08:00:00", 28800},  {"1-00", 86400},
                 {"1-00:00:00", 86400}, {"3-12:30", 304200}, {"100:00:00", 360000}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double seconds = -1;
        assert_true(ap_slurm_time(cases[i].text, &seconds));
        assert_number(seconds, cases[i].seconds);
    }
    double seconds;
    assert_false(ap_slurm_time("abc", &seconds));
    assert_false(ap_slurm_time("1-", &seconds));
    assert_false(ap_slurm_time("", &seconds));
}

static void quantities(void **state)
{
    double value;
    (void)state;
    assert_true(ap_foreign_bytes("8G", &value));
    assert_number(value, 8e9);
    assert_true(ap_foreign_bytes("8Gi", &value));
    assert_number(value, 8589934592.0);
    assert_true(ap_slurm_memory("94G", &value));
    assert_number(value, 94 * 1073741824.0);
    assert_true(ap_slurm_memory("4000", &value));
    assert_number(value, 4000 * 1048576.0);
    assert_false(ap_slurm_memory("0", &value));
    assert_true(ap_foreign_cpus("500m", &value));
    assert_number(value, 0.5);
    assert_true(ap_foreign_num("20_000", &value));
    assert_number(value, 20000);
    assert_true(ap_foreign_num("2e-5", &value));
    assert_true(ap_foreign_num(".1", &value));
    assert_false(ap_foreign_num("auto", &value));
    assert_false(ap_foreign_num("$N", &value));
    assert_true(ap_foreign_seconds("12h", &value));
    assert_number(value, 43200);
    assert_true(ap_foreign_seconds("604800s", &value));
    assert_number(value, 604800);
    assert_true(ap_dd_hh_mm_ss("02:00:00:00", &value));
    assert_number(value, 172800);
}

static void unknown_values(void **state)
{
    (void)state;
    assert_true(ap_foreign_unknown("auto"));
    assert_true(ap_foreign_unknown("${{ run.args }}"));
    assert_true(ap_foreign_unknown("< your compute name >"));
    assert_false(ap_foreign_unknown("meta-llama/Llama-3.1-8B"));
    assert_true(ap_foreign_placeholder("<your-project>"));
    assert_true(ap_foreign_placeholder("WILL_BE_REPLACED"));
    assert_false(ap_foreign_placeholder("a < b and c > d 1"));
    assert_false(ap_foreign_placeholder("yourself/model"));
    assert_int_equal(ap_foreign_bool("True"), 1);
    assert_int_equal(ap_foreign_bool("no"), 0);
    assert_int_equal(ap_foreign_bool("auto"), -1);
}

/* -- shell text
 * -------------------------------------------------------------------------------------------------------------- */

static ap_shell read_shell(const char *text)
{
    ap_shell shell;
    ap_shell_init(&shell, arena, text, strlen(text));
    ap_shell_read(&shell, text, strlen(text), 0, true);
    return shell;
}

static const char *words_of(const ap_shell *shell, size_t command)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    for (size_t i = 0; i < shell->commands[command].words.count; i++)
        ap_sbuf_printf(&out, "%s%s", i ? "|" : "", shell->commands[command].words.items[i].text);
    return out.text;
}

static void shell_words(void **state)
{
    (void)state;
    ap_shell shell =
        read_shell("# comment\nA=8 # x\nrun --n $A \\\n  'two words' \"it's $A\" > log 2>&1 && next; last &\n");
    assert_int_equal(shell.command_count, 4);
    assert_string_equal(words_of(&shell, 1), "run|--n|8|two words|it's 8");
    assert_string_equal(words_of(&shell, 2), "next");
    assert_string_equal(words_of(&shell, 3), "last");
}

static void shell_variables(void **state)
{
    (void)state;
    ap_shell shell = read_shell("N=2\nARGS=\"--a 1 --b 2\"\nLIST=(--x 3 --y)\nLIST+=(4)\nrun $ARGS ${LIST[@]} $((N * 8 "
                                "+ 1)) ${M:-7} ${N:-9} \"$UNSET\" $(date)\n");
    const ap_shell_command *last = &shell.commands[shell.command_count - 1];
    assert_string_equal(words_of(&shell, shell.command_count - 1), "run|--a|1|--b|2|--x|3|--y|4|17|7|2|$UNSET|$(date)");
    assert_true(last->words.items[12].unknown);
    assert_false(last->words.items[9].unknown);
}

static void shell_here_documents(void **state)
{
    (void)state;
    ap_shell shell = read_shell("sbatch <<-EOF\n\t#SBATCH -N 2\n\tsrun x\n\tEOF\nafter\n");
    assert_int_equal(shell.command_count, 2);
    assert_non_null(shell.commands[0].here);
    assert_non_null(strstr(shell.commands[0].here, "srun x"));
    assert_string_equal(words_of(&shell, 1), "after");
}

/* Expansions feed on one another: the budget ends it. */
static void shell_expansion_bomb(void **state)
{
    (void)state;
    ap_sbuf text;
    ap_sbuf_init(&text, arena);
    ap_sbuf_add(&text, "A=\"x x x x x x x x\"\n");
    for (char c = 'A'; c < 'Z'; c++)
        ap_sbuf_printf(&text, "%c=\"$%c $%c $%c $%c $%c $%c $%c $%c\"\n", c + 1, c, c, c, c, c, c, c, c);
    ap_sbuf_add(&text, "run $Z\n");
    ap_shell shell = read_shell(text.text);
    assert_true(shell.command_count > 0);
    assert_true(ap_arena_used_bytes(arena) < (size_t)200 << 20);
}

/* -- TOML
 * --------------------------------------------------------------------------------------------------------------------
 */

static const ap_node *toml(const char *text, size_t *ret_errors)
{
    ap_diags diags;
    ap_diags_init(&diags, arena);
    const ap_node *root = ap_toml_parse(text, strlen(text), "t.toml", arena, &diags);
    *ret_errors = diags.errors;
    return root;
}

static void toml_subset(void **state)
{
    size_t errors;
    (void)state;
    const ap_node *root =
        toml("a = 1 # x\n[model]\nname = \"llama3\"\nsizes = [1,\n 2]\n\"quoted key\" = 'lit'\ninline = {x = 1, y.z = "
             "true}\n[a1.b]\nc.d = 1.5e-4\n[[list]]\nv=1\n[[list]]\nv=2\n",
             &errors);
    assert_int_equal(errors, 0);
    assert_string_equal(ap_node_text(ap_node_at(root, "model.name")), "llama3");
    assert_string_equal(ap_node_text(ap_node_at(root, "model.sizes.1")), "2");
    assert_string_equal(ap_node_text(ap_node_at(root, "model.inline.y.z")), "true");
    assert_string_equal(ap_node_text(ap_node_at(root, "a1.b.c.d")), "1.5e-4");
    assert_string_equal(ap_node_text(ap_node_at(root, "list.1.v")), "2");
    assert_int_equal(ap_node_at(root, "model.name")->pos.line, 3);
    assert_int_equal(ap_node_at(root, "model.name")->pos.col, 8);
}

static void toml_refusals(void **state)
{
    static const char *const bad[] = {"a = \n",      "a = 1\na = 2\n", "[x\n",          "a = \"open\n",
                                      "a = [1 2]\n", "= 1\n",          "a = 1 b = 2\n", "a.b = 1\na = 2\n"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t errors;
        if (toml(bad[i], &errors) || errors != 1)
            fail_msg("accepted: %s", bad[i]);
    }
}

/* -- files
 * -------------------------------------------------------------------------------------------------------------------
 */

static ap_jobfile *read_file(const char *path, const char *text)
{
    ap_diags diags;
    static const ap_jobs_request request = {0};
    ap_jobs jobs = {.arena = arena, .request = &request};
    ap_diags_init(&diags, arena);
    return ap_jobs_read_text(&jobs, path, text, strlen(text), AP_JF_UNKNOWN, &diags) ? jobs.files[0] : NULL;
}

static void slurm_facts(void **state)
{
    (void)state;
    const ap_jobfile *file =
        read_file("j.sh", "#!/bin/bash\n#SBATCH -N4 --gres=gpu:a100:8,tmpdir:300  # comment\n##SBATCH "
                          "--time=1\n#\\SBATCH --time=1\n#SBATCH -t 2:00:00\n"
                          "srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node 8 t.py --bf16\n#SBATCH --time=5\n");
    assert_non_null(file);
    assert_int_equal(file->format, AP_JF_SLURM);
    assert_number(file->facts.n.nodes.value, 4);
    assert_number(file->facts.n.chips_per_node.value, 8);
    assert_number(file->facts.n.time_limit_s.value, 7200);
    assert_int_equal(file->facts.n.time_limit_s.pos.line, 5);
    assert_number(file->facts.n.launch_nodes.value, 4);
    assert_int_equal(file->facts.n.launch_per_node.pos.line, 6);
    assert_string_equal(file->facts.chips.items[0].value, "a100");
    assert_number(file->facts.n.by_srun.value, 1);
}

/* A value that is not in the file is stated but unknown: never 0, never 1. */
static void unresolved_facts(void **state)
{
    (void)state;
    const ap_jobfile *file = read_file("j.sh", "#!/bin/bash\nMODEL=$1\ntorchrun --nproc_per_node=$GPUS t.py "
                                               "--model_name_or_path $MODEL --max_steps $((STEPS * 2))\n");
    assert_non_null(file);
    assert_true(ap_jnum_stated(&file->facts.n.launch_per_node));
    assert_false(ap_known(file->facts.n.launch_per_node.value));
    assert_true(ap_jtext_stated(&file->facts.t.model));
    assert_null(file->facts.t.model.value);
    assert_false(ap_known(file->facts.n.steps.value));
    assert_false(ap_jnum_stated(&file->facts.n.micro_batch));
}

static void formats_by_content(void **state)
{
    static const struct {
        const char *path, *text;
        ap_jobformat format;
    } cases[] = {
        {"x.yaml", "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {}}}\n", AP_JF_K8S},
        {"x.yaml", "resources: {accelerators: A100:8}\nrun: echo\n", AP_JF_SKYPILOT},
        {"x.yml", "type: task\ncommands: [x]\n", AP_JF_DSTACK},
        {"x.json", "{\"zero_optimization\": {\"stage\": 2}}", AP_JF_DEEPSPEED},
        {"x.yaml", "distributed_type: FSDP\n", AP_JF_ACCELERATE},
        {"config.json", "{\"model_type\": \"llama\", \"hidden_size\": 8}", AP_JF_HFCONFIG},
        {"x.yml", "base_model: a\nadapter: lora\n", AP_JF_AXOLOTL},
        {"x.yaml", "finetuning_type: lora\n", AP_JF_LLAMAFACTORY},
        {"x.yaml", "model: {_component_: torchtune.models.llama3.lora_llama3_8b}\n", AP_JF_TORCHTUNE},
        {"x.toml", "[model]\nflavor='8B'\n[training]\nsteps=1\n", AP_JF_TORCHTITAN},
        {"x.sh", "#!/bin/bash\nxpk workload create --tpu-type=v5p-8\n", AP_JF_XPK},
        {"x.sh", "export DGXNNODES=1\n", AP_JF_MLPERF},
        {"x.ipynb", "{\"nbformat\": 4, \"cells\": []}", AP_JF_COLAB},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const ap_jobfile *file = read_file(cases[i].path, cases[i].text);
        if (!file || file->format != cases[i].format)
            fail_msg("%s: %s", cases[i].text, file ? ap_jobformat_names[file->format] : "not read");
    }
    assert_null(read_file("x.yaml", "just: {some: data}\n"));
    assert_null(read_file("x.sh", "#!/bin/bash\necho hello\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slurm_times, setup, teardown),
        cmocka_unit_test_setup_teardown(quantities, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_values, setup, teardown),
        cmocka_unit_test_setup_teardown(shell_words, setup, teardown),
        cmocka_unit_test_setup_teardown(shell_variables, setup, teardown),
        cmocka_unit_test_setup_teardown(shell_here_documents, setup, teardown),
        cmocka_unit_test_setup_teardown(shell_expansion_bomb, setup, teardown),
        cmocka_unit_test_setup_teardown(toml_subset, setup, teardown),
        cmocka_unit_test_setup_teardown(toml_refusals, setup, teardown),
        cmocka_unit_test_setup_teardown(slurm_facts, setup, teardown),
        cmocka_unit_test_setup_teardown(unresolved_facts, setup, teardown),
        cmocka_unit_test_setup_teardown(formats_by_content, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
