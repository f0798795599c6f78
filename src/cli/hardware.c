#include "cli/hardware.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"
#include "io/file.h"

#define MOST_BYTES    ((size_t)4 << 20)
#define PATIENCE_MS   3000
#define KIB_PER_GIB   1048576.0
#define MIB_PER_GIB   1024.0

/* Reads a small file of /proc or /sys; NULL when there is none. */
static char *slurp(ap_arena *arena, const char *path)
{
    ap_diags ignored;
    ap_diags_init(&ignored, arena);
    char *text = NULL;
    size_t len;
    return ap_file_exists(path) && ap_file_read(path, MOST_BYTES, arena, &ignored, &text, &len) == AP_OK ? text : NULL;
}

/* ---- processor and memory ---------------------------------------------------------------------------------------- */

/* Value of the first "key : value" line, or NULL. */
static const char *field_of(ap_arena *arena, const char *text, const char *key)
{
    size_t len = strlen(key);
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        const char *colon = strncmp(line, key, len) == 0 ? line + len : NULL;
        while (colon && (*colon == ' ' || *colon == '\t'))
            colon++;
        if (!colon || *colon != ':')
            continue;
        const char *value = colon + 1 + strspn(colon + 1, " \t");
        return ap_arena_strndup(arena, value, strcspn(value, "\n"));
    }
    return NULL;
}

static int count_lines_with(const char *text, const char *start)
{
    int count = 0;
    for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
        count += strncmp(line, start, strlen(start)) == 0;
    return count;
}

static int count_sockets(const char *text)
{
    int most = -1;
    for (const char *at = text; (at = strstr(at, "physical id")); at++) {
        const char *colon = strchr(at, ':');
        int id = colon ? (int)strtol(colon + 1, NULL, 10) : -1;
        most = id > most ? id : most;
    }
    return most + 1;
}

/* The instruction sets that decide how fast a CPU trains. */
static ap_value *cpu_features(ap_arena *arena, const char *flags)
{
    static const char *const wanted[] = {"avx2",     "avx512f",     "avx512_vnni", "avx512_bf16", "amx_tile",
                                         "amx_bf16", "amx_int8",    "asimd",       "sve",         "bf16",
                                         "i8mm",     "avx512_fp16", NULL};
    ap_value *list = ap_value_list(arena);
    for (size_t i = 0; flags && wanted[i]; i++) {
        const char *padded = ap_arena_printf(arena, " %s ", flags);
        if (strstr(padded, ap_arena_printf(arena, " %s ", wanted[i])))
            ap_value_push(arena, list, ap_value_text(arena, wanted[i]));
    }
    return list;
}

static ap_value *detect_cpu(ap_arena *arena, const char *proc)
{
    const char *text = slurp(arena, ap_arena_printf(arena, "%s/cpuinfo", proc));
    const char *flags = text ? field_of(arena, text, "flags") : NULL;
    ap_value *cpu = ap_value_map(arena);
    int sockets = text ? count_sockets(text) : 0, logical = text ? count_lines_with(text, "processor") : 0;
    ap_value_put(arena, cpu, "model", ap_value_text(arena, text ? field_of(arena, text, "model name") : NULL));
    ap_value_put(arena, cpu, "logical_cpus", logical ? ap_value_int(arena, logical) : ap_value_null(arena));
    ap_value_put(arena, cpu, "sockets", sockets ? ap_value_int(arena, sockets) : ap_value_null(arena));
    ap_value_put(arena, cpu, "features",
                 cpu_features(arena, flags ? flags : (text ? field_of(arena, text, "Features") : NULL)));
    return cpu;
}

static double detect_memory_gib(ap_arena *arena, const char *proc)
{
    const char *text = slurp(arena, ap_arena_printf(arena, "%s/meminfo", proc)), *end;
    const char *total = text ? field_of(arena, text, "MemTotal") : NULL;
    double kib;
    return total && ap_num_parse_prefix(total, &kib, &end) ? kib / KIB_PER_GIB : AP_UNKNOWN;
}

/* ---- accelerators ------------------------------------------------------------------------------------------------ */

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Reads a child's output until it ends or patience does. */
static void read_patiently(int fd, ap_sbuf *out)
{
    char chunk[4096];
    int64_t deadline = now_ms() + PATIENCE_MS;
    for (int64_t left; (left = deadline - now_ms()) > 0 && out->len < MOST_BYTES;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        if (poll(&wait, 1, (int)left) <= 0)
            return;
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got <= 0)
            return;
        ap_sbuf_add_len(out, chunk, (size_t)got);
    }
}

static void run_in_child(const char *const *argv, int out)
{
    int null = open("/dev/null", O_RDWR);
    if (null < 0 || dup2(null, 0) < 0 || dup2(out, 1) < 0 || dup2(null, 2) < 0)
        _exit(127);
    execvp(argv[0], (char *const *)(uintptr_t)argv);
    _exit(127);
}

/* What a command prints; "" when it is missing, fails or hangs. */
static const char *ask(ap_arena *arena, const char *const *argv)
{
    ap_sbuf out;
    ap_sbuf_init(&out, arena);
    int ends[2];
    if (pipe(ends) != 0)
        return "";
    pid_t child = fork();
    if (child == 0)
        run_in_child(argv, ends[1]);
    close(ends[1]);
    if (child > 0) {
        read_patiently(ends[0], &out);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    close(ends[0]);
    return out.text;
}

static void add_accelerator(ap_arena *arena, ap_value *list, const char *name, double memory_gib, const char *from)
{
    ap_value *item = ap_value_map(arena);
    ap_value_put(arena, item, "name", ap_value_text(arena, name));
    ap_value_put(arena, item, "memory_gib", ap_value_num(arena, memory_gib));
    ap_value_put(arena, item, "from", ap_value_text(arena, from));
    ap_value_push(arena, list, item);
}

static void add_nvidia(ap_arena *arena, ap_value *list)
{
    static const char *const argv[] = {"nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader,nounits",
                                       NULL};
    const char *text = ask(arena, argv);
    while (*text) {
        size_t len = strcspn(text, "\n");
        const char *line = ap_arena_strndup(arena, text, len), *comma = strchr(line, ','), *end;
        double mib;
        if (comma && ap_num_parse_prefix(comma + 1 + strspn(comma + 1, " "), &mib, &end))
            add_accelerator(arena, list, ap_arena_strndup(arena, line, (size_t)(comma - line)), mib / MIB_PER_GIB,
                            "nvidia-smi");
        text += len + (text[len] == '\n');
    }
}

/* PCI classes 0x03 (display) and 0x12 (processing accelerator) of vendors that make chips for training. */
static const char *pci_vendor(const char *vendor)
{
    static const struct { const char *id, *name; } known[] = {
        {"0x10de", "NVIDIA"}, {"0x1002", "AMD"}, {"0x8086", "Intel"}, {"0x1da3", "Habana"}, {"0x1d0f", "AWS Neuron"},
        {"0x1ae0", "Google TPU"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (vendor && strncmp(vendor, known[i].id, 6) == 0)
            return known[i].name;
    return NULL;
}

static void add_pci_device(ap_arena *arena, ap_value *list, const char *dir, bool with_nvidia)
{
    const char *class = slurp(arena, ap_arena_printf(arena, "%s/class", dir));
    const char *vendor_id = slurp(arena, ap_arena_printf(arena, "%s/vendor", dir));
    const char *device = slurp(arena, ap_arena_printf(arena, "%s/device", dir)), *vendor = pci_vendor(vendor_id);
    bool accelerator = class && (strncmp(class, "0x03", 4) == 0 || strncmp(class, "0x12", 4) == 0);
    if (!accelerator || !vendor || !device || (!with_nvidia && ap_streq(vendor, "NVIDIA")))
        return;
    const char *vram = slurp(arena, ap_arena_printf(arena, "%s/mem_info_vram_total", dir)), *end; /* amdgpu */
    double bytes;
    double gib = vram && ap_num_parse_prefix(vram, &bytes, &end) ? bytes / 1073741824.0 : AP_UNKNOWN;
    add_accelerator(arena, list,
                    ap_arena_printf(arena, "%s, PCI device %.*s", vendor, (int)strcspn(device, "\n"), device), gib, "pci");
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void add_pci(ap_arena *arena, ap_value *list, const char *sys, bool with_nvidia)
{
    const char *base = ap_arena_printf(arena, "%s/bus/pci/devices", sys);
    const char **names = NULL;
    size_t count = 0, capacity = 0;
    DIR *dir = opendir(base);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        if (entry->d_name[0] != '.')
            *AP_PUSH(arena, names, count, capacity) = ap_arena_strdup(arena, entry->d_name);
    if (dir)
        closedir(dir);
    if (count)
        qsort(names, count, sizeof *names, by_name);
    for (size_t i = 0; i < count; i++)
        add_pci_device(arena, list, ap_arena_printf(arena, "%s/%s", base, names[i]), with_nvidia);
}

ap_value *ap_hardware_detect(ap_arena *arena, const char *proc, const char *sys)
{
    ap_value *machine = ap_value_map(arena), *accelerators = ap_value_list(arena);
    ap_value_put(arena, machine, "cpu", detect_cpu(arena, proc));
    ap_value_put(arena, machine, "memory_gib", ap_value_num(arena, detect_memory_gib(arena, proc)));
    add_nvidia(arena, accelerators);
    add_pci(arena, accelerators, sys, accelerators->as.list.count == 0);
    ap_value_put(arena, machine, "accelerators", accelerators);
    return machine;
}
