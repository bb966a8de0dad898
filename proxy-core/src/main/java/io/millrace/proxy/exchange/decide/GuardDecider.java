package io.millrace.proxy.exchange.decide;

import com.google.re2j.Pattern;
import io.millrace.proxy.access.AccessRules;
import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.access.Guards;
import io.millrace.proxy.access.ReceivedFields;
import io.millrace.proxy.access.SignedUrl;
import io.millrace.proxy.access.authorize.AuthorizationResult;
import io.millrace.proxy.access.authorize.AuthorizationTable;
import io.millrace.proxy.access.password.Credentials;
import io.millrace.proxy.access.password.PasswordVerifier;
import io.millrace.proxy.config.guard.AuthorizeConfig;
import io.millrace.proxy.config.guard.PasswordConfig;
import io.millrace.proxy.config.guard.SignedUrlConfig;
import io.millrace.proxy.config.guard.TokenConfig;
import io.millrace.proxy.exchange.authorize.Authorizer;
import io.millrace.proxy.exchange.settings.DecisionInputs;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.expression.Expression;
import io.millrace.proxy.expression.request.RequestFacts;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.IpAddress;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.net.ClientConnection;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.rules.RequestView;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.ZoneId;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Refuses requests without a valid signature, password or token, or without the permission of an authorisation server,
 * for remap rules that require them. These credentials are removed from the request, so that neither cache keys nor
 * origins contain them.
 *
 * <p>Confined to one event loop.
 */
final class GuardDecider {
    private static final int PERCENT = 100;
    private static final int FORBIDDEN = 403;
    private static final int FOUND = 302;
    private static final long MILLIS = 1000;

    private static final int UNAUTHORIZED = 401;
    private static final int UNAVAILABLE = 503;

    private final DecisionInputs shared;
    private final LoopCounters counters;
    private final boolean dryRun;
    private final RequestView view = new RequestView(ZoneId.systemDefault());
    private final SignedUrl signatures = new SignedUrl();
    private final MessageDigest digest = CredentialDigest.function();
    private final TokenDecider tokens;
    private final Authorizer.Digests digests = new Authorizer.Digests();
    private final @Nullable Authorizer authorizer;

    /**
     * @param dryRun true for a dry run: a password that was not verified before counts as correct, since verification
     *     takes long
     * @param origins origin connections of the loop, for requests to authorisation servers; null for a dry run
     */
    GuardDecider(DecisionInputs shared, LoopCounters counters, boolean dryRun, @Nullable OriginClient origins) {
        this.shared = shared;
        this.counters = counters;
        this.dryRun = dryRun;
        this.tokens = new TokenDecider(shared, counters, digest, dryRun);
        this.authorizer = origins == null ? null : new Authorizer(origins, counters, shared.clock()::millis);
    }

    /**
     * Checks a request.
     *
     * @return true if the request does not continue now: the decision contains the response, or a check of credentials
     *     that must end first
     */
    boolean stops(
            Decision decision,
            Guards guards,
            Mapped mapped,
            ClientConnection client,
            AccessRules access,
            long nowMillis) {
        int rule = mapped.rule().index();
        TokenConfig token = guards.token(rule);
        return refusesUnsigned(decision, guards, mapped, client, access, nowMillis)
                || stopsForPassword(decision, guards.password(rule), client, nowMillis)
                || (token != null
                        && holds(token.when(), decision, client, nowMillis)
                        && tokens.stops(decision, token, nowMillis))
                || stopsForAuthorization(decision, guards.authorization(rule), client, access, nowMillis);
    }

    private boolean stopsForAuthorization(
            Decision decision,
            Guards.@Nullable Authorization authorization,
            ClientConnection client,
            AccessRules access,
            long nowMillis) {
        if (authorization == null) {
            return false;
        }
        AuthorizeConfig config = authorization.config();
        if (config == null || !holds(config.when(), decision, client, nowMillis)) {
            setReceived(decision, authorization, FieldSection.EMPTY, false);
            return false;
        }
        RequestHead request = decision.request();
        IpAddress address = access.namedClient(request, client.remoteIp());
        String clientText = address == null ? null : address.toText();
        AuthorizationTable table = shared.clients().authorizations();
        CredentialDigest key = digests.of(table, digest, config, request, clientText);
        AuthorizationResult result = decision.checkResult(key) instanceof AuthorizationResult asked ? asked : null;
        if (result == null) {
            result = table.remembered(key, nowMillis);
            if (result != null) {
                counters.increment(Counter.AUTHORIZE_REMEMBERED);
            } else if (authorizer != null) {
                decision.authenticate(authorizer.check(table, config, key, request, clientText, settings(request)));
                return true;
            }
        }
        if (result != null && refusesUnauthorized(decision, config, result)) {
            return true;
        }
        FieldSection received = result == null ? FieldSection.EMPTY : result.fields();
        setReceived(decision, authorization, received, !config.forwardsAuthorization());
        return false;
    }

    private Authorizer.Settings settings(RequestHead request) {
        ExchangeSettings settings = shared.settings().get();
        return new Authorizer.Settings(
                settings.fetch(), settings.source(), settings.requestVia().plain(request.version()));
    }

    private boolean refusesUnauthorized(Decision decision, AuthorizeConfig config, AuthorizationResult result) {
        if (result.kind() == AuthorizationResult.Kind.REFUSED) {
            counters.increment(Counter.DENIED_AUTHORIZE);
            decision.denied(
                    result.status(),
                    "the authorisation server refuses the request",
                    result.detail(),
                    result.fields(),
                    result.body());
            return true;
        }
        boolean isRefused =
                switch (result.kind()) {
                    case FAILED -> !config.isOpenOnError();
                    case OVERLOADED -> !config.isOpenOnLimit();
                    default -> false;
                };
        if (isRefused) {
            counters.increment(Counter.DENIED_AUTHORIZE);
            decision.denied(UNAVAILABLE, "the authorisation server has made no decision", result.detail());
            return true;
        }
        return false;
    }

    /**
     * Removes the client's values of fields that only the authorisation server may set, and adds the server's values.
     *
     * @param withoutAuthorization true to remove Authorization too, because it is meant for this proxy only
     */
    private static void setReceived(
            Decision decision,
            Guards.Authorization authorization,
            FieldSection received,
            boolean withoutAuthorization) {
        ReceivedFields names = authorization.received();
        boolean removed = withoutAuthorization && decision.request().fields().contains(FieldName.AUTHORIZATION);
        if (names.changes(decision.request().fields(), received, withoutAuthorization)) {
            decision.change(head -> {
                FieldSection replaced = names.replace(head.fields(), received, withoutAuthorization);
                RequestHead changed = head.with(head.target(), replaced);
                return removed || received.size() > 0 ? changed.ofUser(received) : changed;
            });
        }
    }

    private boolean stopsForPassword(
            Decision decision, @Nullable PasswordConfig config, ClientConnection client, long nowMillis) {
        if (config == null || !holds(config.when(), decision, client, nowMillis)) {
            return false;
        }
        FieldSection fields = decision.request().fields();
        int line = fields.find(FieldName.AUTHORIZATION);
        if (line < 0) {
            return challenge(decision, config, "a user name and a password are needed", "basic-auth:missing");
        }
        PasswordVerifier verifier = shared.clients().passwords();
        CredentialDigest key =
                verifier.digest(digest, config.file(), fields.bytes(), fields.valueStart(line), fields.valueEnd(line));
        PasswordVerifier.Result result = decision.checkResult(key) instanceof PasswordVerifier.Result compared
                ? compared
                : verifier.remembered(key);
        if (result == null) {
            Credentials given = Credentials.parse(config.file(), fields.value(line), key);
            if (given == null) {
                return challenge(decision, config, "Authorization does not use scheme Basic", "basic-auth:malformed");
            }
            if (!dryRun) {
                decision.authenticate((loop, then) ->
                        verifier.verify(given, loop, found -> then.accept(new CredentialCheck.Checked(key, found))));
                return true;
            }
        } else if (result == PasswordVerifier.Result.OVERLOADED) {
            counters.increment(Counter.DENIED_BASIC_AUTH);
            decision.denied(UNAVAILABLE, "too many passwords wait for verification", "basic-auth:overload");
            return true;
        } else if (result == PasswordVerifier.Result.WRONG) {
            return challenge(decision, config, "the user name or the password is wrong", "basic-auth:wrong");
        }
        decision.removeCredentials();
        return false;
    }

    private boolean challenge(Decision decision, PasswordConfig config, String reason, String detail) {
        counters.increment(Counter.DENIED_BASIC_AUTH);
        FieldSection fields = FieldSection.builder()
                .add(FieldName.WWW_AUTHENTICATE, config.challenge())
                .build();
        decision.denied(UNAUTHORIZED, reason, detail, fields);
        return true;
    }

    private boolean refusesUnsigned(
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
        decision.removeSignature(request.target().withQuery(query, query.length));
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

    /** Returns true if a condition holds for the request, or if there is no condition. */
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
