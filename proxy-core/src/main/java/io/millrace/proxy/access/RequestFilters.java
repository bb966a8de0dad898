package io.millrace.proxy.access;

import io.millrace.proxy.config.FilterRules;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * The filters of each rule and the general filters. The rule's own filters are checked first, and the first one that
 * matches the request decides. If no filter of the rule matches, although the rule has an allowing filter, the request
 * is denied. Otherwise the general filters decide in the same way, and an undecided request is allowed. An unknown
 * address matches all denying filters and no allowing one. Immutable.
 */
final class RequestFilters {
    private final FilterList[] byRule;
    private final FilterList general;
    private final @Nullable ForwardedClient forwarded;
    private final boolean any;

    private RequestFilters(FilterList[] byRule, FilterList general, @Nullable ForwardedClient forwarded) {
        this.byRule = byRule;
        this.general = general;
        this.forwarded = forwarded;
        boolean found = !general.isEmpty();
        for (FilterList list : byRule) {
            found |= !list.isEmpty();
        }
        any = found;
    }

    /** Returns the filters of a configuration. */
    static RequestFilters of(ProxyConfig config) {
        FilterRules rules = config.filters();
        FilterList[] byRule = new FilterList[rules.byRule().size()];
        for (int i = 0; i < byRule.length; i++) {
            byRule[i] = FilterList.of(rules.byRule().get(i), "remap[" + i + "].filters");
        }
        return new RequestFilters(
                byRule,
                FilterList.of(rules.general(), "access.filters"),
                rules.byForwardedFor() ? new ForwardedClient(config.access().trusted()) : null);
    }

    /** Returns the address that filters are compared with. */
    @Nullable
    IpAddress client(RequestHead request, @Nullable IpAddress peer) {
        return forwarded == null ? peer : forwarded.of(request.fields(), peer);
    }

    boolean hasAny() {
        return any;
    }

    /** Returns why a request is denied, as {@link AccessRules#denial} does; null if it is allowed. */
    @Nullable
    String denial(int ruleIndex, RequestHead request, @Nullable IpAddress peer, @Nullable IpAddress local) {
        FilterList ruleFilters = ruleIndex == AccessRules.NO_RULE ? FilterList.NONE : byRule[ruleIndex];
        if (ruleFilters.isEmpty() && general.isEmpty()) {
            return null;
        }
        IpAddress client = client(request, peer);
        FilterVerdict verdict = ruleFilters.verdict(request, client, local);
        if (verdict == null) {
            verdict = general.verdict(request, client, local);
        }
        return verdict == null ? null : verdict.denial();
    }
}
