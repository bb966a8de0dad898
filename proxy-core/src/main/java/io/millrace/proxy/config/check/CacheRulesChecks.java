package io.millrace.proxy.config.check;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.AccessConfig;
import io.millrace.proxy.config.cache.CacheRuleConfig;
import io.millrace.proxy.config.cache.CacheRulesKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.InvalidValueException;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Checks the rules of {@code cache_rules} for errors, and warns of rules and settings without effect. */
public final class CacheRulesChecks {
    private static final List<String> CACHED_METHODS = List.of("GET", "HEAD", "POST");

    private final ConfigProblems problems;
    private final Place wholeFile;

    public CacheRulesChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
    }

    /** Checks all cache rules for errors, which prevent the use of the configuration. */
    void check(ConfigValues values) {
        List<ConfigValues> rules = values.elements(CacheRulesKeys.CACHE_RULES);
        for (int i = 0; i < rules.size(); i++) {
            ConfigValues rule = rules.get(i);
            String path = "cache_rules[" + i + "]";
            checkSources(rule, path + ".src_ip");
            checkMethods(rule, path + ".method");
            // A misspelt or invalid key is reported once, not also as a missing key.
            if (!problems.isAnyBrokenBelow(path)) {
                require(
                        rule,
                        path,
                        CacheRulesKeys.CONDITIONS,
                        "has no condition; set dest_domain: . to match all requests");
                require(
                        rule,
                        path,
                        CacheRulesKeys.ACTIONS,
                        "has no setting; set one of action, "
                                + "cache_responses_to_cookies, pin_in_cache, revalidate or ttl_in_cache");
            }
        }
    }

    private void require(ConfigValues rule, String path, List<ConfigKey<?>> keys, String message) {
        if (keys.stream().noneMatch(rule::isSet)) {
            problems.error(problems.placeOf(path, wholeFile), path, message);
        }
    }

    private void checkSources(ConfigValues rule, String path) {
        try {
            AccessConfig.ranges(AccessConfig.list(rule, CacheRulesKeys.SRC_IP));
        } catch (InvalidValueException e) {
            problems.error(problems.placeOf(path, wholeFile), path, e.problem(), e.suggestion());
        }
    }

    private void checkMethods(ConfigValues rule, String path) {
        for (String method : AccessConfig.list(rule, CacheRulesKeys.METHOD)) {
            String capitals = method.toUpperCase(Locale.ROOT);
            if (!method.equals(capitals)) {
                problems.error(
                        problems.placeOf(path, wholeFile),
                        path,
                        "'" + method + "' must be in capital letters",
                        capitals);
            }
        }
    }

    /** Warns of rules that match no request, as far as the remap rules show, and of settings without effect. */
    public void checkReach(ProxyConfig config) {
        // A forward proxy also gets requests for hosts that no rule maps.
        boolean forwards = config.forwardProxy().enabled();
        MappedUrls mapped = mapped(config);
        for (CacheRuleConfig rule : config.cacheRules()) {
            CacheRuleConfig.Conditions when = rule.when();
            String host = when.host();
            String domain = when.domain();
            if (host != null && domain != null && !isIn(host, domain)) {
                warn(rule, "dest_host", "can never match, because " + host + " is not in dest_domain " + domain);
            } else if (!forwards && !mapped.isMapped(host, domain)) {
                warn(
                        rule,
                        host == null ? "dest_domain" : "dest_host",
                        "can never match, because no rule of remap maps it");
            } else if (!forwards && when.prefix() != null && !mapped.isMapped(host, domain, when.prefix())) {
                warn(rule, "prefix", "can never match, because no rule of remap maps such a path");
            }
            if (rule.then().pinInCache() != null && !config.store().permitPinning()) {
                warn(rule, "pin_in_cache", "has no effect, because cache.permit_pinning is false");
            }
            if (!when.methods().isEmpty() && when.methods().stream().noneMatch(CACHED_METHODS::contains)) {
                warn(rule, "method", "has no effect, because only answers to GET, HEAD and POST are cached");
            }
        }
    }

    private static MappedUrls mapped(ProxyConfig config) {
        Set<String> domains = new HashSet<>();
        for (CacheRuleConfig rule : config.cacheRules()) {
            String domain = rule.when().domain();
            if (domain != null) {
                domains.add(domain);
            }
        }
        return new MappedUrls(config.cacheRules().isEmpty() ? List.of() : config.remap(), domains);
    }

    private static boolean isIn(String host, String domain) {
        return domain.equals(".") || host.equals(domain) || host.endsWith("." + domain);
    }

    private void warn(CacheRuleConfig rule, String key, String message) {
        String path = rule + "." + key;
        problems.warning(problems.placeOf(path, wholeFile), path, message);
    }
}
