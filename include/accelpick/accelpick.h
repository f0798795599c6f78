/* accelpick as a library: questions in YAML or JSON, answers in JSON (docs/schema), no state between calls.
 *
 *     accelpick *ap = accelpick_open(NULL, NULL);
 *     char *json, *errors;
 *     int code = accelpick_recommend(ap, "model: llama-3.1-8b\nmethod: lora\ndata: {tokens: 200M}\n", &json, &errors);
 *     …
 *     accelpick_free(json);
 *     accelpick_free(errors);
 *     accelpick_close(ap);
 *
 * Link with `pkg-config --static --libs accelpick`. A handle may be used by one thread at a time; several handles may be
 * used by several threads. Nothing is printed, no network is used, the environment is not read, and the caller's locale
 * does not matter. Texts that come back are UTF-8, owned by the caller, and freed with accelpick_free; where a pointer for
 * one is NULL it is not made.
 * Functions return the program's exit codes: 0 answered, 2 unknown name, 3 nothing feasible or does not fit (the answer is
 * still there), 4 bad or no workload, 5 bad data folder, 7 unreadable file. `errors` holds what the program would print. */
#ifndef ACCELPICK_H
#define ACCELPICK_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct accelpick accelpick;

const char *accelpick_version(void);

/* data_dir: a folder laid out as the project's data/, its calibration folder with it, or NULL for the built-in
 * catalog. NULL on failure. */
accelpick *accelpick_open(const char *data_dir, char **ret_errors);
void accelpick_close(accelpick *ap);

/* workload: a workload document. Relative paths in it start from the current folder. */
int accelpick_recommend(accelpick *ap, const char *workload, char **ret_json, char **ret_errors);

/* targets: "h100-sxm5-80gb:8", "aws/p5.48xlarge@us-east-1+spot" …, ended by NULL. */
int accelpick_estimate(accelpick *ap, const char *workload, const char *const *targets, char **ret_json,
                       char **ret_errors);

void accelpick_free(char *text);

#ifdef __cplusplus
}
#endif

#endif
