package io.millrace.proxy.access;

import io.millrace.proxy.config.FilterRules;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import org.jspecify.annotations.Nullable;

/**
 * The filters of every rule and those for all: the rule's own are asked first, and the first that a request meets decides. Where none
 * decides and one of them allows, the request is denied; else those for all are asked in the same way, and what they do not decide may
 * go on. An address that is not known is in nothing that is allowed and in everything that is denied. Immutable.
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

    /** What a configuration means. */
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

    /** Whose address filters look at. */
    @Nullable
    IpAddress client(RequestHead request, @Nullable IpAddress peer) {
        return forwarded == null ? peer : forwarded.of(request.fields(), peer);
    }

    boolean isAny() {
        return any;
    }

    @Nullable
    String denial(int ruleIndex, RequestHead request, @Nullable IpAddress peer, @Nullable IpAddress local) {
        FilterList own = ruleIndex == AccessRules.NO_RULE ? FilterList.NONE : byRule[ruleIndex];
        if (own.isEmpty() && general.isEmpty()) {
            return null;
        }
        IpAddress client = client(request, peer);
        FilterVerdict verdict = own.verdict(request, client, local);
        if (verdict == null) {
            verdict = general.verdict(request, client, local);
        }
        return verdict == null ? null : verdict.denial();
    }
}
