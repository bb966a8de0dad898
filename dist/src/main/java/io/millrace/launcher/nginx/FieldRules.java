package io.millrace.launcher.nginx;

import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.draft.RuleTexts;
import io.millrace.launcher.nginx.cache.CachePlan;
import io.millrace.launcher.nginx.remap.UrlBase;
import io.millrace.launcher.nginx.syntax.Directive;
import io.millrace.launcher.nginx.syntax.Scope;
import io.millrace.launcher.nginx.syntax.Values;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The writer of {@code rules} that change header fields. Changes that are the same for all remap rules are written
 * once, for all requests. Confined to one thread.
 */
final class FieldRules {
    /** Statuses for which {@code add_header} without {@code always} has an effect. */
    private static final String STATUSES = "status in (200, 201, 204, 206, 301, 302, 303, 304, 307, 308)";

    /** Value of Expires for {@code expires max}. */
    private static final String LATEST = "Thu, 31 Dec 2037 23:55:55 GMT";

    /** Value of Expires for {@code expires epoch}. */
    private static final String EARLIEST = "Thu, 01 Jan 1970 00:00:01 GMT";

    /** Words of nginx for the results of cache lookups, each with the condition. */
    private static final List<String> RESULTS = List.of(
            "HIT cache == \"hit\"",
            "STALE cache == \"stale\"",
            "REVALIDATED cache == \"revalidated\"",
            "EXPIRED cache == \"stale-miss\"",
            "BYPASS cache in (\"bypass\", \"request\")",
            "MISS cache in (\"uri-miss\", \"vary-miss\", \"partial\")");

    /**
     * A change of one field.
     *
     * @param when condition; empty if there is none
     * @param key key of the action, such as {@code add_response_header}
     * @param value new value; empty if the field is removed
     */
    private record Change(String when, String key, String name, String value) {}

    /** The changes of one remap rule, with their directives. */
    private record Changes(
            DraftNode node, Map<Change, List<Directive>> requests, Map<Change, List<Directive>> responses) {}

    private final Map<DraftNode, Changes> all = new LinkedHashMap<>();

    private Changes of(DraftNode node) {
        return all.computeIfAbsent(node, key -> new Changes(key, new LinkedHashMap<>(), new LinkedHashMap<>()));
    }

    /**
     * Adds a remap rule that leads to an origin, even if it changes no field. Otherwise {@link #write} could apply the
     * changes of other rules to the requests of this rule.
     */
    void add(DraftNode node) {
        of(node);
    }

    /** Sets a field of requests to origins; an empty value removes it. */
    void setRequestField(DraftNode node, Scope scope, UrlBase base, Directive source) {
        String name = source.arg(0);
        if (!RuleTexts.isFieldName(name)) {
            source.notMapped("the importer cannot write this field name; write a rule with set_request_header");
        } else if (source.arg(1).isEmpty()) {
            put(of(node).requests, new Change("", "remove_request_header", name, ""), source);
        } else {
            Map<String, String> values = values(source.arg(1), scope, base);
            if (values == null) {
                source.notMapped(RuleTexts.CONSTANT + ", or write set_request_header for each value with a condition");
                return;
            }
            values.forEach((when, value) ->
                    put(of(node).requests, new Change(when, "set_request_header", name, value), source));
        }
    }

    /** Removes a field of responses. */
    void removeResponseField(DraftNode node, Directive source) {
        if (RuleTexts.isFieldName(source.arg(0))) {
            put(of(node).responses, new Change("", "remove_response_header", source.arg(0), ""), source);
        } else {
            source.notMapped("the importer cannot write this field name; write a rule with remove_response_header");
        }
    }

    /**
     * Sets Cache-Control of responses, and Expires if its value is constant. Otherwise removes Expires.
     *
     * @param extraCondition condition that must hold too; empty for none
     */
    void expires(DraftNode node, Directive source, String extraCondition) {
        String word = source.arg(0);
        Long millis = Values.millis(word.replaceAll("^-", ""));
        String value =
                switch (word) {
                    case "epoch" -> "no-cache";
                    case "max" -> "max-age=315360000";
                    default ->
                        millis == null || word.startsWith("@") || source.args().size() != 1
                                ? ""
                                : word.startsWith("-") ? "no-cache" : "max-age=" + millis / 1000;
                };
        if (word.equals("off")) {
            source.note("the value is off, as in Millrace");
        } else if (value.isEmpty()) {
            source.notMapped("rules have constant values: write set_response_header: {Cache-Control: max-age=SECONDS}");
        } else {
            String when = joinConditions(extraCondition, STATUSES);
            String date = word.equals("max") ? LATEST : word.equals("epoch") ? EARLIEST : "";
            String key = date.isEmpty() ? "remove_response_header" : "set_response_header";
            put(of(node).responses, new Change(when, key, "Expires", date), source);
            put(of(node).responses, new Change(when, "set_response_header", "Cache-Control", value), source);
            if (date.isEmpty()) {
                source.entry().note("Expires is not sent; Cache-Control takes precedence");
            }
        }
    }

    /**
     * Adds a field with the result of the cache lookup, in the words of nginx.
     *
     * @param extraCondition condition that must hold too; empty for none
     */
    void cacheResult(DraftNode node, Scope scope, Directive source, String extraCondition) {
        if (!CachePlan.isOn(scope)) {
            source.note("the variable is empty without proxy_cache, so that the field is not sent");
            return;
        }
        if (!RuleTexts.isFieldName(source.arg(0)) || !source.arg(1).matches("\\$\\{?upstream_cache_status}?")) {
            source.note("Cache-Status in responses has the result of the cache lookup");
            return;
        }
        boolean always = source.args().size() > 2 && source.lastArg().equals("always");
        for (String result : RESULTS) {
            String word = result.substring(0, result.indexOf(' '));
            String when = joinConditions(extraCondition, result.substring(word.length() + 1));
            put(
                    of(node).responses,
                    new Change(
                            always ? when : joinConditions(when, STATUSES), "add_response_header", source.arg(0), word),
                    source);
        }
    }

    /** Sets or removes fields as the directives {@code more_set_headers} and {@code more_clear_headers} do. */
    void more(DraftNode node, Directive source) {
        boolean sets = source.name().equals("more_set_headers");
        List<String> words = new ArrayList<>(source.args());
        String when = "";
        while (!words.isEmpty() && words.get(0).startsWith("-")) {
            String codes = words.size() > 1 ? words.get(1).strip() : "";
            if (!words.get(0).equals("-s") || !when.isEmpty() || !codes.matches("\\d{3}(\\s+\\d{3})*")) {
                source.notMapped("'" + words.get(0) + "': only option -s with statuses is translated; write a rule");
                return;
            }
            when = "status in (" + codes.replaceAll("\\s+", ", ") + ")";
            words = words.subList(2, words.size());
        }
        for (String word : words) {
            int colon = word.indexOf(':');
            String name = colon < 0 ? word : word.substring(0, colon).strip();
            String value = colon < 0 ? "" : word.substring(colon + 1).strip();
            if (!RuleTexts.isFieldName(name) || value.contains("$")) {
                source.notMapped("'" + word + "': names and values of fields are constants; write a rule");
            } else if (sets && !value.isEmpty()) {
                put(of(node).responses, new Change(when, "set_response_header", name, value), source);
            } else {
                put(of(node).responses, new Change(when, "remove_response_header", name, ""), source);
            }
        }
    }

    private static String joinConditions(String one, String two) {
        return one.isEmpty() ? two : two.isEmpty() ? one : one + " && " + two;
    }

    /**
     * Adds a field to responses.
     *
     * @param extraCondition condition that must hold too; empty for none
     */
    void addResponseField(DraftNode node, Scope scope, UrlBase base, Directive source, String extraCondition) {
        String name = source.arg(0);
        if (!RuleTexts.isFieldName(name)) {
            source.notMapped("the importer cannot write this field name; write a rule with add_response_header");
            return;
        }
        if (source.arg(1).isEmpty()) {
            source.note("nginx adds no field with an empty value");
            return;
        }
        Map<String, String> values = values(source.arg(1), scope, base);
        if (values == null) {
            source.notMapped(RuleTexts.CONSTANT + ", or write add_response_header for each value with a condition");
            return;
        }
        boolean always = source.args().size() > 2 && source.lastArg().equals("always");
        // nginx replaces these fields; it adds all others to those of the origin.
        boolean replaces = name.equalsIgnoreCase("ETag") || name.equalsIgnoreCase("Last-Modified");
        String key = replaces ? "set_response_header" : "add_response_header";
        values.forEach((when, value) -> {
            String all = joinConditions(extraCondition, always ? when : joinConditions(when, STATUSES));
            put(of(node).responses, new Change(all, key, name, value), source);
        });
    }

    private static void put(Map<Change, List<Directive>> changes, Change change, Directive source) {
        source.markHandled();
        changes.computeIfAbsent(change, key -> new ArrayList<>()).add(source);
    }

    /**
     * Returns the values of a text with variables, each by the condition under which it applies. Returns null if the
     * text has variables without an equivalent.
     */
    private static @Nullable Map<String, String> values(String text, Scope scope, UrlBase base) {
        String value = scope.expand(text).replaceAll("\\$\\{(\\w+)}", "\\$$1");
        if (!base.isForAllUrls() && !base.expression()) {
            value = value.replaceAll("\\$host\\b", base.host());
        }
        if (!base.scheme().isEmpty()) {
            value = value.replaceAll("\\$scheme\\b", base.scheme());
        }
        Map<String, String> values = new LinkedHashMap<>();
        if (value.matches("(?s).*\\$scheme\\b.*")) {
            for (String scheme : List.of("http", "https")) {
                values.put("scheme == \"" + scheme + "\"", value.replaceAll("\\$scheme\\b", scheme));
            }
        } else {
            values.put("", value);
        }
        return values.values().stream().anyMatch(each -> each.contains("$")) ? null : values;
    }

    /**
     * Writes the changes into the remap rules. Writes the changes of requests into {@code rules} for all requests
     * instead, if there are several remap rules and all have the same changes of requests. The same applies to the
     * changes of responses if all remap rules have the same ones, and {@code common} contains all their directives.
     *
     * @param common blocks whose directives all requests inherit
     */
    void write(Draft draft, List<Directive> common) {
        List<Changes> rules = List.copyOf(all.values());
        if (rules.isEmpty()) {
            return;
        }
        Changes first = rules.get(0);
        boolean sameRequests = rules.size() > 1
                && rules.stream().allMatch(each -> each.requests.keySet().equals(first.requests.keySet()));
        boolean inherited = first.responses.values().stream()
                .flatMap(List::stream)
                .allMatch(each ->
                        common.stream().anyMatch(block -> block.children().contains(each)));
        boolean sameResponses = inherited
                && rules.stream().allMatch(each -> each.responses.keySet().equals(first.responses.keySet()));
        Map<Change, List<Directive>> requests = new LinkedHashMap<>();
        Map<Change, List<Directive>> responses = new LinkedHashMap<>();
        for (Changes each : rules) {
            collect(each.requests, sameRequests ? requests : null, each.node);
            collect(each.responses, sameResponses ? responses : null, each.node);
        }
        write(draft.root(), requests);
        write(draft.root(), responses);
    }

    private static void collect(
            Map<Change, List<Directive>> changes, @Nullable Map<Change, List<Directive>> shared, DraftNode node) {
        if (shared == null) {
            write(node, changes);
        } else {
            changes.forEach((change, sources) ->
                    shared.computeIfAbsent(change, key -> new ArrayList<>()).addAll(sources));
        }
    }

    /** Returns the position of an action in its rule: fields are removed first, then set, then added. */
    private static int rank(String key) {
        return key.startsWith("remove_") ? 0 : key.startsWith("set_") ? 1 : 2;
    }

    /**
     * Writes changes with as few elements of {@code rules} as possible. An element has one condition. It first removes,
     * then sets, then adds fields, so two changes of one field share an element only if they are in this order.
     */
    private static void write(DraftNode into, Map<Change, List<Directive>> changes) {
        DraftNode rule = null;
        String when = "";
        Map<String, Integer> lastRanks = new HashMap<>();
        List<String> removed = new ArrayList<>();
        for (Map.Entry<Change, List<Directive>> each : changes.entrySet()) {
            Change change = each.getKey();
            int rank = rank(change.key);
            Integer last = lastRanks.put(change.name.toLowerCase(Locale.ROOT), rank);
            if (rule == null || !when.equals(change.when) || (last != null && last >= rank)) {
                rule = into.addElement("rules").removableIfInvalid();
                when = change.when;
                lastRanks.clear();
                lastRanks.put(change.name.toLowerCase(Locale.ROOT), rank);
                removed.clear();
                if (!when.isEmpty()) {
                    rule.put("when", when);
                }
            }
            boolean removes = change.key.startsWith("remove_");
            if (removes) {
                removed.add(change.name);
            }
            DraftNode written = removes
                    ? rule.putWords(change.key, removed)
                    : rule.put(change.key + "." + change.name, change.value);
            each.getValue().forEach(source -> written.from(source.entry()));
        }
    }
}
