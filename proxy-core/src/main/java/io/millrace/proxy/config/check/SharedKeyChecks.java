package io.millrace.proxy.config.check;

import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.remap.RemapKeys;
import io.millrace.proxy.config.rules.RuleKeys;
import io.millrace.proxy.config.value.HostTemplate;
import io.millrace.proxy.config.value.RemapVerb;
import io.millrace.proxy.config.value.RuleUrl;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks that remap rules with a common {@code cache.key.host} change stored responses in the same way. Otherwise the
 * rule of the first request would determine the stored response that requests of the other rules get. Confined to one
 * thread.
 */
final class SharedKeyChecks {
    /** The actions that change requests to the origin, stored responses or their lifetime. */
    private static final List<ConfigKey<?>> EFFECTS = List.of(
            RuleKeys.SET_REQUEST_HEADER,
            RuleKeys.ADD_REQUEST_HEADER,
            RuleKeys.REMOVE_REQUEST_HEADER,
            RuleKeys.SET_STORED_HEADER,
            RuleKeys.ADD_STORED_HEADER,
            RuleKeys.REMOVE_STORED_HEADER,
            RuleKeys.REWRITE_PATH,
            RuleKeys.REWRITE_QUERY,
            RuleKeys.TTL);

    /**
     * The properties, besides the target, that remap rules with shared responses have in common.
     *
     * @param host value of {@code cache.key.host}
     * @param generation value of {@code cache.key.generation}
     * @param path path in the URL of the rule
     * @param receivedPort port in the URL of a rule for requests that arrived on that port; -1 for other rules
     * @param pristine whether origins receive {@code host} in the Host field, instead of the host of the target
     * @param wholeQuery whether origins receive the whole query of the client
     */
    private record SharedKeyParts(
            String host, int generation, String path, int receivedPort, boolean pristine, boolean wholeQuery) {}

    /**
     * A remap rule with {@code cache.key.host}, which may share stored responses with other remap rules.
     *
     * @param to the target; with references such as $1 to groups of the regular expression if {@code isTemplate}
     * @param effects condition and {@link #EFFECTS} of each element of its {@code rules} that changes stored responses
     * @param indexes indexes of these elements in {@code rules}
     */
    private record SharingRule(
            int index,
            @Nullable String place,
            RuleUrl from,
            String to,
            boolean isTemplate,
            List<ConfigValues> effects,
            List<Integer> indexes) {
        /**
         * Returns true if the rules may have equal keys for a URL. Targets with references are compared by the text
         * before the first reference and after the last reference.
         */
        boolean mayShare(SharingRule other) {
            boolean schemes = from.scheme() == null
                    || other.from.scheme() == null
                    || from.scheme().equals(other.from.scheme());
            boolean ports = from.port() < 0 || other.from.port() < 0 || from.port() == other.from.port();
            if (!schemes || !ports) {
                return false;
            }
            if (!isTemplate && !other.isTemplate) {
                return to.equals(other.to);
            }
            return haveCommonStart(start(), other.start()) && haveCommonEnd(end(), other.end());
        }

        private static boolean haveCommonStart(String one, String other) {
            return one.startsWith(other) || other.startsWith(one);
        }

        private static boolean haveCommonEnd(String one, String other) {
            return one.endsWith(other) || other.endsWith(one);
        }

        /** The target before its first reference. */
        private String start() {
            for (int i = 0; isTemplate && i < to.length(); i++) {
                if (HostTemplate.isSubstitution(to, i)) {
                    return to.substring(0, i);
                }
            }
            return to;
        }

        /** The target after its last reference. */
        private String end() {
            for (int i = to.length() - 1; isTemplate && i >= 0; i--) {
                if (HostTemplate.isSubstitution(to, i)) {
                    return to.substring(i + 2);
                }
            }
            return to;
        }

        /** {@code remap[3] (millrace.yaml:12:5)}. */
        @Override
        public String toString() {
            return "remap[" + index + "]" + (place == null ? "" : " (" + place + ")");
        }
    }

    private final ConfigProblems problems;
    private final Place wholeFile;
    private final Map<SharedKeyParts, List<SharingRule>> sharingRules = new HashMap<>();

    SharedKeyChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Checks every remap rule against those before it, and reports at most one error for each. */
    void check(ConfigValues values) {
        List<ConfigValues> remap = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < remap.size(); i++) {
            if (!remap.get(i).isSet(CacheKeyKeys.HOST) && !values.isSet(CacheKeyKeys.HOST)) {
                continue;
            }
            String path = "remap[" + i + "]";
            ConfigValues effective = remap.get(i).over(values);
            if (effective.isSet(CacheKeyKeys.HOST)
                    && effective.get(ConfigKeys.CACHE_ENABLED)
                    && !problems.isBroken(path)
                    && !problems.isAnyBrokenBelow(path)) {
                check(i, remap.get(i), effective);
            }
        }
    }

    private void check(int index, ConfigValues rule, ConfigValues effective) {
        for (RemapVerb verb : RemapVerb.all()) {
            RuleUrl from = rule.find(RemapKeys.of(verb));
            RuleUrl to = rule.find(RemapKeys.TO);
            if (!verb.isForward() || from == null || to == null || from.isWebSocket()) {
                continue;
            }
            SharedKeyParts common = new SharedKeyParts(
                    effective.get(CacheKeyKeys.HOST),
                    effective.get(CacheKeyKeys.GENERATION),
                    from.path(),
                    verb.group() == RemapVerb.Group.RECEIVED_PORT ? from.port() : -1,
                    effective.get(ConfigKeys.PRISTINE_HOST_HDR),
                    effective.get(CacheKeyKeys.SEND_WHOLE_QUERY));
            String target = to.toString();
            boolean isTemplate = verb.isRegex() && HostTemplate.lastGroup(target) >= 0;
            List<ConfigValues> effects = new ArrayList<>();
            List<Integer> indexes = new ArrayList<>();
            List<ConfigValues> rules = rule.elements(RuleKeys.OF_REMAP);
            for (int i = 0; i < rules.size(); i++) {
                ConfigValues effect = effectOf(rules.get(i));
                if (effect != null) {
                    effects.add(effect);
                    indexes.add(i);
                }
            }
            List<SharingRule> earlier = sharingRules.computeIfAbsent(common, key -> new ArrayList<>());
            SharingRule sharing =
                    new SharingRule(index, rule.filePosition(), from, target, isTemplate, effects, indexes);
            compare(sharing, earlier);
            earlier.add(sharing);
        }
    }

    private void compare(SharingRule rule, List<SharingRule> earlier) {
        for (SharingRule other : earlier) {
            if (!rule.effects.equals(other.effects) && rule.mayShare(other)) {
                report(rule, other);
                return;
            }
        }
    }

    /** Returns condition and actions of an element of {@code rules}; null if it changes no stored response. */
    private static @Nullable ConfigValues effectOf(ConfigValues element) {
        if (element.get(RuleKeys.BYPASS)) {
            return null;
        }
        ConfigValues.Builder effect = ConfigValues.builder();
        boolean any = false;
        for (ConfigKey<?> key : EFFECTS) {
            Object value = element.find(key);
            if (value != null) {
                effect.put(key, value);
                any = true;
            }
        }
        String when = element.find(RuleKeys.WHEN);
        if (when != null) {
            effect.put(RuleKeys.WHEN, when);
        }
        return any ? effect.build() : null;
    }

    /** Reports the first element of the configuration section "rules" in which two remap rules differ. */
    private void report(SharingRule rule, SharingRule other) {
        int at = 0;
        int common = Math.min(rule.effects.size(), other.effects.size());
        while (at < common && rule.effects.get(at).equals(other.effects.get(at))) {
            at++;
        }
        boolean hasMore = at < rule.effects.size();
        SharingRule changing = hasMore ? rule : other;
        SharingRule unchanged = hasMore ? other : rule;
        String path = "remap[" + changing.index + "].rules[" + changing.indexes.get(at) + "]";
        problems.error(
                problems.placeOf(path, wholeFile),
                path,
                "changes responses that remap[" + changing.index + "] shares with " + unchanged
                        + " by cache.key.host, but remap[" + unchanged.index + "] has other rules; write the same rules"
                        + " in both, or set another cache.key.host");
    }
}
