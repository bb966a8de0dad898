package io.millrace.proxy.config.check;

import io.millrace.proxy.config.access.ForwardProxyKeys;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.rules.RuleCompiler;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.ExpressionException;
import io.millrace.proxy.expression.request.RequestFields;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Checks the rules of {@code rules} and of remap rules for errors. */
public final class RulesChecks {
    private final ConfigProblems problems;
    private final Place wholeFile;

    public RulesChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Checks all rules, and the number of rules that can apply to one request. */
    void check(ConfigValues values) {
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        Set<String> unkeyed = new TreeSet<>();
        boolean usesGeneral = values.get(ForwardProxyKeys.ENABLED);
        for (ConfigValues rule : remap) {
            if (rule.hasSettingsOfRule()) {
                unkeyed.addAll(unkeyed(rule.over(values)));
            } else {
                usesGeneral = true;
            }
        }
        if (usesGeneral) {
            unkeyed.addAll(unkeyed(values));
        }
        int[] general = check(values.elements(RuleKeys.RULES), "rules", unkeyed, new int[2]);
        for (int i = 0; i < remap.size(); i++) {
            if (remap.get(i).isSet(RuleKeys.OF_REMAP)) {
                check(
                        remap.get(i).elements(RuleKeys.OF_REMAP),
                        "remap[" + i + "].rules",
                        unkeyed(remap.get(i).over(values)),
                        general);
            }
        }
        new SharedKeyChecks(problems, wholeFile).check(values);
    }

    /** Returns the fields of conditions whose values the cache keys of a remap rule may omit. */
    private static Set<String> unkeyed(ConfigValues inForce) {
        Set<String> fields = new TreeSet<>();
        if (inForce.get(CacheKeyKeys.IGNORE_QUERY)
                || inForce.isSet(CacheKeyKeys.INCLUDED_PARAMS)
                || inForce.isSet(CacheKeyKeys.EXCLUDED_PARAMS)) {
            fields.addAll(List.of("query", "param"));
        }
        if (inForce.get(CacheKeyKeys.SORTED_PARAMS)) {
            // Queries that differ in the order of parameters have one key, but a condition may match only one of them.
            fields.add("query");
        }
        if (inForce.isSet(CacheKeyKeys.HOST)) {
            fields.addAll(List.of("host", "port"));
        }
        return fields;
    }

    /**
     * Checks the rules of a list.
     *
     * @param unkeyed fields of conditions that cache keys may omit
     * @param before the number of rules before the list, and the bytes that they add
     * @return the number of rules and the bytes, both including this list
     */
    private int[] check(List<ConfigValues> rules, String list, Set<String> unkeyed, int[] before) {
        int bytes = before[1];
        for (int i = 0; i < rules.size(); i++) {
            String path = list + "[" + i + "]";
            // A misspelt or invalid key is reported once, not also as a missing key.
            if (problems.isBroken(path) || problems.isAnyBrokenBelow(path)) {
                continue;
            }
            RuleConfig rule = RuleCompiler.compile(path, 0, rules.get(i), unkeyed, (key, message, suggestion) -> {
                String full = key.isEmpty() ? path : path + "." + key;
                problems.error(at(full, path), full, message, suggestion);
            });
            bytes += rule == null ? 0 : rule.addedBytes();
            limit(path, before[0] + i + 1, RuleConfig.RULES_MAX, "rules apply to one request");
            limit(path, bytes, RuleConfig.ADDED_BYTES_MAX, "bytes of fields are added to one request");
        }
        return new int[] {before[0] + rules.size(), bytes};
    }

    private void limit(String path, int actual, int limit, String what) {
        if (actual > limit && !problems.isBroken(path)) {
            problems.error(at(path, path), path, "with this rule " + actual + " " + what + ", limit=" + limit);
        }
    }

    private Place at(String full, String rule) {
        return problems.placeOf(full, problems.placeOf(rule, wholeFile));
    }

    /** Returns the regular expressions of a list of rules. Conditions with an error are skipped. */
    static List<String> expressions(ConfigValues values, ConfigKey<List<ConfigValues>> key) {
        return values.elements(key).stream()
                .flatMap(rule -> patterns(rule.find(RuleKeys.WHEN)).stream())
                .toList();
    }

    private static List<String> patterns(@Nullable String when) {
        try {
            return when == null
                    ? List.of()
                    : Expression.parse(when, RequestFields.SCHEMA).patterns();
        } catch (ExpressionException e) {
            return List.of();
        }
    }
}
