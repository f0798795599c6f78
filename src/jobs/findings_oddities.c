/* What must be asked: values that are given elsewhere, names left open. */
#include "jobs/understand.h"

static void note_text(ap_judge *j, const ap_jtext *fact, const char *what)
{
    if (ap_jtext_stated(fact) && !fact->value)
        ap_judge_add(j, AP_FAULT_UNRESOLVED_VALUE, fact->pos, "%s is given from outside and not known here", what)
            ->hint = "check with the value put in, or give it with --workload";
}

static void note_num(ap_judge *j, const ap_jnum *fact, const char *what)
{
    if (ap_jnum_stated(fact) && !ap_known(fact->value))
        ap_judge_add(j, AP_FAULT_UNRESOLVED_VALUE, fact->pos, "%s is given from outside and not known here", what);
}

void ap_find_oddities(ap_judge *j)
{
    note_text(j, &j->f->t.model, "the model");
    note_text(j, &j->f->t.instance, "the machine type");
    note_num(j, &j->f->n.nodes, "the number of nodes");
    note_num(j, &j->f->n.launch_per_node, "the number of processes");
    if (!ap_judge_has(j, AP_FAULT_UNRESOLVED_VALUE))
        note_text(j, &j->f->t.config_file, "the launcher's configuration file");
}
