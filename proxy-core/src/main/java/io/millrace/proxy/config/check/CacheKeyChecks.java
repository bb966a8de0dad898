package io.millrace.proxy.config.check;

import io.millrace.proxy.caching.KeyRules;
import io.millrace.proxy.caching.Variance;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.cache.CacheKeyKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import java.util.List;

/**
 * Checks settings of cache keys. Warns of settings without effect, and of settings by which one client can change the
 * responses for others. Reports an error if there are more selectors (fields and cookies that distinguish responses of
 * one URL) than a stored head can contain.
 */
public final class CacheKeyChecks {
    private static final List<ConfigKey<?>> QUERY_KEYS = List.of(
            CacheKeyKeys.IGNORE_QUERY,
            CacheKeyKeys.INCLUDED_PARAMS,
            CacheKeyKeys.EXCLUDED_PARAMS,
            CacheKeyKeys.SORTED_PARAMS,
            CacheKeyKeys.SEND_WHOLE_QUERY);

    private final ConfigProblems problems;
    private final Place wholeFile;

    public CacheKeyChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    public void check(ProxyConfig config) {
        check(config.values(), config.cache().settings().key(), "");
        List<ConfigValues> rules = config.values().elements(ConfigKeys.REMAP);
        for (RemapRuleConfig rule : config.remap()) {
            check(rules.get(rule.index()), rule.cache().settings().key(), "remap[" + rule.index() + "].");
        }
    }

    private void check(ConfigValues own, KeyRules effective, String prefix) {
        checkSelectors(own, effective.selectors(), prefix);
        // Settings that a rule inherits are reported at the general settings.
        if (QUERY_KEYS.stream().noneMatch(own::isSet)) {
            return;
        }
        if (effective.query().ignored()) {
            for (ConfigKey<?> key : QUERY_KEYS.subList(1, 4)) {
                if (own.isSet(key)) {
                    warn(prefix + key.path(), "has no effect together with ignore_query");
                }
            }
        }
        if (!effective.sendsWholeQuery()) {
            return;
        }
        String path = prefix + CacheKeyKeys.SEND_WHOLE_QUERY.path();
        warn(
                path,
                effective.query().isWhole()
                        ? "has no effect, because keys contain the whole query"
                        : "lets one client change the response for other clients, if a response depends on the part of the query that keys omit");
    }

    /**
     * Checks the limit of selector names in a stored head. A response with more selectors would never be found again.
     */
    private void checkSelectors(ConfigValues own, Variance selectors, String prefix) {
        int count = selectors.selectors().size();
        boolean cookies = own.isSet(CacheKeyKeys.COOKIES);
        if (count > Variance.NAMES_MAX && (cookies || own.isSet(CacheKeyKeys.FIELDS))) {
            String path = prefix + (cookies ? CacheKeyKeys.COOKIES : CacheKeyKeys.FIELDS).path();
            String message = "with both, " + CacheKeyKeys.FIELDS.path() + " and " + CacheKeyKeys.COOKIES.path()
                    + ", responses are distinguished by " + count + " names; the limit is " + Variance.NAMES_MAX;
            problems.error(problems.placeOf(path, wholeFile), path, message);
        }
    }

    private void warn(String path, String message) {
        problems.warning(problems.placeOf(path, wholeFile), path, message);
    }
}
