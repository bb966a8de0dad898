package io.millrace.proxy.config.check;

import io.millrace.proxy.config.FilterRules;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.access.FilterConfig;
import io.millrace.proxy.config.access.FilterKeys;
import io.millrace.proxy.config.access.ListenerConfig;
import io.millrace.proxy.config.access.ProxyProtocolKeys;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.problem.ConfigProblems;
import io.millrace.proxy.config.problem.ConfigProblems.Place;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.IpAddress;
import io.netty.util.NetUtil;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Checks access filters for errors, and warns of filters that never decide a request. */
public final class FilterChecks {
    private static final List<ConfigKey<?>> DEFINING_KEYS =
            List.of(FilterKeys.ACTION, FilterKeys.SRC_IP, FilterKeys.IN_IP, FilterKeys.METHODS);

    /** Limit of pairs of filters that are compared; beyond it no filter is compared with earlier ones. */
    private static final long PAIRS_MAX = 1_000_000;

    private final ConfigProblems problems;
    private final Place wholeFile;
    private final AccessChecks accessChecks;
    private long comparedPairs;

    public FilterChecks(ConfigProblems problems, Place wholeFile) {
        this.problems = problems;
        this.wholeFile = wholeFile;
        accessChecks = new AccessChecks(problems, wholeFile);
    }

    /** Checks all filters for errors, which prevent the use of the configuration. */
    void check(ConfigValues values) {
        Map<String, Integer> names = new HashMap<>();
        List<ConfigValues> filters = values.elements(FilterKeys.FILTERS);
        for (int i = 0; i < filters.size(); i++) {
            checkNamed(filters.get(i), i, names);
        }
        checkUses(values, FilterKeys.ACCESS_FILTERS, "access.filters", names.keySet());
        List<ConfigValues> rules = values.elements(ConfigKeys.REMAP);
        for (int i = 0; i < rules.size(); i++) {
            checkUses(rules.get(i), FilterKeys.RULE_FILTERS, "remap[" + i + "].filters", names.keySet());
        }
    }

    private void checkNamed(ConfigValues filter, int index, Map<String, Integer> names) {
        String path = "filters[" + index + "]";
        String name = filter.find(FilterKeys.NAME);
        Integer first = name == null ? null : names.putIfAbsent(name, index);
        if (first != null) {
            error(path + ".name", name + " is already the name of filters[" + first + "]", null);
        } else if (name != null && !isName(name)) {
            error(path + ".name", "'" + name + "' is not a name of letters, digits, '-', '_' and '.'", null);
        } else if (name == null && !isBroken(path)) {
            error(path, "has no name; access.filters and rules refer to a filter by its name", null);
        }
        checkDefinition(filter, path);
    }

    /**
     * Returns true if the filter has an error already. Then a misspelt or invalid key is not also reported as missing.
     */
    private boolean isBroken(String path) {
        return problems.isBroken(path) || problems.isAnyBrokenBelow(path);
    }

    private static boolean isName(String name) {
        return name.chars().allMatch(c -> (Character.isLetterOrDigit(c) && c < 0x7f) || "-_.".indexOf(c) >= 0);
    }

    private void checkDefinition(ConfigValues filter, String path) {
        if (!filter.isSet(FilterKeys.ACTION) && !isBroken(path)) {
            error(path, "has no action; set allow or deny", null);
        }
        accessChecks.checkMethods(filter, FilterKeys.METHODS, path + ".methods");
    }

    private void checkUses(ConfigValues values, ConfigKey<List<ConfigValues>> key, String path, Set<String> names) {
        List<ConfigValues> uses = values.elements(key);
        for (int i = 0; i < uses.size(); i++) {
            ConfigValues use = uses.get(i);
            String place = path + "[" + i + "]";
            String name = use.find(FilterKeys.NAME);
            if (name == null) {
                checkDefinition(use, place);
            } else if (DEFINING_KEYS.stream().anyMatch(use::isSet)) {
                error(place + ".name", "a filter with a name must be defined in filters; use only its name here", null);
            } else if (!names.contains(name)
                    && !problems.isBroken("filters")
                    && !problems.isAnyBrokenBelow("filters")) {
                error(place, "no filter in filters has the name '" + name + "'", problems.closest(name, names));
            }
        }
    }

    /** Warns of filters that never decide a request. */
    public void checkReach(ProxyConfig config) {
        FilterRules rules = config.filters();
        Set<String> used = new HashSet<>();
        checkReach(config, rules.general(), "access.filters", used);
        for (int i = 0; i < rules.byRule().size(); i++) {
            checkReach(config, rules.byRule().get(i), "remap[" + i + "].filters", used);
        }
        List<ConfigValues> named = config.values().elements(FilterKeys.FILTERS);
        for (int i = 0; i < named.size(); i++) {
            String name = named.get(i).get(FilterKeys.NAME);
            if (!used.contains(name)) {
                warning(
                        "filters[" + i + "].name",
                        "is never used; neither access.filters nor a rule names '" + name + "'");
            }
        }
        boolean usesProxyProtocol = config.listeners().stream()
                .anyMatch(listener -> listener.proxyProtocol() != ListenerConfig.ProxyProtocol.OFF);
        if (config.values().isSet(ProxyProtocolKeys.ALLOW) && !usesProxyProtocol) {
            warning(ProxyProtocolKeys.ALLOW.path(), "has no effect, because no address in listen has proxy_protocol");
        }
        if (rules.byForwardedFor() && config.access().trustedProxies().isEmpty()) {
            warning(
                    FilterKeys.BY_X_FORWARDED_FOR.path(),
                    "has no effect, because access.trusted_proxies has no addresses");
        }
    }

    private void checkReach(ProxyConfig config, List<FilterConfig> filters, String path, Set<String> used) {
        for (int i = 0; i < filters.size(); i++) {
            FilterConfig filter = filters.get(i);
            used.add(filter.name());
            String reason = reasonNotToMatch(config, filters, i, path);
            if (reason != null) {
                warning(path + "[" + i + "]", "can never match, because " + reason);
            }
        }
    }

    private @Nullable String reasonNotToMatch(ProxyConfig config, List<FilterConfig> filters, int index, String path) {
        FilterConfig filter = filters.get(index);
        if (filter.sources() != null && filter.sources().isEmpty()) {
            return "src_ip excludes all addresses that it lists";
        }
        if (filter.listeners() != null && filter.listeners().isEmpty()) {
            return "in_ip excludes all addresses that it lists";
        }
        if (filter.listeners() != null && noListenerIsIn(config, filter.listeners())) {
            return "no address in listen is in in_ip";
        }
        for (int i = 0; i < index && comparedPairs < PAIRS_MAX; i++) {
            comparedPairs++;
            if (filters.get(i).covers(filter)) {
                return path + "[" + i + "] matches all of its requests first";
            }
        }
        return null;
    }

    private static boolean noListenerIsIn(ProxyConfig config, AddressSet addresses) {
        for (ListenerConfig listener : config.listeners()) {
            String ip = listener.address().ip();
            byte[] bytes = ip == null ? null : NetUtil.createByteArrayFromIpAddressString(ip);
            if (bytes == null || isWildcardAddress(bytes) || addresses.contains(IpAddress.of(bytes))) {
                return false;
            }
        }
        return true;
    }

    private static boolean isWildcardAddress(byte[] address) {
        for (byte each : address) {
            if (each != 0) {
                return false;
            }
        }
        return true;
    }

    private void error(String path, String message, @Nullable String suggestion) {
        problems.error(place(path), path, message, suggestion);
    }

    private void warning(String path, String message) {
        problems.warning(place(path), path, message);
    }

    /** Returns the place of the key. If the key was not set, returns the place of its element or section. */
    private Place place(String path) {
        int dot = path.lastIndexOf('.');
        return problems.placeOf(path, dot < 0 ? wholeFile : problems.placeOf(path.substring(0, dot), wholeFile));
    }
}
