package io.millrace.launcher.ats;

import io.millrace.launcher.ats.Records.Rec;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** parent.config: groups of origins, and which rules have them. */
final class ParentImport {
    private static final Map<String, String> POLICIES = Map.of(
            "false", "first_live",
            "true", "sticky",
            "strict", "round_robin",
            "consistent_hash", "consistent_hash",
            "latched", "latched");

    private final Input input;
    private int groups;

    ParentImport(Input input) {
        this.input = input;
    }

    /** @param rules those that lead to an origin */
    void read(List<RemapRule> rules) {
        SourceFile file = input.read("parent.config");
        if (file == null) {
            return;
        }
        List<RemapRule> left = new ArrayList<>(rules);
        for (Words words : Words.of(file)) {
            Map<String, String> fields = fields(file, words);
            if (!fields.isEmpty()) {
                line(words.entry(), fields, left);
            }
        }
    }

    private static Map<String, String> fields(SourceFile file, Words words) {
        Map<String, String> fields = new LinkedHashMap<>();
        for (int i = 0; i < words.words().size(); i++) {
            String word = words.at(i);
            int equals = word.indexOf('=');
            if (equals < 0) {
                file.problem(words.entry().line(), words.columns().get(i), "'" + word + "' is not NAME=VALUE");
                return Map.of();
            }
            fields.put(word.substring(0, equals).toLowerCase(Locale.ROOT), word.substring(equals + 1));
        }
        return fields;
    }

    private void line(Entry entry, Map<String, String> fields, List<RemapRule> left) {
        for (String name : List.of(
                "dest_ip", "url_regex", "port", "scheme", "prefix", "suffix", "method", "time", "src_ip", "internal")) {
            if (fields.containsKey(name)) {
                entry.notMapped(
                        name
                                + ": a group of origins belongs to a rule of remap; write the group and name it in the rules that it is for");
                return;
            }
        }
        List<RemapRule> mine = new ArrayList<>();
        for (RemapRule rule : left) {
            if (isFor(fields, rule.toHost())) {
                mine.add(rule);
            }
        }
        left.removeAll(mine);
        String parents = fields.getOrDefault("parent", "");
        if (parents.isEmpty()) {
            entry.note("goes to the host of the rule itself, as rules without origins do");
        } else if (mine.isEmpty()) {
            entry.note("no rule of remap leads there, or one before it has them");
        } else {
            write(entry, fields, mine);
        }
    }

    private static boolean isFor(Map<String, String> fields, String host) {
        String domain = fields.get("dest_domain");
        String exact = fields.get("dest_host");
        if (domain != null) {
            String name = domain.startsWith(".") ? domain.substring(1) : domain;
            return name.isEmpty()
                    || host.equalsIgnoreCase(name)
                    || host.toLowerCase(Locale.ROOT).endsWith("." + name.toLowerCase(Locale.ROOT));
        }
        return exact != null && host.equalsIgnoreCase(exact);
    }

    private void write(Entry entry, Map<String, String> fields, List<RemapRule> rules) {
        groups++;
        String name = "parent-" + groups;
        DraftNode group = input.draft().element("origins", entry);
        group.put("name", name);
        String policy = POLICIES.get(fields.getOrDefault("round_robin", "false"));
        if (policy == null) {
            entry.notMapped("round_robin=" + fields.get("round_robin") + " is no policy, so all take turns");
            policy = "round_robin";
        }
        group.put("policy", policy);
        if (policy.equals("consistent_hash")) {
            group.put("hash_key", fields.getOrDefault("qstring", "consider").equals("ignore") ? "path" : "path_query");
            entry.note("which host has a URL differs from Traffic Server's choice");
        }
        boolean secure = rules.stream().allMatch(rule -> rule.toScheme().equals("https"));
        boolean proxies = !fields.getOrDefault("parent_is_proxy", "true").equals("false");
        String scheme = secure && !proxies ? "https://" : "http://";
        BigDecimal unit = unit(fields.get("parent") + ";" + fields.getOrDefault("secondary_parent", ""));
        hosts(group, entry, fields.getOrDefault("parent", ""), scheme, unit, false);
        hosts(group, entry, fields.getOrDefault("secondary_parent", ""), scheme, unit, true);
        group.put("parent_is_proxy", Boolean.toString(proxies));
        group.put(
                "go_direct",
                Boolean.toString(!fields.getOrDefault("go_direct", "true").equals("false")));
        retries(group, fields);
        for (RemapRule rule : rules) {
            DraftNode node = rule.node();
            if (node != null) {
                node.put("origins", name).optional().from(entry);
            }
        }
        for (String other : fields.keySet()) {
            if (List.of(
                            "hash_algorithm",
                            "hash_seed0",
                            "hash_seed1",
                            "hash_replicas",
                            "secondary_mode",
                            "host_override")
                    .contains(other)) {
                entry.note(other + " has no equal"
                        + (other.equals("secondary_mode") ? "; backups are asked while none of the others is up" : ""));
            } else if (!List.of(
                            "dest_domain",
                            "dest_host",
                            "parent",
                            "secondary_parent",
                            "round_robin",
                            "qstring",
                            "parent_is_proxy",
                            "go_direct",
                            "parent_retry",
                            "max_simple_retries",
                            "max_unavailable_server_retries",
                            "simple_server_retry_responses",
                            "unavailable_server_retry_responses",
                            "ignore_self_detect")
                    .contains(other)) {
                entry.notMapped(other + " is not understood");
            }
        }
    }

    private static List<String> list(String parents) {
        List<String> hosts = new ArrayList<>();
        for (String each : parents.split("[;,\\s]+", -1)) {
            if (!each.isEmpty()) {
                hosts.add(each);
            }
        }
        return hosts;
    }

    /** What a weight of one becomes: weights may be fractions there and are whole numbers here. */
    private static BigDecimal unit(String parents) {
        boolean fractions = list(parents).stream().anyMatch(parent -> {
            BigDecimal weight = weight(parent);
            return weight.stripTrailingZeros().scale() > 0;
        });
        return fractions ? BigDecimal.TEN : BigDecimal.ONE;
    }

    private static BigDecimal weight(String parent) {
        int bar = parent.indexOf('|');
        String text = bar < 0 ? "1" : parent.substring(bar + 1).replaceAll("&.*", "");
        try {
            return Quantity.number(text);
        } catch (NumberFormatException e) {
            return BigDecimal.ONE;
        }
    }

    private static void hosts(
            DraftNode group, Entry entry, String parents, String scheme, BigDecimal unit, boolean backup) {
        for (String parent : list(parents)) {
            int end = parent.indexOf('|');
            String host = (end < 0 ? parent : parent.substring(0, end)).replaceAll("&.*", "");
            if (parent.contains("&")) {
                entry.note("hosts are hashed by their names; '" + parent.substring(parent.indexOf('&'))
                        + "' has no equal");
            }
            DraftNode node = group.element("hosts");
            node.put("url", scheme + host);
            BigDecimal weight = weight(parent).multiply(unit).setScale(0, RoundingMode.HALF_UP);
            if (weight.compareTo(BigDecimal.ONE) != 0) {
                node.put("weight", weight.max(BigDecimal.ONE).toPlainString());
            }
            if (backup) {
                node.put("backup", "true");
            }
        }
    }

    private void retries(DraftNode group, Map<String, String> fields) {
        String retry = fields.getOrDefault("parent_retry", "none");
        boolean simple = retry.equals("simple_retry") || retry.equals("both");
        boolean unavailable = retry.equals("unavailable_server_retry") || retry.equals("both");
        Set<String> responses = new LinkedHashSet<>();
        Set<String> marks = new LinkedHashSet<>();
        if (simple) {
            responses.add("404");
            responses.addAll(RecordTable.split(
                    fields.getOrDefault("simple_server_retry_responses", "").replace("\"", "")));
        }
        if (unavailable) {
            marks.add("503");
            marks.addAll(RecordTable.split(fields.getOrDefault("unavailable_server_retry_responses", "")
                    .replace("\"", "")));
            responses.addAll(marks);
        }
        number(group, "retry.tries", "http.parent_proxy.total_connect_attempts", "4", "");
        group.putWords("retry.response_codes", List.copyOf(responses));
        number(group, "markdown.fail_threshold", "http.parent_proxy.fail_threshold", "10", "");
        number(group, "markdown.retry_time", "http.parent_proxy.retry_time", "300", "s");
        long retrySeconds = number("http.parent_proxy.retry_time", "300");
        if (retrySeconds > 300) {
            group.put("markdown.retry_time_max", retrySeconds + "s");
        }
        group.putWords("markdown.codes", List.copyOf(marks));
    }

    private void number(DraftNode group, String key, String record, String otherwise, String unit) {
        @Nullable Rec rec = input.records().take(record);
        DraftNode node = group.put(key, number(record, otherwise) + unit);
        if (rec != null && rec.value() != null) {
            node.from(rec.entry());
        } else {
            node.remark("Traffic Server's default (proxy.config." + record + ")");
        }
    }

    private long number(String record, String otherwise) {
        Rec rec = input.records().take(record);
        try {
            return Quantity.integer(input.records().value(record, otherwise));
        } catch (Quantity.BadValueException e) {
            if (rec != null) {
                rec.file().problem(rec.entry(), "proxy.config." + record + ": " + e.getMessage());
            }
            return 0;
        }
    }
}
