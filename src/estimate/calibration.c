#include "estimate/calibration.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/str.h"
#include "io/file.h"
#include "io/yaml.h"

const char *const ap_scale_names[] = {"log", "linear", "logit", NULL};

/* -- field tables ---------------------------------------------------------------------------------------------------- */

#define ANY_MIN (-1e300)
#define ANY_MAX 1e300

static const ap_field deviation_fields[] = {
    {"key", AP_T_TEXT, offsetof(ap_deviation, key), AP_F_REQUIRED, AP_DIM_NONE, 0, 0, NULL, NULL,
     "Key at the level, e.g. a chip id."},
    {"value", AP_T_NUM, offsetof(ap_deviation, value), AP_F_REQUIRED, AP_DIM_NONE, ANY_MIN, ANY_MAX, NULL, NULL,
     "Deviation on the constant's scale."},
    {"rows", AP_T_NUM, offsetof(ap_deviation, rows), 0, AP_DIM_NONE, 0, ANY_MAX, NULL, NULL,
     "Measured rows it was fitted on."},
};
static const ap_object deviation_object = {"deviation", "How far one key of a level is from the constant's value.",
                                           sizeof(ap_deviation), AP_FIELDS_OF(deviation_fields), NULL};

static const ap_field by_fields[] = {
    {"level", AP_T_TEXT, offsetof(ap_calib_by, level), AP_F_REQUIRED, AP_DIM_NONE, 0, 0, NULL, NULL,
     "What the constant varies by, e.g. chip or stack."},
    {"sd", AP_T_NUM, offsetof(ap_calib_by, sd), AP_F_REQUIRED, AP_DIM_NONE, 0, 100, NULL, NULL,
     "Prior standard deviation of a key's deviation, on the constant's scale."},
    {"values", AP_T_OBJECTS, offsetof(ap_calib_by, values), 0, AP_DIM_NONE, 0, 0, NULL, &deviation_object,
     "Fitted deviations; a key that is not listed has none."},
};
static const ap_object by_object = {"level", "Deviations of a constant by one level.", sizeof(ap_calib_by),
                                    AP_FIELDS_OF(by_fields), NULL};

static const ap_field const_fields[] = {
    {"id", AP_T_TEXT, offsetof(ap_calib_const, id), AP_F_REQUIRED, AP_DIM_NONE, 0, 0, NULL, NULL,
     "Name of the constant in the engine."},
    {"value", AP_T_NUM, offsetof(ap_calib_const, value), AP_F_REQUIRED, AP_DIM_NONE, ANY_MIN, ANY_MAX, NULL, NULL,
     "Fitted value."},
    {"prior", AP_T_NUM, offsetof(ap_calib_const, prior), AP_F_REQUIRED, AP_DIM_NONE, ANY_MIN, ANY_MAX, NULL, NULL,
     "What physics or a data sheet says before any measurement."},
    {"sd", AP_T_NUM, offsetof(ap_calib_const, sd), AP_F_REQUIRED, AP_DIM_NONE, 0, 1e6, NULL, NULL,
     "Prior standard deviation on the constant's scale; 0 = fixed."},
    {"low", AP_T_NUM, offsetof(ap_calib_const, low), 0, AP_DIM_NONE, ANY_MIN, ANY_MAX, NULL, NULL,
     "Lower bound of the value."},
    {"high", AP_T_NUM, offsetof(ap_calib_const, high), 0, AP_DIM_NONE, ANY_MIN, ANY_MAX, NULL, NULL,
     "Upper bound of the value."},
    {"scale", AP_T_ENUM, offsetof(ap_calib_const, scale), AP_F_REQUIRED, AP_DIM_NONE, 0, 0, ap_scale_names, NULL,
     "How deviations act: log (factor), linear (sum) or logit (share)."},
    {"formula", AP_T_TEXT, offsetof(ap_calib_const, formula), 0, AP_DIM_NONE, 0, 0, NULL, NULL,
     "Formula of docs/model.md that uses it."},
    {"doc", AP_T_TEXT, offsetof(ap_calib_const, doc), 0, AP_DIM_NONE, 0, 0, NULL, NULL, "What it means, with unit."},
    {"source", AP_T_TEXT, offsetof(ap_calib_const, source), 0, AP_DIM_NONE, 0, 0, NULL, NULL,
     "Where the prior comes from."},
    {"by", AP_T_OBJECTS, offsetof(ap_calib_const, by), 0, AP_DIM_NONE, 0, 0, NULL, &by_object,
     "Levels that it varies by."},
    {.type = AP_T_POS, .offset = offsetof(ap_calib_const, pos)},
};
static const ap_object const_object = {"constant", "A constant of an estimator formula.", sizeof(ap_calib_const),
                                       AP_FIELDS_OF(const_fields), NULL};

static const ap_field cell_fields[] = {
    {"key", AP_T_TEXT, offsetof(ap_calib_cell, key), AP_F_REQUIRED, AP_DIM_NONE, 0, 0, NULL, NULL,
     "Kind of case: quantity, basis and the engine's own parts."},
    {"low", AP_T_NUM, offsetof(ap_calib_cell, low), AP_F_REQUIRED, AP_DIM_NONE, -50, 0, NULL, NULL,
     "10 % quantile of ln(measured / predicted)."},
    {"high", AP_T_NUM, offsetof(ap_calib_cell, high), AP_F_REQUIRED, AP_DIM_NONE, 0, 50, NULL, NULL,
     "90 % quantile of ln(measured / predicted)."},
    {"rows", AP_T_NUM, offsetof(ap_calib_cell, rows), 0, AP_DIM_NONE, 0, ANY_MAX, NULL, NULL,
     "Held-out predictions in the cell."},
    {"sources", AP_T_NUM, offsetof(ap_calib_cell, sources), 0, AP_DIM_NONE, 0, ANY_MAX, NULL, NULL,
     "Sources they come from."},
};
static const ap_object cell_object = {"interval", "Band of one kind of case, from held-out predictions.",
                                      sizeof(ap_calib_cell), AP_FIELDS_OF(cell_fields), NULL};

static const ap_field fitted_fields[] = {
    {"rows", AP_T_NUM, offsetof(ap_calib_fitted, rows), 0, AP_DIM_NONE, 0, ANY_MAX, NULL, NULL,
     "Measured rows of the fit."},
    {"sources", AP_T_NUM, offsetof(ap_calib_fitted, sources), 0, AP_DIM_NONE, 0, ANY_MAX, NULL, NULL,
     "Sources they come from."},
    {"as_of", AP_T_TEXT, offsetof(ap_calib_fitted, as_of), 0, AP_DIM_NONE, 0, 0, NULL, NULL,
     "Date of the newest row."},
    {"doc", AP_T_TEXT, offsetof(ap_calib_fitted, doc), 0, AP_DIM_NONE, 0, 0, NULL, NULL, "How it was fitted."},
};
static const ap_object fitted_object = {"fitted_on", "What the constants were fitted on.", sizeof(ap_calib_fitted),
                                        AP_FIELDS_OF(fitted_fields), NULL};

static const ap_field engine_fields[] = {
    {"engine", AP_T_TEXT, offsetof(ap_calib_engine, engine), AP_F_REQUIRED, AP_DIM_NONE, 0, 0, NULL, NULL,
     "Engine the constants belong to: llm, dl, tree or env."},
    {"sigma", AP_T_NUM, offsetof(ap_calib_engine, sigma), 0, AP_DIM_NONE, 0, 10, NULL, NULL,
     "Scale of a row's residual in the fit, in ln units."},
    {"sigma_memory", AP_T_NUM, offsetof(ap_calib_engine, sigma_memory), 0, AP_DIM_NONE, 0, 10, NULL, NULL,
     "The same for rows of peak memory."},
    {"sigma_run", AP_T_NUM, offsetof(ap_calib_engine, sigma_run), 0, AP_DIM_NONE, 0, 10, NULL, NULL,
     "The same for rows of whole runs (hours, energy, money)."},
    {"source_power", AP_T_NUM, offsetof(ap_calib_engine, source_power), 0, AP_DIM_NONE, 0, 1, NULL, NULL,
     "A row of a source with n rows counts n^-p."},
    {"row_weight", AP_T_NUM, offsetof(ap_calib_engine, row_weight), 0, AP_DIM_NONE, 0, 10, NULL, NULL,
     "Mean weight of a row against the priors; below 1 because rows of one source agree in their errors."},
    {"band_sources", AP_T_NUM, offsetof(ap_calib_engine, band_sources), 0, AP_DIM_NONE, 0, 1, NULL, NULL,
     "A band learnt from n sources reaches out to quantiles further out by this over n. Absent: 0."},
    {"constants", AP_T_OBJECTS, offsetof(ap_calib_engine, constants), 0, AP_DIM_NONE, 0, 0, NULL, &const_object,
     "Constants in the engine's order."},
    {"intervals", AP_T_OBJECTS, offsetof(ap_calib_engine, intervals), 0, AP_DIM_NONE, 0, 0, NULL, &cell_object,
     "Bands by kind of case."},
    {"fitted_on", AP_T_OBJECT, offsetof(ap_calib_engine, fitted_on), 0, AP_DIM_NONE, 0, 0, NULL, &fitted_object,
     "What the constants were fitted on."},
    {"known", AP_T_TEXTS, offsetof(ap_calib_engine, known), 0, AP_DIM_NONE, 0, 0, NULL, NULL,
     "Combinations of model, software and chip among the fitted rows, by kind of figure."},
};
const ap_object ap_calib_engine_object = {"calibration", "Constants of one engine of the estimator.",
                                          sizeof(ap_calib_engine), AP_FIELDS_OF(engine_fields), NULL};

/* -- loading --------------------------------------------------------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    return strcmp(((const ap_deviation *)a)->key, ((const ap_deviation *)b)->key);
}

static int by_cell(const void *a, const void *b)
{
    return strcmp(((const ap_calib_cell *)a)->key, ((const ap_calib_cell *)b)->key);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void ap_calib_sort(ap_calib_engine *engine)
{
    for (size_t i = 0; i < engine->constants.count; i++)
        for (size_t j = 0; j < engine->constants.items[i].by.count; j++) {
            ap_calib_by *by = &engine->constants.items[i].by.items[j];
            if (by->values.count)
                qsort(by->values.items, by->values.count, sizeof *by->values.items, by_key);
        }
    if (engine->known.count)
        qsort(engine->known.items, engine->known.count, sizeof *engine->known.items, by_text);
    if (engine->intervals.count)
        qsort(engine->intervals.items, engine->intervals.count, sizeof *engine->intervals.items, by_cell);
}

const ap_calib_engine *ap_calibration_engine(const ap_calibration *calibration, const char *name)
{
    if (calibration)
        for (size_t i = 0; i < calibration->engines.count; i++)
            if (ap_streq(calibration->engines.items[i].engine, name))
                return &calibration->engines.items[i];
    return NULL;
}

static ap_calib_const *find_const(ap_calib_engine *engine, const char *id)
{
    for (size_t i = 0; i < engine->constants.count; i++)
        if (ap_streq(engine->constants.items[i].id, id))
            return &engine->constants.items[i];
    return NULL;
}

/* A user's levels come on top of the built-in ones: a level of the same name gets the key's deviation replaced, a new
 * level is appended. */
static void overlay_const(ap_calib_const *into, const ap_calib_const *from, ap_arena *arena)
{
    ap_calib_by *levels = AP_NEW_ARRAY(arena, ap_calib_by, into->by.count + from->by.count);
    if (into->by.count)
        memcpy(levels, into->by.items, into->by.count * sizeof *levels);
    size_t count = into->by.count;
    for (size_t i = 0; i < from->by.count; i++) {
        const ap_calib_by *extra = &from->by.items[i];
        size_t at = 0;
        while (at < count && !ap_streq(levels[at].level, extra->level))
            at++;
        if (at == count) {
            levels[count++] = *extra;
            continue;
        }
        ap_deviation *merged = AP_NEW_ARRAY(arena, ap_deviation, levels[at].values.count + extra->values.count);
        size_t merged_count = 0;
        for (size_t k = 0; k < levels[at].values.count; k++) {
            const ap_deviation *old = &levels[at].values.items[k];
            bool replaced = false;
            for (size_t m = 0; m < extra->values.count; m++)
                replaced = replaced || ap_streq(extra->values.items[m].key, old->key);
            if (!replaced)
                merged[merged_count++] = *old;
        }
        for (size_t m = 0; m < extra->values.count; m++)
            merged[merged_count++] = extra->values.items[m];
        levels[at].values.items = merged;
        levels[at].values.count = merged_count;
    }
    into->by.items = levels;
    into->by.count = count;
}

void ap_calibration_overlay(ap_calibration *calibration, const ap_calib_engine *extra)
{
    for (size_t i = 0; i < calibration->engines.count; i++) {
        ap_calib_engine *engine = &calibration->engines.items[i];
        if (!ap_streq(engine->engine, extra->engine))
            continue;
        ap_calib_const *constants =
            AP_NEW_ARRAY(calibration->arena, ap_calib_const, engine->constants.count + extra->constants.count + 1);
        if (engine->constants.count)
            memcpy(constants, engine->constants.items, engine->constants.count * sizeof *constants);
        engine->constants.items = constants;
        for (size_t k = 0; k < extra->constants.count; k++) {
            ap_calib_const *into = find_const(engine, extra->constants.items[k].id);
            if (into)
                overlay_const(into, &extra->constants.items[k], calibration->arena);
            else
                engine->constants.items[engine->constants.count++] = extra->constants.items[k];
        }
        /* Bands live in a file of their own (widths/), which the fit writes; constants can change without them. */
        if (extra->intervals.count)
            engine->intervals = extra->intervals;
        if (extra->known.count)
            engine->known = extra->known;
        ap_calib_sort(engine);
        return;
    }
    ap_calib_engine *engines = AP_NEW_ARRAY(calibration->arena, ap_calib_engine, calibration->engines.count + 1);
    if (calibration->engines.count)
        memcpy(engines, calibration->engines.items, calibration->engines.count * sizeof *engines);
    engines[calibration->engines.count] = *extra;
    ap_calib_sort(&engines[calibration->engines.count]);
    calibration->engines.items = engines;
    calibration->engines.count++;
}

ap_calibration *ap_calibration_copy(const ap_calibration *calibration, ap_arena *arena)
{
    ap_calibration *copy = AP_NEW(arena, ap_calibration);
    copy->arena = arena;
    copy->engines.count = calibration->engines.count;
    copy->engines.items = AP_NEW_ARRAY(arena, ap_calib_engine, calibration->engines.count + 1);
    for (size_t i = 0; i < calibration->engines.count; i++) {
        ap_calib_engine *engine = &copy->engines.items[i];
        *engine = calibration->engines.items[i];
        ap_calib_const *constants = AP_NEW_ARRAY(arena, ap_calib_const, engine->constants.count + 1);
        if (engine->constants.count)
            memcpy(constants, engine->constants.items, engine->constants.count * sizeof *constants);
        engine->constants.items = constants;
    }
    return copy;
}

ap_status ap_calibration_load(const char *const *paths, size_t count, ap_arena *arena, ap_diags *diags,
                              ap_calibration **ret)
{
    ap_calibration *calibration = AP_NEW(arena, ap_calibration);
    calibration->arena = arena;
    ap_status worst = AP_OK;
    for (size_t i = 0; i < count; i++) {
        char *text = NULL;
        size_t len = 0;
        ap_status status = ap_file_read(paths[i], AP_YAML_CATALOG_BYTES, arena, diags, &text, &len);
        if (status != AP_OK) {
            worst = status;
            continue;
        }
        ap_docs docs = {0};
        status = ap_yaml_parse(text, len, paths[i], AP_YAML_STRICT, AP_YAML_CATALOG_BYTES, arena, diags, &docs);
        for (size_t k = 0; status == AP_OK && k < docs.count; k++) {
            ap_calib_engine engine;
            status = ap_schema_load(&ap_calib_engine_object, docs.items[k], &engine, arena, diags);
            if (status == AP_OK)
                status = ap_calib_check(&engine, paths[i], arena, diags);
            if (status == AP_OK)
                ap_calibration_overlay(calibration, &engine);
        }
        if (status != AP_OK) {
            ap_diags_attach_source(diags, paths[i], text, len);
            worst = AP_BAD_DATA;
        }
    }
    *ret = calibration;
    return worst;
}

/* -- use ------------------------------------------------------------------------------------------------------------- */

const ap_deviation *ap_calib_deviation_of(const ap_calib_by *by, const char *key)
{
    size_t low = 0, high = by->values.count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcmp(by->values.items[mid].key, key);
        if (order == 0)
            return &by->values.items[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const char *ap_calib_key(const ap_calib_keys *keys, const char *level)
{
    for (size_t i = 0; i < keys->count; i++)
        if (strcmp(keys->levels[i], level) == 0)
            return keys->keys[i] && *keys->keys[i] ? keys->keys[i] : NULL;
    return NULL;
}

double ap_scale_link(int scale, double value)
{
    switch (scale) {
    case AP_SCALE_LOG:
        return log(value);
    case AP_SCALE_LOGIT:
        return log(value / (1 - value));
    default:
        return value;
    }
}

double ap_scale_inverse(int scale, double linked)
{
    switch (scale) {
    case AP_SCALE_LOG:
        return exp(linked);
    case AP_SCALE_LOGIT:
        return 1 / (1 + exp(-linked));
    default:
        return linked;
    }
}

static double effective(const ap_calib_const *constant, const ap_calib_keys *keys)
{
    double sum = 0;
    for (size_t i = 0; i < constant->by.count; i++) {
        const ap_calib_by *by = &constant->by.items[i];
        const char *key = by->values.count ? ap_calib_key(keys, by->level) : NULL;
        const ap_deviation *deviation = key ? ap_calib_deviation_of(by, key) : NULL;
        if (deviation)
            sum += deviation->value;
    }
    switch (constant->scale) {
    case AP_SCALE_LOG:
        return sum == 0 ? constant->value : constant->value * exp(sum);
    case AP_SCALE_LOGIT:
        return sum == 0 ? constant->value : ap_scale_inverse(AP_SCALE_LOGIT, ap_scale_link(AP_SCALE_LOGIT, constant->value) + sum);
    default:
        return constant->value + sum;
    }
}

void ap_calib_resolve(const ap_calib_engine *engine, const char *const *ids, const ap_calib_keys *keys,
                      double *ret_consts)
{
    for (size_t i = 0; ids[i]; i++) {
        const ap_calib_const *found = NULL;
        /* Files list the constants in the engine's order, so the first look is nearly always right. */
        for (size_t k = 0; !found && k < engine->constants.count; k++) {
            const ap_calib_const *candidate = &engine->constants.items[(i + k) % engine->constants.count];
            if (strcmp(candidate->id, ids[i]) == 0)
                found = candidate;
        }
        ret_consts[i] = found ? effective(found, keys) : AP_UNKNOWN;
    }
}

const ap_calib_const *ap_calib_const_of(const ap_calib_engine *engine, const char *id)
{
    for (size_t i = 0; i < engine->constants.count; i++)
        if (strcmp(engine->constants.items[i].id, id) == 0)
            return &engine->constants.items[i];
    return NULL;
}

double ap_calib_deviation(const ap_calib_engine *engine, const char *id, const char *level, const char *key)
{
    const ap_calib_const *constant = ap_calib_const_of(engine, id);
    for (size_t i = 0; constant && i < constant->by.count; i++) {
        const ap_calib_by *by = &constant->by.items[i];
        const ap_deviation *found = ap_streq(by->level, level) ? ap_calib_deviation_of(by, key) : NULL;
        if (found)
            return found->value;
    }
    return 0;
}

bool ap_calib_has_key(const ap_calib_engine *engine, const char *level, const char *key)
{
    if (!key || !*key)
        return false;
    for (size_t i = 0; i < engine->constants.count; i++)
        for (size_t k = 0; k < engine->constants.items[i].by.count; k++) {
            const ap_calib_by *by = &engine->constants.items[i].by.items[k];
            if (!ap_streq(by->level, level))
                continue;
            const ap_deviation *deviation = ap_calib_deviation_of(by, key);
            if (deviation && deviation->rows > 0)
                return true;
        }
    return false;
}

bool ap_calib_knows(const ap_calib_engine *engine, const char *combination)
{
    return engine->known.count && bsearch(&combination, engine->known.items, engine->known.count,
                                          sizeof *engine->known.items, by_text) != NULL;
}

static const ap_calib_cell *find_cell(const ap_calib_engine *engine, const char *key)
{
    size_t low = 0, high = engine->intervals.count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        int order = strcmp(engine->intervals.items[mid].key, key);
        if (order == 0)
            return &engine->intervals.items[mid];
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

const ap_calib_cell *ap_calib_cell_of(const ap_calib_engine *engine, const char *const *cells, size_t count)
{
    const ap_calib_cell *cell = NULL;
    for (size_t i = 0; !cell && i < count; i++)
        cell = find_cell(engine, cells[i]);
    return cell ? cell : find_cell(engine, "");
}

void ap_calib_interval(const ap_calib_engine *engine, const char *const *cells, size_t count, double *ret_low,
                       double *ret_high)
{
    const ap_calib_cell *cell = ap_calib_cell_of(engine, cells, count);
    /* Without any measurement the band is a factor of two either way. */
    *ret_low = cell ? cell->low : -AP_CALIB_WIDEST;
    *ret_high = cell ? cell->high : AP_CALIB_WIDEST;
}
