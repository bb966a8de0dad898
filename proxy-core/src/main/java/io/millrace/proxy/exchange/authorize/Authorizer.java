package io.millrace.proxy.exchange.authorize;

import io.millrace.proxy.access.CredentialCheck;
import io.millrace.proxy.access.CredentialDigest;
import io.millrace.proxy.access.authorize.AuthorizationResult;
import io.millrace.proxy.access.authorize.AuthorizationTable;
import io.millrace.proxy.config.guard.AuthorizeConfig;
import io.millrace.proxy.config.value.SourceAddress;
import io.millrace.proxy.fetch.FetchSettings;
import io.millrace.proxy.fetch.Origin;
import io.millrace.proxy.fetch.OriginClient;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.http.FieldName;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.RequestHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.observe.LoopCounters;
import io.netty.util.concurrent.EventExecutor;
import java.security.MessageDigest;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Asks authorisation servers about requests, over the connections to origins of one event loop. Equal requests of all
 * event loops share one request to the server, if the settings permit it.
 *
 * <p>Confined to one event loop.
 */
public final class Authorizer {
    /** The text that stands for an unknown client address. */
    private static final String UNKNOWN = "unknown";

    private static final FieldName X_FORWARDED_METHOD = FieldName.of("X-Forwarded-Method");
    private static final FieldName X_FORWARDED_URI = FieldName.of("X-Forwarded-Uri");

    /**
     * The settings of requests to servers that all rules share.
     *
     * @param fetch deadlines and limits
     * @param source local addresses of connections
     * @param via value of Via; null for none
     */
    public record Settings(
            FetchSettings fetch,
            SourceAddress source,
            @Nullable CharSequence via) {}

    private final OriginClient origins;
    private final LoopCounters counters;
    private final LongSupplier clockMillis;

    /**
     * @param origins origin connections of the loop
     * @param counters counters of the loop
     * @param clockMillis the wall clock, in epoch milliseconds
     */
    public Authorizer(OriginClient origins, LoopCounters counters, LongSupplier clockMillis) {
        this.origins = origins;
        this.counters = counters;
        this.clockMillis = clockMillis;
    }

    /** Computes the digests of requests. Confined to one event loop. */
    public static final class Digests {
        private final AuthorizationKey key = new AuthorizationKey();

        /**
         * Returns the digest under which the decision about a request is remembered.
         *
         * @param function the digest function of the loop
         * @param client the client's address; null if it is unknown
         */
        public CredentialDigest of(
                AuthorizationTable table,
                MessageDigest function,
                AuthorizeConfig config,
                RequestHead request,
                @Nullable String client) {
            key.set(config.cacheKey(), request, client == null ? UNKNOWN : client);
            return table.digest(function, config.digest(), key.bytes(), key.length());
        }
    }

    /**
     * Returns the check of a request. The request to the authorisation server is composed now, so the check can begin
     * after the bytes of the client's request have become invalid.
     *
     * @param key the request's digest
     * @param client the client's address; null if it is unknown
     */
    public CredentialCheck check(
            AuthorizationTable table,
            AuthorizeConfig config,
            CredentialDigest key,
            RequestHead request,
            @Nullable String client,
            Settings settings) {
        OriginRequest serverRequest = compose(config, request, client == null ? UNKNOWN : client, settings);
        return (loop, then) -> ask(
                table, config, key, serverRequest, loop, found -> then.accept(new CredentialCheck.Checked(key, found)));
    }

    private void ask(
            AuthorizationTable table,
            AuthorizeConfig config,
            CredentialDigest key,
            OriginRequest serverRequest,
            EventExecutor loop,
            Consumer<AuthorizationResult> then) {
        if (!config.isCollapsing()) {
            if (table.begin()) {
                askFirst(table::end, config, key, serverRequest, loop, then);
            } else {
                loop.execute(() -> then.accept(AuthorizationResult.overloaded("overloaded")));
            }
            return;
        }
        Runnable sendAlone = () -> send(config, serverRequest, loop, (result, freshMillis) -> then.accept(result));
        switch (table.join(key, loop, then, sendAlone)) {
            case FIRST -> askFirst(table::finish, config, key, serverRequest, loop, then);
            case FOLLOWER -> counters.increment(Counter.AUTHORIZE_COLLAPSED);
            case REFUSED -> loop.execute(() -> then.accept(AuthorizationResult.overloaded("overloaded")));
        }
    }

    /** Receives the result of a request to a server. */
    private interface Finish {
        void accept(CredentialDigest key, AuthorizationResult result, long untilMillis, long nowMillis);
    }

    private void askFirst(
            Finish finish,
            AuthorizeConfig config,
            CredentialDigest key,
            OriginRequest serverRequest,
            EventExecutor loop,
            Consumer<AuthorizationResult> then) {
        try {
            send(config, serverRequest, loop, (result, freshMillis) -> {
                long now = clockMillis.getAsLong();
                finish.accept(key, result, now + freshMillis, now);
                then.accept(result);
            });
        } catch (RuntimeException | Error e) {
            // Otherwise equal requests would wait for a result that never comes.
            finish.accept(key, AuthorizationResult.failed("internal"), 0, 0);
            throw e;
        }
    }

    private void send(AuthorizeConfig config, OriginRequest serverRequest, EventExecutor loop, AuthorizeCall.End end) {
        AuthorizeCall.start(origins, serverRequest, config, loop, (result, freshMillis) -> {
            counters.increment(
                    switch (result.kind()) {
                        case ALLOWED -> Counter.AUTHORIZE_ALLOWED;
                        case REFUSED -> Counter.AUTHORIZE_REFUSED;
                        case FAILED, OVERLOADED -> Counter.AUTHORIZE_FAILED;
                    });
            end.onResult(result, freshMillis);
        });
    }

    private static OriginRequest compose(
            AuthorizeConfig config, RequestHead request, String client, Settings settings) {
        TargetUri target = request.target();
        FieldSection from = request.fields();
        FieldSection.Builder fields = FieldSection.builder()
                .add(FieldName.HOST, config.hostField())
                .add(X_FORWARDED_METHOD, request.methodName())
                .add(FieldName.X_FORWARDED_PROTO, target.scheme())
                .add(FieldName.X_FORWARDED_HOST, target.authority())
                .add(X_FORWARDED_URI, target.pathAndQuery())
                .add(FieldName.X_FORWARDED_FOR, client)
                .add(FieldName.ACCEPT_ENCODING, "identity");
        for (FieldName name : config.sendFields()) {
            for (int line = from.find(name); line >= 0; line = from.next(name, line)) {
                fields.addLine(from, line);
            }
        }
        if (settings.via() != null) {
            fields.add(FieldName.VIA, settings.via());
        }
        Origin origin = config.isSecure()
                ? Origin.https(config.host(), config.port())
                : Origin.http(config.host(), config.port());
        OriginRequest.Builder builder = OriginRequest.to(origin)
                .method(config.method().name())
                .target(config.target())
                .fields(fields.build())
                .tls(config.tls())
                .source(settings.source())
                .settings(settings.fetch());
        if (config.method() == AuthorizeConfig.SentMethod.POST) {
            builder.contentLength(0);
        }
        return builder.build();
    }
}
