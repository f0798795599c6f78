/* For people: what one result costs, item by item, and where its price is from. */
#include "base/date.h"
#include "base/human.h"
#include "base/num.h"
#include "view/view.h"

static const ap_column columns[] = {
    {.title = "Of the cost", .path = "item", .priority = 1, .flexible = true},
    {.title = "USD", .path = "usd", .format = AP_CELL_USD, .priority = 1, .right = true},
};

static void add_age(ap_sbuf *line, const char *as_of, const char *today)
{
    double days = as_of && today ? ap_days_between(as_of, today) : AP_UNKNOWN;
    ap_sbuf_printf(line, ", as of %s", as_of ? as_of : "an unknown day");
    if (ap_known(days))
        ap_sbuf_printf(line, " (%.0f days old)", fmax(days, 0));
}

static void add_price_line(ap_doc *doc, const ap_result *result, const char *today)
{
    const ap_price *price = result->price;
    ap_sbuf line;
    ap_sbuf_init(&line, doc->arena);
    ap_sbuf_printf(&line, "Price: %s USD/h", ap_human_usd_text(doc->arena, result->usd_per_h));
    if (result->hw.rig) {
        ap_sbuf_add(&line, " of electricity and depreciation; the machine's price");
        add_age(&line, result->hw.rig->from.as_of, today);
    } else if (price) {
        double list = result->hw.instance ? ap_price_usd(price, result->pricing) * result->hw.machines : AP_UNKNOWN;
        ap_sbuf_printf(&line, " %s", ap_price_kind_name(result->pricing));
        if (ap_known(list) && fabs(list - result->usd_per_h) > 1e-9 * list)
            ap_sbuf_printf(&line, " (list %s)", ap_human_usd_text(doc->arena, list));
        if (result->priced_from)
            ap_sbuf_printf(&line, " of %s", result->priced_from);
        add_age(&line, price->as_of, today);
        ap_sbuf_printf(&line, ", %s: %s", ap_confidence_name(price->confidence),
                       price->source ? price->source : "source unknown");
    } else {
        ap_sbuf_add(&line, ", source unknown");
    }
    ap_doc_paragraph(doc, "%s.", line.text);
}

void ap_view_bill(ap_doc *doc, const ap_value *value, const ap_result *result, const char *today)
{
    if (!ap_known(result->usd_per_h))
        return;
    add_price_line(doc, result, today);
    if (ap_known(result->cost_p50))
        ap_doc_table(doc, ap_value_at(value, "cost_items"), columns, sizeof columns / sizeof *columns);
    const ap_value *commitment = ap_value_at(ap_value_at(value, "commitment"), "usd");
    if (commitment && commitment->kind == AP_V_NUM)
        ap_doc_paragraph(doc, "Reserved: the whole term is paid, %s USD, whether it is used or not.",
                         ap_human_usd_text(doc->arena, commitment->as.number));
    for (int i = 0; i < AP_BILL_COUNT; i++)
        if (result->terms.unknown >> i & 1U)
            ap_doc_paragraph(doc, "Not in the cost, its price is unknown: %s.", ap_bill_item_names[i]);
}
