package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.config.edge.SplitConfig;
import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.edge.CorsRule;
import io.millrace.proxy.edge.EdgeRules;
import io.millrace.proxy.edge.SplitRule;
import io.millrace.proxy.edge.SplitTargets;
import io.millrace.proxy.http.FieldEdits;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.remap.Mapped;
import org.jspecify.annotations.Nullable;

/**
 * Decides about CORS fields, answers to preflight requests, and the branches of canary splits.
 *
 * <p>Confined to one event loop.
 */
final class EdgeDecider {
    private static final RuleConfig.Answer PREFLIGHT = new RuleConfig.Answer(204, null, "text/plain");

    private final LoopCounters counters;
    private final boolean dryRun;
    private final SplitTargets splits = new SplitTargets();

    /** @param dryRun true for a dry run, which does not count the requests of a branch */
    EdgeDecider(LoopCounters counters, boolean dryRun) {
        this.counters = counters;
        this.dryRun = dryRun;
    }

    /**
     * Sets the changes to the CORS fields of the response.
     *
     * @param edge the settings of each rule; null if no rule has any
     * @return the CORS fields of the request's rule; null if the origin determines the CORS fields
     */
    @Nullable
    CorsRule cors(Decision decision, @Nullable EdgeRules edge) {
        CorsRule cors = edge == null ? null : edge.cors(decision.rule());
        if (cors != null) {
            decision.cors(cors.response(decision.request().fields()));
        }
        return cors;
    }

    /**
     * Answers a preflight request (Fetch standard, "CORS-preflight fetch"). A preflight request contains no
     * credentials. Therefore it is answered before passwords and tokens are checked, and its method need not be
     * permitted.
     */
    Decision preflight(Decision decision, CorsRule cors) {
        FieldEdits permitted = cors.preflight(decision.request().fields());
        if (permitted == null) {
            counters.increment(Counter.DENIED_CORS);
            return decision.denied(403, "cors.origins does not contain the origin of the script", "cors:origin");
        }
        counters.increment(Counter.CORS_PREFLIGHTS);
        return decision.cors(permitted).answered(PREFLIGHT, "cors:preflight");
    }

    /**
     * Chooses the branch of a canary split for a request, and counts it once.
     *
     * @param edge the settings of each rule; null if no rule has any
     * @return the mapping with the origin of the branch; {@code rule} itself for its own origin, or if it has no split
     */
    Mapped branch(
            Decision decision, @Nullable EdgeRules edge, Mapped rule, ClientConnection client, AccessRules access) {
        SplitRule split = edge == null ? null : edge.split(rule.rule().index());
        if (split == null) {
            return rule;
        }
        RequestHead request = decision.request();
        int index = split.choose(request.fields(), access.namedClient(request, client.remoteIp()));
        String name = index == SplitRule.OWN
                ? SplitConfig.OWN
                : split.branches().get(index).name();
        if (!dryRun && !decision.isUncounted()) {
            counters.splitRequest(name);
        }
        if (index == SplitRule.OWN) {
            return rule;
        }
        decision.branch(name);
        return splits.of(rule, split, index);
    }
}
