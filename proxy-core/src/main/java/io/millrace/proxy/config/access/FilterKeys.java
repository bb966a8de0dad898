package io.millrace.proxy.config.access;

import static io.millrace.proxy.config.key.ConfigKey.builder;

import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.key.ValueType;
import io.millrace.proxy.config.value.AddressSet;
import java.util.List;
import java.util.Set;

/** The catalogue's entries for filters: who may ask for what, by address and method. */
public final class FilterKeys {
    /** The filters of one rule. */
    public static final ConfigKey<List<ConfigValues>> RULE_FILTERS = builder("remap[].filters", ValueType.LIST)
            .atsName("@action, .activatefilter")
            .description(
                    "Filters of this rule, names or filters as in access.filters: the first that a request meets decides."
                            + " With an allow among them whatever meets none is denied; else access.filters decide.");

    /** Filters that are named once and used in several places. */
    public static final ConfigKey<List<ConfigValues>> FILTERS = builder("filters", ValueType.LIST)
            .atsName(".definefilter")
            .description("Filters by name, for access.filters and for rules; see docs/guide/access.md.");

    public static final ConfigKey<String> NAME = builder("filters[].name", ValueType.STRING)
            .atsName(".definefilter")
            .description("The filter's name, of letters, digits, -, _ and .; logs, metrics and Cache-Status have it.");
    public static final ConfigKey<FilterConfig.Action> ACTION = builder(
                    "filters[].action", ValueType.word(FilterConfig.Action.class, false))
            .atsName("@action")
            .description(
                    "What becomes of a request that meets all of the other keys: it may go on, or it is answered with 403.");
    public static final ConfigKey<AddressSet> SRC_IP = builder("filters[].src_ip", ValueType.ADDRESSES)
            .atsName("@src_ip")
            .description("The client's address is among these; where only ~ is listed, among all others.");
    public static final ConfigKey<AddressSet> IN_IP = builder("filters[].in_ip", ValueType.ADDRESSES)
            .atsName("@in_ip")
            .description("The address that the client connected to is among these.");
    public static final ConfigKey<List<String>> METHODS =
            builder("filters[].methods", ValueType.NAMES).atsName("@method").description("The method is one of these.");

    /** The filters for all rules. */
    public static final ConfigKey<List<ConfigValues>> ACCESS_FILTERS = builder("access.filters", ValueType.LIST)
            .atsName("ip_allow.yaml (apply: in)")
            .description(
                    "Filters for all requests that no filter of their rule decides about: names from filters, or filters as"
                            + " there without a name.");

    public static final ConfigKey<Boolean> BY_X_FORWARDED_FOR = builder(
                    "access.filter_by_x_forwarded_for", ValueType.BOOLEAN)
            .defaultsTo(false)
            .description(
                    "Whether src_ip of filters goes by the client that access.trusted_proxies name in X-Forwarded-For,"
                            + " where the request comes from one of them.");

    private static final Set<ConfigKey<?>> USES = Set.of(ACCESS_FILTERS, RULE_FILTERS);

    private static final Set<ConfigKey<?>> CONDITIONS = Set.of(SRC_IP, IN_IP, METHODS);

    private FilterKeys() {}

    /** Whether a request has to meet the key's value: an empty list would be met by none. */
    public static boolean isCondition(ConfigKey<?> key) {
        return CONDITIONS.contains(key);
    }

    /** Whether the key's elements are filters or their names. */
    public static boolean isUse(ConfigKey<?> key) {
        return USES.contains(key);
    }
}
