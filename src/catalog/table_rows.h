/* Row macros of the catalog's field tables (private to tables*.c). A table file defines S as the struct in hand. */
#ifndef AP_CATALOG_TABLE_ROWS_H
#define AP_CATALOG_TABLE_ROWS_H

#include "catalog/catalog.h"
#include "catalog/tables.h"

extern const char *const ap_confidence_words[];

#define ROW(key, type, member, flags, dim, lo, hi, doc)                                                                \
    {                                                                                                                  \
        key, type, offsetof(S, member), flags, dim, lo, hi, NULL, NULL, doc                                            \
    }
#define ID(key, member, doc)               ROW(key, AP_T_ID, member, AP_F_REQUIRED, AP_DIM_NONE, 0, 0, doc)
#define REF(key, member, doc)              ROW(key, AP_T_ID, member, 0, AP_DIM_NONE, 0, 0, doc)
#define TEXT(key, member, doc)             ROW(key, AP_T_TEXT, member, 0, AP_DIM_NONE, 0, 0, doc)
#define NEED(key, member, doc)             ROW(key, AP_T_TEXT, member, AP_F_REQUIRED, AP_DIM_NONE, 0, 0, doc)
#define TEXTS(key, member, doc)            ROW(key, AP_T_TEXTS, member, 0, AP_DIM_NONE, 0, 0, doc)
#define BOOL(key, member, doc)             ROW(key, AP_T_BOOL, member, 0, AP_DIM_NONE, 0, 0, doc)
#define NUM(key, member, dim, lo, hi, doc) ROW(key, AP_T_NUM, member, 0, dim, lo, hi, doc)
#define INT(key, member, lo, hi, doc)      ROW(key, AP_T_INT, member, 0, AP_DIM_NONE, lo, hi, doc)
#define PART(key, member, part, doc)                                                                                   \
    {                                                                                                                  \
        key, AP_T_OBJECT, offsetof(S, member), 0, AP_DIM_NONE, 0, 0, NULL, &(part), doc                                \
    }
#define WORD(key, member, flags, words, doc)                                                                           \
    {                                                                                                                  \
        key, AP_T_ENUM, offsetof(S, member), flags, AP_DIM_NONE, 0, 0, words, NULL, doc                                \
    }
/* A row of a struct nested in S: its offset counts from `part`. */
#define SUB(part, key, type, member, dim, lo, hi, doc)                                                                 \
    {                                                                                                                  \
        key, type, offsetof(S, member) - offsetof(S, part), 0, dim, lo, hi, NULL, NULL, doc                            \
    }
#define PROVENANCE                                                                                                     \
    TEXT("source", from.source, "Page or file the values were read from; the file's default if absent."),              \
        TEXT("as_of", from.as_of, "Date of the source, YYYY[-MM[-DD]]; the file's default if absent."),                \
        WORD("confidence", from.confidence, 0, ap_confidence_words,                                                    \
             "How sure: read in the source, derived from read values, partial (some cells read), memory, assumed."),   \
        TEXT("notes", from.notes, "What a reader should know: conflicts between sources, caveats."),                   \
        ROW("sources", AP_T_TEXT_MAP, from.sources, 0, AP_DIM_NONE, 0, 0,                                              \
            "Source of single fields by path, where it differs: memory.usable: \"nvidia-smi\"."),                      \
    {                                                                                                                  \
        "", AP_T_POS, offsetof(S, pos), AP_F_HIDDEN, AP_DIM_NONE, 0, 0, NULL, NULL, "Where the entry stands."          \
    }

#endif
