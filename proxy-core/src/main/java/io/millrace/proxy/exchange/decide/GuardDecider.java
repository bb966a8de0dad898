package io.millrace.proxy.exchange.decide;

import com.google.re2j.Pattern;
import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.access.Guards;
import io.millrace.proxy.access.SignedUrl;
import io.millrace.proxy.config.access.SignedUrlConfig;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.rules.RequestView;
import java.nio.charset.StandardCharsets;
import java.time.ZoneId;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests without a valid signature, for remap rules that need one. The signature is removed from the URL of
 * cache key and origin.
 *
 * <p>Confined to one event loop.
 */
final class GuardDecider {
    private static final int PERCENT = 100;
    private static final int FORBIDDEN = 403;
    private static final int FOUND = 302;
    private static final long MILLIS = 1000;

    private final LoopCounters counters;
    private final RequestView view = new RequestView(ZoneId.systemDefault());
    private final SignedUrl signatures = new SignedUrl();

    GuardDecider(LoopCounters counters) {
        this.counters = counters;
    }

    /**
     * Checks a request.
     *
     * @return true if it is refused, and the decision has the response
     */
    boolean refuses(
            Decision decision,
            Guards guards,
            Mapped mapped,
            ClientConnection client,
            AccessRules access,
            long nowMillis) {
        SignedUrlConfig signed = guards.signed(mapped.rule().index());
        if (signed == null || !holds(signed.when(), decision, client, nowMillis)) {
            return false;
        }
        RequestHead request = decision.request();
        String url = signed.signed() == SignedUrlConfig.Signed.CLIENT
                ? request.target().asString()
                : new String(mapped.originUrlBytes(request.target()), StandardCharsets.ISO_8859_1);
        Pattern excluded = signed.keys().excluded();
        if (excluded != null && excluded.matcher(withoutQuery(url)).find()) {
            return false;
        }
        SignedUrl.Result result = signatures.verify(
                signed.keys(), url, access.namedClient(request, client.remoteIp()), nowMillis / MILLIS);
        if (result != SignedUrl.Result.VALID) {
            refuse(decision, signed, result);
            return true;
        }
        byte[] query = signatures.unsignedQuery().getBytes(StandardCharsets.ISO_8859_1);
        decision.verified(request.target().withQuery(query, query.length));
        return false;
    }

    private static String withoutQuery(String url) {
        int question = url.indexOf('?');
        return question < 0 ? url : url.substring(0, question);
    }

    private void refuse(Decision decision, SignedUrlConfig signed, SignedUrl.Result result) {
        counters.increment(Counter.DENIED_SIGNED_URL);
        String errorUrl = signed.keys().errorUrl();
        if (errorUrl == null) {
            decision.denied(FORBIDDEN, result.text(), result.detail());
        } else {
            decision.redirected(FOUND, errorUrl, result.detail());
        }
    }

    private boolean holds(
            @Nullable Expression<RequestFacts> when, Decision decision, ClientConnection client, long nowMillis) {
        if (when == null) {
            return true;
        }
        int random = ThreadLocalRandom.current().nextInt(PERCENT);
        boolean holds = when.test(view.begin(decision.request(), client, nowMillis, random));
        view.end();
        return holds;
    }
}
