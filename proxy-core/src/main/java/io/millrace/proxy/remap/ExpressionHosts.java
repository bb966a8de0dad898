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
 * The rules whose host is an expression. Which of them match depends on the host alone, so they are tried once for a host, in time
 * linear in its length for each, and the answer is remembered: for hosts that rules name for good, for others until another
 * host takes the slot. What clients can make it remember is bounded by the slots. Thread-safe.
 */
final class ExpressionHosts {
    private static final int SLOTS = 1024;

    private final List<RemapRule> rules;
    private final Map<String, List<RemapRule>> named;
    private final PathTrie withoutHost;
    private final AtomicReferenceArray<HostRules> slots = new AtomicReferenceArray<>(SLOTS);

    /**
     * @param rules in the order of the configuration
     * @param named the rules that name a host, by that
     */
    ExpressionHosts(List<RemapRule> rules, Map<String, List<RemapRule>> named, PathTrie withoutHost) {
        this.rules = rules;
        this.named = named;
        this.withoutHost = withoutHost;
    }

    /**
     * All rules of a host, those without one included.
     *
     * @param ofName the rules that name it, null when none does
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
        List<RemapRule> all = new ArrayList<>(named.getOrDefault(host, List.of()));
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
