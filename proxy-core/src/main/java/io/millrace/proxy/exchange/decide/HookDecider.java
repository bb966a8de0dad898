package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.extension.HookChain;
import io.millrace.proxy.extension.HookChains;
import io.millrace.proxy.extension.RequestHooks;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.observe.field.ForwardReason;
import io.millrace.proxy.remap.ChosenOrigins;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.spi.LookupHook;
import java.net.URI;
import org.jspecify.annotations.Nullable;

/**
 * Lets the hooks of extensions decide about requests.
 *
 * <p>Confined to one event loop.
 */
final class HookDecider {
    private static final int UNAVAILABLE = 503;

    private final LoopCounters counters;
    private final boolean dryRun;
    private final ChosenOrigins chosen = new ChosenOrigins();

    /** @param dryRun true for a dry run, which does not call the hooks that decide about requests */
    HookDecider(LoopCounters counters, boolean dryRun) {
        this.counters = counters;
        this.dryRun = dryRun;
    }

    /**
     * Calls the hooks that decide about a request.
     *
     * @param chains the hooks of all rules
     * @return true if the request does not continue now: the decision contains the response, or the hook to wait for
     */
    boolean stops(
            Decision decision,
            HookChains chains,
            Mapped mapped,
            long contentLength,
            ClientConnection client,
            AccessRules access) {
        RequestHooks hooks = decision.hooks();
        if (hooks == null) {
            HookChain chain = chains.of(mapped.rule());
            if (chain == null) {
                return false;
            }
            if (chain.isConstant()) {
                decision.constantFieldHooks(chain);
                return false;
            }
            hooks = new RequestHooks(chain, client, access, mapped.rule(), contentLength);
            decision.hooks(hooks);
        }
        if (dryRun) {
            return false;
        }
        switch (hooks.decide(decision.request())) {
            case PROCEED -> {
                return refusesAfterOriginChoice(decision, hooks, mapped);
            }
            case WAIT -> decision.kind(DecisionKind.EXTENSION_PENDING);
            case ANSWER -> {
                if (hooks.isRefused()) {
                    counters.increment(Counter.DENIED_EXTENSION);
                }
                decision.kind(DecisionKind.EXTENSION_ANSWERED);
            }
            case FAILED -> {
                counters.increment(Counter.DENIED_EXTENSION_FAILED);
                decision.denied(UNAVAILABLE, "an extension of this proxy failed", detail(hooks.decidedBy()));
            }
        }
        return true;
    }

    /** Lets extensions choose the origin. Returns true if a failure refuses the request. */
    private boolean refusesAfterOriginChoice(Decision decision, RequestHooks hooks, Mapped mapped) {
        if (!hooks.choosesOrigin() || mapped.originGroup() != null) {
            return false;
        }
        URI origin = hooks.resolve(decision.request());
        if (origin != null) {
            decision.origin(chosen.of(mapped, origin));
        }
        return failsClosed(decision, hooks);
    }

    /**
     * Returns the parts of the cache key of a request.
     *
     * @return null if a hook failed and its failure has decided the request
     */
    byte @Nullable [] keyParts(Decision decision, RequestHooks hooks) {
        byte[] parts = hooks.keyParts(decision.request());
        if (parts == null && !failsClosed(decision, hooks)) {
            decision.forward(DecisionKind.PASS, ForwardReason.BYPASS);
        }
        return parts;
    }

    /** Returns true if a hook failed and its failure refuses requests. The decision then contains the refusal. */
    private boolean failsClosed(Decision decision, RequestHooks hooks) {
        if (hooks.failsClosed()) {
            counters.increment(Counter.DENIED_EXTENSION_FAILED);
            decision.denied(UNAVAILABLE, "an extension of this proxy failed", detail(hooks.decidedBy()));
        }
        return hooks.failsClosed();
    }

    /** Lets the hooks decide about the use of the stored response that the decision contains. */
    LookupHook.Action lookupDone(Decision decision, RequestHooks hooks) {
        if (dryRun) {
            return LookupHook.Action.PROCEED;
        }
        LookupHook.State state =
                switch (decision.kind()) {
                    case FRESH -> LookupHook.State.HIT;
                    case SERVE_STALE, VALIDATE -> LookupHook.State.STALE;
                    default -> LookupHook.State.MISS;
                };
        LookupHook.Action action = hooks.lookupDone(decision.request(), state);
        return hooks.failsClosed() ? LookupHook.Action.BYPASS : action;
    }

    /**
     * Bypasses the cache, or refuses the request after the failure of a hook. The decision must not contain an object.
     */
    Decision bypass(Decision decision, RequestHooks hooks) {
        return failsClosed(decision, hooks) ? decision : decision.forward(DecisionKind.PASS, ForwardReason.BYPASS);
    }

    /** Returns the Cache-Status detail that names an extension. */
    private static String detail(String name) {
        return RequestHooks.DETAIL_PREFIX + name;
    }
}
