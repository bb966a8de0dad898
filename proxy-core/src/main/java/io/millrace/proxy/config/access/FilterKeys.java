package io.millrace.proxy.config.access;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.AddressSet;
import java.util.List;
import java.util.Set;

/** Configuration keys for filters, which allow or deny requests by address and method. */
public final class FilterKeys {
    /** The filters of one rule. */
    public static final ConfigKey<List<ConfigValues>> RULE_FILTERS = ConfigKey.builder(
                    "remap[].filters", ValueType.LIST)
            .atsName("@action, .activatefilter")
            .description("Filters of this rule, by name or in full as in access.filters. The first matching filter"
                    + " decides. If no filter matches and the list has an allow filter, the"
                    + " request is denied; otherwise access.filters decide.");

    /** Filters that are named once and used in several places. */
    public static final ConfigKey<List<ConfigValues>> FILTERS = ConfigKey.builder("filters", ValueType.LIST)
            .atsName(".definefilter")
            .description("Filters by name, for access.filters and for rules; see docs/guide/access.md.");

    public static final ConfigKey<String> NAME = ConfigKey.builder("filters[].name", ValueType.STRING)
            .atsName(".definefilter")
            .description("Name of the filter, of letters, digits, '-', '_' and '.'; it is shown in logs, metrics and"
                    + " Cache-Status.");
    public static final ConfigKey<FilterConfig.Action> ACTION = ConfigKey.builder(
                    "filters[].action", ValueType.word(FilterConfig.Action.class, false))
            .atsName("@action")
            .description(
                    "Effect on requests that match all other keys of the filter: allow continues, deny answers 403.");
    public static final ConfigKey<AddressSet> SRC_IP = ConfigKey.builder("filters[].src_ip", ValueType.ADDRESSES)
            .atsName("@src_ip")
            .description("Matches if the client's address is one of these. If every address has a ~, all other"
                    + " addresses match.");
    public static final ConfigKey<AddressSet> IN_IP = ConfigKey.builder("filters[].in_ip", ValueType.ADDRESSES)
            .atsName("@in_ip")
            .description("Matches if the local address that the client connected to is one of these.");
    public static final ConfigKey<List<String>> METHODS = ConfigKey.builder("filters[].methods", ValueType.NAMES)
            .atsName("@method")
            .description("Matches if the method is one of these.");

    /** The filters for all rules. */
    public static final ConfigKey<List<ConfigValues>> ACCESS_FILTERS = ConfigKey.builder(
                    "access.filters", ValueType.LIST)
            .atsName("ip_allow.yaml (apply: in)")
            .description("Filters for all requests that the filters of their rule do not decide: names from filters,"
                    + " or filters without a name, written in full.");

    public static final ConfigKey<Boolean> BY_X_FORWARDED_FOR = ConfigKey.builder(
                    "access.filter_by_x_forwarded_for", ValueType.BOOLEAN)
            .defaultsTo(false)
            .description("Whether src_ip of filters uses the client address in X-Forwarded-For, for requests from"
                    + " access.trusted_proxies.");

    private static final Set<ConfigKey<?>> USES = Set.of(ACCESS_FILTERS, RULE_FILTERS);

    private static final Set<ConfigKey<?>> CONDITIONS = Set.of(SRC_IP, IN_IP, METHODS);

    private FilterKeys() {}

    /**
     * Returns true if the key is a condition on requests. Its list must not be empty, because no request would match.
     */
    public static boolean isCondition(ConfigKey<?> key) {
        return CONDITIONS.contains(key);
    }

    /** Returns true if the elements of the key are filters or names of filters. */
    public static boolean isFilterList(ConfigKey<?> key) {
        return USES.contains(key);
    }
}
