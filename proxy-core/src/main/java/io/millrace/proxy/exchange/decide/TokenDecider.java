package io.millrace.proxy.exchange.decide;

import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.access.token.TokenResult;
import io.millrace.proxy.access.token.TokenVerifier;
import io.millrace.proxy.config.guard.TokenConfig;
import io.millrace.proxy.exchange.settings.DecisionInputs;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.rules.CookieValues;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests without a valid token (RFC 7519), for remap rules that require one. A token in Authorization is
 * removed from the request, unless the origin is to get it.
 *
 * <p>Confined to one event loop.
 */
final class TokenDecider {
    private static final int UNAUTHORIZED = 401;
    private static final int UNAVAILABLE = 503;
    private static final String SCHEME = "Bearer ";

    private final DecisionInputs shared;
    private final LoopCounters counters;
    private final MessageDigest digest;
    private final boolean dryRun;

    /**
     * @param dryRun true for a dry run: a token that was not verified before counts as valid, since verification takes
     *     long
     */
    TokenDecider(DecisionInputs shared, LoopCounters counters, MessageDigest digest, boolean dryRun) {
        this.shared = shared;
        this.counters = counters;
        this.digest = digest;
        this.dryRun = dryRun;
    }

    /**
     * Checks the token of a request.
     *
     * @return true if the request does not continue now: the decision contains the response, or a check of the token
     *     that must end first
     */
    boolean stops(Decision decision, TokenConfig config, long nowMillis) {
        FieldSection fields = decision.request().fields();
        int line = bearer(fields);
        TokenVerifier verifier = shared.clients().tokens();
        byte[] bytes;
        int from;
        int to;
        if (line >= 0) {
            bytes = fields.bytes();
            from = fields.valueStart(line) + SCHEME.length();
            to = fields.valueEnd(line);
        } else {
            String cookie = cookie(fields, config.cookie());
            if (cookie == null) {
                return challenge(decision, config.challenge(false), "a token is needed", "jwt:missing");
            }
            bytes = cookie.getBytes(StandardCharsets.ISO_8859_1);
            from = 0;
            to = bytes.length;
        }
        CredentialDigest key = verifier.digest(digest, config, bytes, from, to);
        TokenResult result = decision.checkResult(key) instanceof TokenResult verified
                ? verified
                : verifier.remembered(key, nowMillis);
        if (result == null && !dryRun) {
            String token = new String(bytes, from, to - from, StandardCharsets.ISO_8859_1);
            decision.authenticate((loop, then) -> verifier.verify(
                    token, config, key, loop, found -> then.accept(new CredentialCheck.Checked(key, found))));
            return true;
        }
        if (result != null && result != TokenResult.VALID) {
            return refuse(decision, config, result);
        }
        if (line >= 0 && !config.forwardsToken()) {
            decision.removeCredentials();
        }
        return false;
    }

    private boolean refuse(Decision decision, TokenConfig config, TokenResult result) {
        if (result.isUnavailable()) {
            counters.increment(Counter.DENIED_JWT);
            decision.denied(UNAVAILABLE, result.text(), result.detail());
            return true;
        }
        return challenge(decision, config.challenge(true), result.text(), result.detail());
    }

    private boolean challenge(Decision decision, String challenge, String reason, String detail) {
        counters.increment(Counter.DENIED_JWT);
        FieldSection fields = FieldSection.builder()
                .add(FieldName.WWW_AUTHENTICATE, challenge)
                .build();
        decision.denied(UNAUTHORIZED, reason, detail, fields);
        return true;
    }

    /**
     * Returns the index of the Authorization field if it uses the scheme Bearer (RFC 6750 section 2.1); otherwise -1.
     */
    private static int bearer(FieldSection fields) {
        int line = fields.find(FieldName.AUTHORIZATION);
        if (line < 0 || fields.valueEnd(line) - fields.valueStart(line) <= SCHEME.length()) {
            return -1;
        }
        byte[] bytes = fields.bytes();
        for (int i = 0; i < SCHEME.length(); i++) {
            int c = bytes[fields.valueStart(line) + i];
            int lower = c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c;
            int wanted = i == 0 ? 'b' : SCHEME.charAt(i);
            if (lower != wanted) {
                return -1;
            }
        }
        return line;
    }

    private static @Nullable String cookie(FieldSection fields, @Nullable String name) {
        List<String> values = name == null ? List.of() : CookieValues.of(fields, name);
        return values.isEmpty() ? null : values.get(0);
    }
}
