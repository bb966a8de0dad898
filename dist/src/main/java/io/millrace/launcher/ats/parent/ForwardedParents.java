package io.millrace.launcher.ats.parent;

import io.millrace.launcher.ats.draft.Input;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Imports the parents of forwarded requests, which no rule maps, from parent.config. Only one group for all hosts can
 * be expressed. If Traffic Server would not connect to a host directly and no group covers it, forwarding is disabled.
 * Confined to one thread.
 */
public final class ForwardedParents {
    private static final String ORIGINS = "forward_proxy.origins";

    private final Input input;
    private final boolean on;
    /** Lines for some hosts that requests must not reach directly. */
    private final List<Entry> guards = new ArrayList<>();
    /** Lines for some hosts that requests reach directly. */
    private final List<Entry> exceptions = new ArrayList<>();

    private @Nullable Entry decidedBy;
    private boolean written;

    ForwardedParents(Input input) {
        this.input = input;
        on = !input.records().isOn("url_remap.remap_required", true);
    }

    /** Records a line with conditions that are not supported. */
    void unusable(Entry entry, Map<String, String> fields) {
        if (on && decidedBy == null) {
            some(entry, fields);
        }
    }

    /** Returns true if the line applies to all forwarded requests. */
    boolean isFor(Entry entry, Map<String, String> fields) {
        if (!on || decidedBy != null) {
            return false;
        }
        String domain = fields.get("dest_domain");
        if (domain == null || !domain.replace(".", "").isEmpty()) {
            some(entry, fields);
            return false;
        }
        boolean parents = !fields.getOrDefault("parent", "").isEmpty();
        String scheme = fields.getOrDefault("scheme", "").toLowerCase(Locale.ROOT);
        if (!scheme.isEmpty() && !parents) {
            some(entry, fields);
            return false;
        }
        decidedBy = entry;
        if (!parents) {
            entry.note("forwarded requests go directly to the hosts");
            return false;
        }
        if (fields.getOrDefault("parent_is_proxy", "true").equals("false")) {
            entry.notMapped("parent_is_proxy=false: forwarded requests go to groups of proxies only");
            guards.add(entry);
            return false;
        }
        if (!scheme.isEmpty()) {
            entry.notMapped("scheme=" + scheme + ": forwarded requests of all schemes, and CONNECT, go there");
        }
        if (input.records().isOn("http.uncacheable_requests_bypass_parent", true)) {
            entry.note(
                    "forwarded CONNECT and uncacheable requests also use the parents; Traffic Server bypasses the parents for them unless uncacheable_requests_bypass_parent is 0");
        }
        return true;
    }

    /** Records a line that may apply to some of the requested hosts. */
    private void some(Entry entry, Map<String, String> fields) {
        if (fields.getOrDefault("parent", "").isEmpty()) {
            exceptions.add(entry);
            return;
        }
        entry.notMapped(
                "for forwarded requests: forward_proxy.origins applies to all hosts; write a rule of remap for these hosts");
        boolean direct = !fields.getOrDefault("go_direct", "true").equals("false")
                && !fields.getOrDefault("parent_is_proxy", "true").equals("false");
        if (!direct) {
            guards.add(entry);
        }
    }

    /** Writes the group of all hosts. */
    void useGroup(String group, Entry entry) {
        input.draft().root().put(ORIGINS, group).from(entry);
        written = true;
    }

    /** Disables forwarding if it would bypass parents. */
    void finish() {
        if (!on) {
            return;
        }
        if (written) {
            exceptions.forEach(entry -> entry.notMapped("forwarded requests for these hosts also go to the parents"));
        } else if (!guards.isEmpty()) {
            guards.forEach(entry -> close(input, entry));
        }
        Rec socks = input.records().isOn("socks.socks_needed", false)
                ? input.records().take("socks.socks_needed")
                : null;
        if (socks != null) {
            socks.entry().notMapped("Millrace does not connect to origins through SOCKS");
            close(input, socks.entry());
        }
    }

    /** Disables forwarding, since requests would connect to hosts that Traffic Server reaches only through parents. */
    public static void close(Input input, Entry entry) {
        input.draft().root().put("forward_proxy.enabled", "false").from(entry);
        String why = "forwarding is off, because requests would go directly to the hosts (forward_proxy.enabled)";
        entry.notMapped(why);
        Rec required = input.records().take("url_remap.remap_required");
        if (required != null) {
            required.entry().notMapped(why + "; see " + entry.place());
        }
    }

    /** Returns true if removing a refused key would let requests bypass parents. */
    public static boolean isGuard(String path) {
        return path.equals(ORIGINS);
    }
}
