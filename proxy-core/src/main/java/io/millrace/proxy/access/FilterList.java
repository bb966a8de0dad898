package io.millrace.proxy.access;

import io.millrace.proxy.config.access.FilterConfig;
import io.millrace.proxy.config.value.AddressSet;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** An ordered list of filters. Immutable. */
final class FilterList {
    static final FilterList NONE = new FilterList(new Filter[0], null);

    private final Filter[] filters;

    /** Verdict for requests that no filter matches. Null if this list does not decide about them. */
    private final @Nullable FilterVerdict unmatchedVerdict;

    private FilterList(Filter[] filters, @Nullable FilterVerdict unmatchedVerdict) {
        this.filters = filters;
        this.unmatchedVerdict = unmatchedVerdict;
    }

    /**
     * Returns the filters of a configuration.
     *
     * @param path position in the configuration, for the log
     */
    static FilterList of(List<FilterConfig> configs, String path) {
        if (configs.isEmpty()) {
            return NONE;
        }
        boolean allows = configs.stream().anyMatch(config -> config.action() == FilterConfig.Action.ALLOW);
        return new FilterList(
                configs.stream().map(Filter::of).toArray(Filter[]::new),
                allows ? new FilterVerdict("no-filter:" + path) : null);
    }

    boolean isEmpty() {
        return filters.length == 0;
    }

    /**
     * Returns the verdict of the first filter that matches the request. If no filter matches, returns the list's
     * verdict for unmatched requests; null if the list does not decide.
     */
    @Nullable
    FilterVerdict verdict(RequestHead request, @Nullable IpAddress client, @Nullable IpAddress local) {
        for (Filter filter : filters) {
            if (filter.matches(request, client, local)) {
                return filter.verdict;
            }
        }
        return unmatchedVerdict;
    }

    /**
     * One filter.
     *
     * @param sources null for any client address
     * @param listeners null for any local address
     * @param methods empty for any method
     */
    private record Filter(
            FilterVerdict verdict,
            @Nullable AddressSet sources,
            @Nullable AddressSet listeners,
            Set<String> methods) {
        static Filter of(FilterConfig config) {
            return new Filter(
                    config.action() == FilterConfig.Action.ALLOW
                            ? FilterVerdict.ALLOWED
                            : new FilterVerdict("filter:" + config.name()),
                    config.sources(),
                    config.listeners(),
                    Set.copyOf(config.methods()));
        }

        boolean matches(RequestHead request, @Nullable IpAddress client, @Nullable IpAddress local) {
            return (methods.isEmpty() || methods.contains(request.methodName()))
                    && isIn(sources, client)
                    && isIn(listeners, local);
        }

        /**
         * Returns true if the set contains the address. An unknown address matches if the filter denies, and does not
         * match if it allows.
         */
        private boolean isIn(@Nullable AddressSet addresses, @Nullable IpAddress address) {
            if (addresses == null) {
                return true;
            }
            return address == null ? verdict.denial() != null : addresses.contains(address);
        }
    }
}
