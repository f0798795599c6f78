/* Fuzzes a table of measurements: whatever the bytes, rows end in a finite prediction or in a reason. */
#include <math.h>
#include <stdint.h>

#include "estimate/predict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AP_SCOPED_ARENA *arena = ap_arena_new();
    ap_diags diags;
    ap_diags_init(&diags, arena);
    const ap_catalog *catalog = ap_catalog_builtin(arena);
    const ap_calibration *calibration = ap_calibration_builtin(arena);
    char *text = ap_arena_strndup(arena, (const char *)data, size);
    ap_measures measures;
    if (ap_cases_parse(text, size, "fuzz.csv", catalog, arena, &diags, &measures) != AP_OK)
        return 0;
    for (size_t i = 0; i < measures.count; i++) {
        ap_prediction prediction;
        ap_predict(calibration, &measures.items[i], &prediction);
        if (!prediction.reason && !(prediction.p10 <= prediction.p50 && prediction.p50 <= prediction.p90 &&
                                    isfinite(prediction.p90) && prediction.p50 > 0))
            __builtin_trap();
    }
    return 0;
}
