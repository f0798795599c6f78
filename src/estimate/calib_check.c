/* Is a calibration that was read one that formulas can take? Wrong constants are worse than none: they estimate. */
#include <math.h>

#include "base/num.h"
#include "estimate/calibration.h"

#define LARGEST     1e18  /* no unit of a constant needs more */
#define LARGEST_LOG 100.0 /* of a deviation on a log or logit scale */

static void complain(const char *file, const ap_calib_const *constant, const char *what, ap_diags *diags)
{
    ap_pos pos = constant->pos;
    pos.file = pos.file ? pos.file : file;
    ap_diag_add(diags, AP_ERROR, 913, pos, "constant '%s': %s", constant->id, what);
}

static const char *fault_of_value(const ap_calib_const *constant, double value)
{
    if (!ap_known(value) || fabs(value) > LARGEST)
        return "is no number that a formula can take";
    if (constant->scale == AP_SCALE_LOG && !(value > 0))
        return "must be above 0 on a log scale";
    if (constant->scale == AP_SCALE_LOGIT && !(value > 0 && value < 1))
        return "must lie between 0 and 1 on a logit scale";
    return NULL;
}

static void check_const(const char *file, const ap_calib_const *constant, ap_arena *arena, ap_diags *diags)
{
    const struct {
        const char *name;
        double value;
    } values[] = {{"value", constant->value}, {"prior", constant->prior}};
    for (size_t i = 0; i < 2; i++) {
        const char *fault = fault_of_value(constant, values[i].value);
        if (!fault && values[i].value < constant->low)
            fault = ap_arena_printf(arena, "is below its low of %g", constant->low);
        if (!fault && values[i].value > constant->high)
            fault = ap_arena_printf(arena, "is above its high of %g", constant->high);
        if (fault)
            complain(file, constant, ap_arena_printf(arena, "%s %g %s", values[i].name, values[i].value, fault), diags);
    }
    double most = constant->scale == AP_SCALE_LINEAR ? LARGEST : LARGEST_LOG;
    for (size_t i = 0; i < constant->by.count; i++) {
        const ap_calib_by *by = &constant->by.items[i];
        for (size_t k = 0; k < by->values.count; k++)
            if (fabs(by->values.items[k].value) > most)
                complain(file, constant,
                         ap_arena_printf(arena, "deviation %g of %s '%s' is beyond %g", by->values.items[k].value,
                                         by->level, by->values.items[k].key, most),
                         diags);
    }
}

ap_status ap_calib_check(const ap_calib_engine *engine, const char *file, ap_arena *arena, ap_diags *diags)
{
    size_t before = diags->errors;
    for (size_t i = 0; i < engine->constants.count; i++)
        check_const(file, &engine->constants.items[i], arena, diags);
    return diags->errors > before ? AP_BAD_DATA : AP_OK;
}
