package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.config.rules.RuleConfig;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.remap.CacheRules;
import io.millrace.proxy.remap.EffectiveCacheSettings;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.rules.RequestView;
import io.millrace.proxy.rules.RuleProgram;
import io.millrace.proxy.rules.RulePrograms;
import java.time.ZoneId;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Applies the rules that act before the lookup: lifetimes, the bypass of the cache, redirections and answers. The first
 * rule that redirects or answers ends the request.
 *
 * <p>Confined to one event loop. Holds the results of one request between its calls.
 */
final class RuleDecider {
    private static final int PERCENT = 100;

    private static final String DOT_SEGMENT = "a rule rewrites the path, and the result would contain a dot segment";

    private final LoopCounters counters;

    private final RequestView view = new RequestView(ZoneId.systemDefault());
    /** The first matching rule that redirects or answers; null for none. */
    private @Nullable RuleConfig end;

    /** Target of the redirection of {@link #end}; null if that rule answers. */
    private @Nullable String location;

    private boolean bypass;
    private @Nullable Rewrite rewrite;

    RuleDecider(LoopCounters counters) {
        this.counters = counters;
    }

    /** Begins a request with the rules for all requests. */
    void begin(Decision decision, RulePrograms programs, long nowMillis) {
        end = null;
        location = null;
        bypass = false;
        rewrite = null;
        use(decision, programs.general(), nowMillis);
    }

    private static void use(Decision decision, RuleProgram program, long nowMillis) {
        int random = program.readsRandom() ? ThreadLocalRandom.current().nextInt(PERCENT) : 0;
        decision.rules(program, random, nowMillis);
    }

    /**
     * Sets the rules that belong to the remap rule, and evaluates those that act before the lookup.
     *
     * @param effective the settings after the cache rules
     * @return the settings after the lifetimes of rules
     */
    EffectiveCacheSettings applyRemapRules(
            Decision decision,
            RulePrograms programs,
            Mapped mapped,
            ClientConnection client,
            CacheRules cacheRules,
            EffectiveCacheSettings effective) {
        RuleProgram program = programs.of(mapped);
        use(decision, program, decision.decidedMillis());
        RuleConfig[] rules = program.onRequest();
        if (rules.length == 0) {
            return effective;
        }
        RequestView facts = view.begin(decision.request(), client, decision.decidedMillis(), decision.random());
        EffectiveCacheSettings settings = effective;
        for (RuleConfig rule : rules) {
            if (!rule.matches(facts)) {
                continue;
            }
            bypass |= rule.bypass();
            if (rule.lifetime() != null) {
                settings = cacheRules.with(settings, rule.lifetime());
            }
            if (rule.rewrite() != null) {
                Rewrite before = rewrite == null ? new Rewrite(null, null) : rewrite;
                rewrite = before.then(rule.rewrite().path(facts), rule.rewrite().query(facts));
            }
            boolean ends = rule.answer() != null
                    || (rule.redirect() != null && decision.request().target().form() != TargetUri.Form.ASTERISK);
            if (end == null && ends) {
                end = rule;
                location = rule.redirect() == null ? null : rule.redirect().location(facts);
            }
        }
        facts.end();
        decision.rewrite(rewrite);
        return settings;
    }

    /** Returns true if a rule ends the request. The decision then contains the redirection or the answer. */
    boolean ends(Decision decision) {
        RuleConfig rule = end;
        if (rule == null && rewrite != null && rewrite.hasDotSegment()) {
            counters.increment(Counter.DENIED_REWRITE);
            decision.denied(400, DOT_SEGMENT, "rewrite");
            return true;
        }
        if (rule == null) {
            return false;
        }
        end = null;
        if (rule.answer() != null) {
            counters.increment(Counter.RULE_ANSWERS);
            decision.answered(rule.answer(), rule.name());
        } else if (rule.redirect() != null && location != null) {
            counters.increment(Counter.REDIRECTS_RULES);
            decision.redirected(rule.redirect().status(), location, "redirect:" + rule.name());
        }
        location = null;
        return true;
    }

    /** Returns true if a matching rule excludes the use of the cache. */
    boolean bypasses() {
        return bypass;
    }
}
