package io.millrace.proxy.remap;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * The remap rules whose host is a regular expression, with a cache by host. Each expression is
 * matched once per host, in time linear in the length of the host. For hosts that rules name, the result is kept
 * permanently. For other hosts, it is kept until another host needs its slot. The fixed number of slots limits the
 * memory that clients can use. Thread-safe.
 */
final class ExpressionHosts {
    private static final int SLOTS = 1024;

    private final List<RemapRule> rules;
    private final Map<String, List<RemapRule>> rulesByHostName;
    private final PathTrie withoutHost;
    private final AtomicReferenceArray<HostRules> slots = new AtomicReferenceArray<>(SLOTS);

    /**
     * @param rules in the order of the configuration
     * @param rulesByHostName the rules that name a host literally, by host
     */
    ExpressionHosts(List<RemapRule> rules, Map<String, List<RemapRule>> rulesByHostName, PathTrie withoutHost) {
        this.rules = rules;
        this.rulesByHostName = rulesByHostName;
        this.withoutHost = withoutHost;
    }

    /**
     * Returns all rules of a host, including those without a host.
     *
     * @param ofName the rules that name the host literally; null if there are none
     */
    HostRules of(@Nullable HostRules ofName, byte[] bytes, int from, int to) {
        if (ofName != null) {
            HostRules merged = ofName.merged();
            if (merged == null) {
                merged = merge(bytes, from, to);
                ofName.merged(merged);
            }
            return merged;
        }
        int slot = HostIndex.hash(bytes, from, to) & (SLOTS - 1);
        HostRules found = slots.get(slot);
        if (found == null || !found.isFor(bytes, from, to)) {
            found = merge(bytes, from, to);
            slots.set(slot, found);
        }
        return found;
    }

    private HostRules merge(byte[] bytes, int from, int to) {
        String host = new String(bytes, from, to - from, StandardCharsets.ISO_8859_1).toLowerCase(Locale.ROOT);
        List<RemapRule> all = new ArrayList<>(rulesByHostName.getOrDefault(host, List.of()));
        for (RemapRule rule : rules) {
            RemapRule expanded = rule.expanded(host);
            if (expanded != null) {
                all.add(expanded);
            }
        }
        all.sort(Comparator.comparingInt(RemapRule::index));
        HostRules merged = new HostRules(host.getBytes(StandardCharsets.ISO_8859_1), withoutHost);
        all.forEach(merged::add);
        return merged;
    }
}
