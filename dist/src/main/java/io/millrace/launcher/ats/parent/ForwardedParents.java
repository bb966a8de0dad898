package io.millrace.launcher.ats.parent;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The importer of parents for forwarded requests, from parent.config. Forwarded requests are those that no remap rule
 * matches. In Millrace, all of them use one group of parents. If Traffic Server reaches some hosts only through
 * parents, and no group of parents can be written, forwarding is disabled. Confined to one thread.
 */
public final class ForwardedParents {
    private static final String ORIGINS = "forward_proxy.origins";

    private final ImportState state;
    /** True if Traffic Server forwards requests that no remap rule matches. */
    private final boolean forwarding;
    /** Lines whose hosts Traffic Server reaches only through parents. */
    private final List<Entry> guards = new ArrayList<>();
    /** Lines whose hosts Traffic Server reaches directly. */
    private final List<Entry> exceptions = new ArrayList<>();

    /** The first line that applies to all hosts, after which no line has an effect. */
    private @Nullable Entry decidedBy;
    /** True after {@link #useGroup} has set {@code forward_proxy.origins}. */
    private boolean groupWritten;

    ForwardedParents(ImportState state) {
        this.state = state;
        forwarding = !state.records().isOn("url_remap.remap_required", true);
    }

    /** Handles a line with conditions that are not supported. */
    void handleUnsupported(Entry entry, Map<String, String> fields) {
        if (forwarding && decidedBy == null) {
            handleForSomeHosts(entry, fields);
        }
    }

    /** Handles a line. Returns true if all forwarded requests must use the parents of this line. */
    boolean handle(Entry entry, Map<String, String> fields) {
        if (!forwarding || decidedBy != null) {
            return false;
        }
        String domain = fields.get("dest_domain");
        if (domain == null || !domain.replace(".", "").isEmpty()) {
            handleForSomeHosts(entry, fields);
            return false;
        }
        boolean hasParents = !fields.getOrDefault("parent", "").isEmpty();
        String scheme = fields.getOrDefault("scheme", "").toLowerCase(Locale.ROOT);
        if (!scheme.isEmpty() && !hasParents) {
            handleForSomeHosts(entry, fields);
            return false;
        }
        decidedBy = entry;
        if (!hasParents) {
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
        if (state.records().isOn("http.uncacheable_requests_bypass_parent", true)) {
            entry.note(
                    "forwarded CONNECT and uncacheable requests also use the parents; Traffic Server bypasses the parents for them unless uncacheable_requests_bypass_parent is 0");
        }
        return true;
    }

    /** Handles a line that applies to some hosts only. */
    private void handleForSomeHosts(Entry entry, Map<String, String> fields) {
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

    /** Writes the name of the group that all forwarded requests use. */
    void useGroup(String group, Entry entry) {
        state.draft().root().put(ORIGINS, group).from(entry);
        groupWritten = true;
    }

    /** Disables forwarding if it would bypass parents or SOCKS servers. */
    void finish() {
        if (!forwarding) {
            return;
        }
        if (groupWritten) {
            exceptions.forEach(entry -> entry.notMapped("forwarded requests for these hosts also go to the parents"));
        } else if (!guards.isEmpty()) {
            guards.forEach(entry -> disableForwarding(state, entry));
        }
        Rec socks = state.records().isOn("socks.socks_needed", false)
                ? state.records().getAndMarkProcessed("socks.socks_needed")
                : null;
        if (socks != null) {
            socks.entry().notMapped("Millrace does not connect to origins through SOCKS");
            disableForwarding(state, socks.entry());
        }
    }

    /**
     * Disables forwarding because of a line. Millrace would reach the hosts of the line directly, not through parents.
     */
    public static void disableForwarding(ImportState state, Entry entry) {
        state.draft().root().put("forward_proxy.enabled", "false").from(entry);
        String why = "forwarding is off, because requests would go directly to the hosts (forward_proxy.enabled)";
        entry.notMapped(why);
        Rec required = state.records().getAndMarkProcessed("url_remap.remap_required");
        if (required != null) {
            required.entry().notMapped(why + "; see " + entry.place());
        }
    }

    /** Returns true for a key that makes forwarded requests use parents. If it is dropped, forwarding must be off. */
    public static boolean isGuard(String path) {
        return path.equals(ORIGINS);
    }
}
