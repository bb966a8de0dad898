package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.clients.KeyHash;
import io.millrace.proxy.clients.RateTable;
import io.millrace.proxy.clients.RequestLimit;
import io.millrace.proxy.clients.RequestLimits;
import io.millrace.proxy.config.access.RequestLimitConfig;
import io.millrace.proxy.exchange.settings.DecisionInputs;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.rules.RequestView;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Counts requests against request limits (requests in a period), and refuses requests that exceed a limit. The limit
 * that refuses a request does not count it, but the limits before it in the list have counted it.
 *
 * <p>Confined to one event loop.
 */
final class LimitDecider {
    private static final int PERCENT = 100;
    private static final int TOO_MANY_REQUESTS = 429;
    private static final FieldName RATE_LIMIT = FieldName.of("RateLimit");
    private static final FieldName RATE_LIMIT_POLICY = FieldName.of("RateLimit-Policy");

    private final DecisionInputs shared;
    private final LoopCounters counters;
    /** True if all requests are dry runs. Not related to {@code dry_run} of a limit. */
    private final boolean isDryRunOfRequest;

    private final RequestView view = new RequestView(ZoneId.systemDefault());
    private @Nullable KeyHash hash;

    /**
     * @param dryRun true for the dry run of a request, which no limit counts. Its counters are discarded. A limit with
     *     {@code dry_run} is something else: it counts the requests of clients, but refuses none.
     */
    LimitDecider(DecisionInputs shared, LoopCounters counters, boolean dryRun) {
        this.shared = shared;
        this.counters = counters;
        this.isDryRunOfRequest = dryRun;
    }

    /**
     * Counts a request.
     *
     * @param rule index of the remap rule; negative for none
     * @return true if a limit refuses the request; the decision then contains the response
     */
    boolean refuses(
            Decision decision,
            RequestLimits limits,
            int rule,
            ClientConnection client,
            AccessRules access,
            long nowMillis) {
        RequestLimit[] applying = limits.of(rule);
        if (applying.length == 0) {
            return false;
        }
        RequestHead request = decision.request();
        RequestFacts facts = begin(limits, request, client, nowMillis);
        RateTable rates = shared.clients().rates();
        RequestLimit refusing = null;
        long waitSeconds = 0;
        for (RequestLimit limit : applying) {
            long key = matches(limit, facts) ? keyOf(limit, limits, request, client, access) : 0;
            waitSeconds = key == 0 ? 0 : isDryRunOfRequest ? limit.waitSeconds(rates, key) : limit.take(rates, key);
            if (waitSeconds > 0) {
                counters.requestLimited(limit.config().name(), limit.config().dryRun());
                if (!limit.config().dryRun()) {
                    refusing = limit;
                    break;
                }
            }
        }
        view.end();
        if (refusing == null) {
            return false;
        }
        refuse(decision, refusing, waitSeconds);
        return true;
    }

    private static void refuse(Decision decision, RequestLimit limit, long waitSeconds) {
        FieldSection fields = FieldSection.builder()
                .add(FieldName.RETRY_AFTER, waitSeconds)
                .add(RATE_LIMIT_POLICY, limit.policy())
                .add(RATE_LIMIT, limit.state(waitSeconds))
                .build();
        RequestLimitConfig config = limit.config();
        decision.denied(
                TOO_MANY_REQUESTS,
                "more requests than the limit " + config.name() + " permits, " + config.rate(),
                limit.detail(),
                fields);
    }

    private RequestFacts begin(RequestLimits limits, RequestHead request, ClientConnection client, long nowMillis) {
        int random = limits.readsRandom() ? ThreadLocalRandom.current().nextInt(PERCENT) : 0;
        return view.begin(request, client, nowMillis, random);
    }

    private static boolean matches(RequestLimit limit, RequestFacts facts) {
        return limit.config().when() == null || limit.config().when().test(facts);
    }

    private long keyOf(
            RequestLimit limit,
            RequestLimits limits,
            RequestHead request,
            ClientConnection client,
            AccessRules access) {
        KeyHash known = hash;
        if (known == null) {
            known = shared.clients().rates().newHash();
            hash = known;
        }
        IpAddress address = limit.readsClient() ? limits.client(access.namedClient(request, client.remoteIp())) : null;
        return limit.key(known, request, address);
    }

    /**
     * Returns the state of each limit whose condition holds for a request, without counting.
     *
     * @param rule index of the remap rule; negative for none
     */
    List<DryRunResult.LimitState> states(
            RequestHead request,
            RequestLimits limits,
            int rule,
            ClientConnection client,
            AccessRules access,
            long nowMillis) {
        List<DryRunResult.LimitState> states = new ArrayList<>();
        RequestFacts facts = begin(limits, request, client, nowMillis);
        for (RequestLimit limit : limits.of(rule)) {
            if (matches(limit, facts)) {
                long key = keyOf(limit, limits, request, client, access);
                long left = key == 0 ? -1 : limit.left(shared.clients().rates(), key);
                states.add(new DryRunResult.LimitState(limit.config(), left));
            }
        }
        view.end();
        return List.copyOf(states);
    }
}
