package io.millrace.launcher.ats.parent;

import io.millrace.launcher.ats.draft.ImportState;
import io.millrace.launcher.ats.remap.RemapRule;
import io.millrace.launcher.ats.source.Records.Rec;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import io.millrace.launcher.importing.source.Quantity;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/**
 * The writer of origin groups from Traffic Server's parent.config or strategies.yaml. Assigns the groups to remap
 * rules. Confined to one thread.
 */
public final class GroupWriter {
    private static final int NAME_MAX = 63;

    /**
     * A host of a group.
     *
     * @param self whether the host is this proxy itself
     * @param sources the lines of the host, in addition to the line of its group
     */
    record Host(String name, String port, BigDecimal weight, boolean backup, boolean self, List<Entry> sources) {
        String authority() {
            String host = name.contains(":") && !name.startsWith("[") ? "[" + name + "]" : name;
            return port.isEmpty() ? host : host + ":" + port;
        }
    }

    /** Writes the content of a group. Called once for each scheme with which the group is used. */
    interface Content {
        void write(DraftNode group, String scheme);
    }

    private final ImportState state;
    private final Set<String> usedNames = new HashSet<>();

    /** Creates a writer into the draft of {@code state}. */
    public GroupWriter(ImportState state) {
        this.state = state;
    }

    /**
     * Writes a group and assigns it to its rules. Writes the group twice if some of the rules use http and some use
     * https, since the URLs of hosts contain the scheme.
     *
     * @param proxies whether the hosts are proxies, which are always reached by http
     * @param always whether the group is written even if no rule uses it
     * @return the name of the first group written; empty if none was written
     */
    String assign(String name, boolean proxies, List<RemapRule> rules, boolean always, Entry entry, Content content) {
        Map<String, String> names = new LinkedHashMap<>();
        for (RemapRule rule : rules) {
            DraftNode node = rule.node();
            if (node == null) {
                continue;
            }
            String scheme = proxies ? "http" : rule.isToSecure() ? "https" : "http";
            String named = names.get(scheme);
            if (named == null) {
                named = write(names.isEmpty() ? name : name + "-" + scheme, scheme, entry, content);
                names.put(scheme, named);
            }
            node.put("origins", named).removableIfInvalid().from(entry);
        }
        if (names.size() > 1) {
            entry.note("the group is written twice, because some of its rules use http and some https");
        }
        if (names.isEmpty() && always) {
            names.put("http", write(name, "http", entry, content));
        }
        return names.isEmpty() ? "" : names.values().iterator().next();
    }

    private String write(String name, String scheme, Entry entry, Content content) {
        String free = freeName(name);
        DraftNode group = state.draft().addElement("origins", entry);
        group.put("name", free);
        content.write(group, scheme);
        return free;
    }

    private String freeName(String name) {
        String word = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_-]+", "-");
        String cut = word.substring(0, Math.min(word.length(), NAME_MAX - 4));
        String free = cut.isEmpty() ? "group" : cut;
        for (int i = 2; !usedNames.add(free); i++) {
            free = cut + "-" + i;
        }
        return free;
    }

    /**
     * Writes the hosts of a group. A host that is listed twice in one ring (the hosts or the backups) gets the sum of
     * both weights; a host that is also listed as a backup is written once.
     */
    void writeHosts(DraftNode group, String scheme, List<Host> hosts, Entry entry) {
        List<Host> once = new ArrayList<>();
        Map<String, Integer> places = new HashMap<>();
        for (Host host : hosts) {
            Integer place = places.putIfAbsent(host.authority().toLowerCase(Locale.ROOT), once.size());
            if (place == null) {
                once.add(host);
            } else if (once.get(place).backup == host.backup) {
                Host first = once.get(place);
                once.set(
                        place,
                        new Host(
                                first.name,
                                first.port,
                                first.weight.add(host.weight),
                                first.backup,
                                first.self || host.self,
                                first.sources));
            } else {
                entry.note(host.authority() + " is listed twice; the second entry is dropped");
            }
        }
        // The weights of the two rings (hosts and backups) are computed separately, since each ring distributes its own
        // requests.
        Map<Host, BigInteger> weights = new HashMap<>();
        for (boolean backup : new boolean[] {false, true}) {
            List<Host> ring =
                    once.stream().filter(host -> host.backup == backup).toList();
            List<BigInteger> whole =
                    HostWeights.whole(ring.stream().map(Host::weight).toList());
            for (int i = 0; i < ring.size(); i++) {
                weights.put(ring.get(i), whole.get(i));
            }
        }
        for (Host host : once) {
            DraftNode node = group.addElement("hosts");
            host.sources.forEach(node::from);
            node.put("url", scheme + "://" + host.authority());
            BigInteger weight = weights.getOrDefault(host, BigInteger.ONE);
            if (!weight.equals(BigInteger.ONE)) {
                node.put("weight", weight.toString());
            }
            if (host.backup) {
                node.put("backup", "true");
            }
            if (host.self) {
                node.put("self", "true");
            }
        }
    }

    /**
     * Writes the settings of retries and of mark-down. The records for them apply to all groups.
     *
     * @param moreTries number of retries after error responses
     * @param responses status codes that cause a retry
     * @param marks status codes that mark a host down
     */
    void writeRetries(DraftNode group, int moreTries, List<String> responses, List<String> marks) {
        long attempts = numberOf("http.parent_proxy.total_connect_attempts", "4");
        long tries = Math.max(attempts, moreTries + 1);
        writeNumber(group, "retry.tries", "http.parent_proxy.total_connect_attempts", tries, "");
        group.putWords("retry.response_codes", responses);
        long threshold = numberOf("http.parent_proxy.fail_threshold", "10");
        writeNumber(group, "markdown.fail_threshold", "http.parent_proxy.fail_threshold", threshold, "");
        long retrySeconds = numberOf("http.parent_proxy.retry_time", "300");
        writeNumber(group, "markdown.retry_time", "http.parent_proxy.retry_time", retrySeconds, "s");
        if (retrySeconds > 300) {
            group.put("markdown.retry_time_max", retrySeconds + "s");
        }
        group.putWords("markdown.codes", marks);
    }

    private void writeNumber(DraftNode group, String key, String record, long value, String unit) {
        Rec rec = state.records().getAndMarkProcessed(record);
        DraftNode node = group.put(key, value + unit);
        if (rec != null && rec.value() != null) {
            node.from(rec.entry());
        } else {
            node.remark("Traffic Server's default (proxy.config." + record + ")");
        }
    }

    private long numberOf(String record, String defaultValue) {
        Rec rec = state.records().getAndMarkProcessed(record);
        try {
            return Quantity.integer(state.records().value(record, defaultValue));
        } catch (Quantity.BadValueException e) {
            if (rec != null) {
                rec.file().problem(rec.entry(), "proxy.config." + record + ": " + e.getMessage());
            }
            return 0;
        }
    }
}
