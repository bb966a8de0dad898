package io.millrace.launcher.nginx.remap;

import io.millrace.launcher.importing.draft.Draft;
import io.millrace.launcher.importing.draft.DraftNode;
import io.millrace.launcher.importing.source.Entry;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The settings of all rules. A setting with the same value in all rules is written once, outside of the rules. Confined
 * to one thread.
 */
public final class RuleSettings {
    /**
     * A value with its source lines.
     *
     * @param words the elements of a list; null for a scalar
     * @param remark comment for a value without source lines; empty for none
     */
    record Value(String text, @Nullable List<String> words, List<Entry> sources, String remark) {
        boolean hasSameText(@Nullable Value other) {
            return other != null && other.text.equals(text);
        }
    }

    /** The settings of one rule. */
    public static final class Rule {
        private final DraftNode node;
        private final Map<String, Value> values = new LinkedHashMap<>();

        /** Elements of {@code rules} with {@code bypass}, by condition. */
        private final Map<String, DraftNode> bypasses = new LinkedHashMap<>();

        private Rule(DraftNode node) {
            this.node = node;
        }

        /** Sets a scalar. */
        public void put(String key, String text, Entry... sources) {
            put(key, text, null, sources);
        }

        /** Sets a list of words. */
        public void putWords(String key, List<String> words, Entry... sources) {
            put(key, String.join(", ", words), words, sources);
        }

        /** Sets a value. If several directives set the same value, all of them become its sources. */
        private void put(String key, String text, @Nullable List<String> words, Entry... sources) {
            Value earlierValue = values.get(key);
            List<Entry> all = new ArrayList<>(
                    earlierValue != null && earlierValue.text.equals(text) ? earlierValue.sources : List.of());
            all.addAll(List.of(sources));
            values.put(key, new Value(text, words, all, ""));
        }

        /** Lets requests that meet a condition bypass the cache. A condition is written once. */
        public void bypass(String when, Entry source) {
            bypasses.computeIfAbsent(when, key -> {
                        DraftNode element = node.addElement("rules").removableIfInvalid();
                        element.put("when", when);
                        element.put("bypass", "true");
                        return element;
                    })
                    .from(source);
        }

        /** Adds an element of {@code rules} for responses that meet a condition. */
        public DraftNode addResponseRule(String when) {
            DraftNode element = node.addElement("rules").removableIfInvalid();
            element.put("when", when);
            return element;
        }

        /** Sets a default of nginx, unless the setting has a value. */
        public void putDefault(String key, String text, String remark) {
            values.putIfAbsent(key, new Value(text, null, List.of(), remark));
        }

        /** Sets a list that is a default of nginx, unless the setting has a value. */
        public void putDefault(String key, List<String> words, String remark) {
            values.putIfAbsent(key, new Value(String.join(", ", words), words, List.of(), remark));
        }

        /** Returns false for a cache setting if the rule does not use the cache. */
        private boolean isAffectedBy(String key) {
            return !key.startsWith("cache.") || key.equals("cache.enabled") || !"false".equals(text("cache.enabled"));
        }

        /** Returns the text of a setting; null if it is not set. */
        @Nullable
        public String text(String key) {
            Value value = values.get(key);
            return value == null ? null : value.text;
        }
    }

    private final List<Rule> rules = new ArrayList<>();

    /** Adds a rule that leads to an origin. */
    public Rule add(DraftNode node) {
        Rule rule = new Rule(node);
        rules.add(rule);
        return rule;
    }

    /** Writes the settings into the rules, or into the sections that apply to all rules. */
    public void write(Draft draft) {
        Set<String> keys = new LinkedHashSet<>();
        rules.forEach(rule -> keys.addAll(rule.values.keySet()));
        for (String key : keys) {
            List<Rule> concerned =
                    rules.stream().filter(rule -> rule.isAffectedBy(key)).toList();
            Value first = concerned.isEmpty() ? null : concerned.get(0).values.get(key);
            boolean same = first != null
                    && mayHoldForAll(key)
                    && concerned.stream().allMatch(rule -> first.hasSameText(rule.values.get(key)));
            for (Rule rule : rules) {
                Value value = rule.values.get(key);
                if (value != null) {
                    write(same ? draft.root() : rule.node, key, value);
                }
            }
        }
    }

    /**
     * Returns false for a key of compression unless all rules compress: outside of the rules, one such key turns
     * compression on for all of them.
     */
    private boolean mayHoldForAll(String key) {
        return !key.startsWith("compression.")
                || rules.stream().allMatch(rule -> "true".equals(rule.text("compression.enabled")));
    }

    private static void write(DraftNode node, String key, Value value) {
        if (Draft.isDefault(key, value.text)) {
            value.sources.forEach(source -> source.matchesDefaultOf(key));
            return;
        }
        DraftNode written = value.words == null ? node.put(key, value.text) : node.putWords(key, value.words);
        written.removableIfInvalid();
        value.sources.forEach(written::from);
        if (!value.remark.isEmpty()) {
            written.remark(value.remark);
        }
    }
}
