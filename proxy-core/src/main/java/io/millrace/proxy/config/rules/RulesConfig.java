package io.millrace.proxy.config.rules;

import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The rules for all requests and for each remap rule, in the order of the file. Immutable.
 *
 * @param general the rules of {@code rules}
 * @param byRemap the rules of each remap rule; an empty list if it has none
 */
public record RulesConfig(List<RuleConfig> general, List<List<RuleConfig>> byRemap) {
    /** Copies the lists. */
    public RulesConfig {
        general = List.copyOf(general);
        byRemap = List.copyOf(byRemap);
    }

    /**
     * Compiles the rules of a configuration that was checked.
     *
     * @throws IllegalArgumentException if a rule has a fault; the message is the fault
     */
    public static RulesConfig from(ConfigValues values) {
        int[] nextIndex = {values.elements(CacheRulesKeys.CACHE_RULES).size()};
        List<RuleConfig> general = compile(values.elements(RuleKeys.RULES), "rules", nextIndex);
        List<List<RuleConfig>> byRemap = new ArrayList<>();
        for (ConfigValues remap : values.elements(ConfigKeys.REMAP)) {
            List<ConfigValues> rules = remap.elements(RuleKeys.OF_REMAP);
            byRemap.add(rules.isEmpty() ? List.of() : compile(rules, "remap[" + byRemap.size() + "].rules", nextIndex));
        }
        return new RulesConfig(general, byRemap);
    }

    private static List<RuleConfig> compile(List<ConfigValues> elements, String path, int[] nextIndex) {
        List<RuleConfig> rules = new ArrayList<>();
        for (ConfigValues element : elements) {
            String name = path + "[" + rules.size() + "]";
            RuleConfig rule =
                    RuleCompiler.compile(name, nextIndex[0], element, Set.of(), (key, message, suggestion) -> {
                        throw new IllegalArgumentException(name + (key.isEmpty() ? "" : "." + key) + ": " + message);
                    });
            if (rule == null) {
                throw new IllegalArgumentException(name + ": has a fault");
            }
            nextIndex[0] += rule.lifetime() == null ? 0 : 1;
            rules.add(rule);
        }
        return List.copyOf(rules);
    }

    /** Returns true if there are no rules. */
    public boolean isEmpty() {
        return general.isEmpty() && byRemap.stream().allMatch(List::isEmpty);
    }

    /**
     * Returns the rules that set lifetimes, in order. They follow the elements of {@code cache_rules} in the list of
     * cache rules.
     */
    public List<RuleConfig> lifetimes() {
        List<RuleConfig> found = new ArrayList<>();
        general.forEach(rule -> addLifetime(rule, found));
        byRemap.forEach(rules -> rules.forEach(rule -> addLifetime(rule, found)));
        return List.copyOf(found);
    }

    private static void addLifetime(RuleConfig rule, List<RuleConfig> to) {
        if (rule.lifetime() != null) {
            to.add(rule);
        }
    }
}
