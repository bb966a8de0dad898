package io.millrace.launcher.ats.remap;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.draft.DraftNode;
import java.util.List;

/**
 * Writes filters that deny the method PUSH. By default, Traffic Server answers PUSH with 403; Millrace would send it to
 * origins. Stateless.
 */
public final class PushFilter {
    private static final String RECORD = "http.push_method_enabled";

    private PushFilter() {}

    /** Writes a filter that denies PUSH before all other filters. Does nothing if Traffic Server accepts PUSH. */
    public static void write(ImportState state, RemapFilters filterNames) {
        Rec rec = state.records().getAndMarkProcessed(RECORD);
        if (rec != null && state.records().isOn(RECORD, false)) {
            rec.entry().notMapped("nothing is stored by PUSH; it is sent to origins like other methods");
            return;
        }
        DraftNode general = state.draft().root().addFirst("access.filters");
        deny(general);
        if (rec == null) {
            general.remark(
                    "Traffic Server's default (proxy.config." + RECORD + "); without this filter origins get PUSH");
        } else {
            general.from(rec.entry());
        }
        String name = "";
        for (DraftNode rule : state.draft().elements("remap")) {
            // A rule with an allow filter does not use access.filters, so it needs its own filter for PUSH.
            List<DraftNode> filters = rule.elements("filters");
            if (!deniesAll(filters) && filters.stream().anyMatch(filter -> isAllow(state, filter))) {
                if (name.isEmpty()) {
                    name = filterNames.freeName("no-push");
                    DraftNode named = state.draft().root().addElement("filters");
                    named.put("name", name);
                    deny(named);
                }
                rule.addFirstWord("filters", name);
            }
        }
    }

    private static void deny(DraftNode filter) {
        filter.put("action", "deny");
        filter.putWords("methods", List.of("PUSH"));
    }

    /** Returns true if the first filter has no conditions and denies all requests. */
    private static boolean deniesAll(List<DraftNode> filters) {
        return !filters.isEmpty() && filters.get(0).fields().size() == 1 && isAction(filters.get(0), "deny");
    }

    private static boolean isAllow(ImportState state, DraftNode filter) {
        String name = filter.text();
        if (name == null) {
            return isAction(filter, "allow");
        }
        return state.draft().elements("filters").stream()
                .filter(each -> name.equals(text(each, "name")))
                .anyMatch(each -> isAction(each, "allow"));
    }

    private static boolean isAction(DraftNode filter, String action) {
        return action.equals(text(filter, "action"));
    }

    private static String text(DraftNode section, String field) {
        DraftNode found = section.field(field);
        String text = found == null ? null : found.text();
        return text == null ? "" : text;
    }
}
