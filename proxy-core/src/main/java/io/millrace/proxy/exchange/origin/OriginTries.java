package io.millrace.proxy.exchange.origin;

import io.millrace.proxy.caching.key.CacheKey;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.exchange.decide.FetchPlan;
import io.millrace.proxy.exchange.forward.OriginRequests;
import io.millrace.proxy.exchange.forward.TracedCall;
import io.millrace.proxy.fetch.OriginCall;
import io.millrace.proxy.fetch.OriginFailure;
import io.millrace.proxy.fetch.OriginRequest;
import io.millrace.proxy.fetch.OriginResponseHandler;
import io.millrace.proxy.fetch.SwitchedConnection;
import io.millrace.proxy.fetch.response.ResponseFraming;
import io.millrace.proxy.http.FieldSection;
import io.millrace.proxy.http.ResponseHead;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.memory.SlowClients;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.origin.GroupTries;
import io.millrace.proxy.origin.KeyHash;
import io.netty.buffer.ByteBuf;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * A request to a group of origins, presented to the caller as one {@link OriginCall}. The group's policy chooses the
 * host. After a failure the request goes to another host, if no part of a response was passed to the handler and a
 * retry is safe (RFC 9110 s9.2.2):
 * <ul>
 * <li>for any method if no connection could be made, since nothing was sent;
 * <li>otherwise if the method is idempotent and none of the content was sent.
 * </ul>
 *
 * <p>Request content is queued here until a host accepts it. Confined to one event loop.
 */
public final class OriginTries implements OriginCall, GroupTries.Key {
    /**
     * Limit in bytes of a discarded response that is read to its end, so that its connection can be reused. A longer
     * response is cancelled.
     */
    private static final int DRAINED_BYTES_MAX = 16 << 10;

    private final OriginAccess access;
    private final FetchPlan plan;
    private final OriginResponseHandler handler;
    private final GroupTries tries;
    /** Request content that was not passed to a host yet. */
    private final ArrayDeque<ByteBuf> unsentContent = new ArrayDeque<>(0);

    private @Nullable HostCall current;
    /** True once the request went to the rule's own origin, because no host was left. */
    private boolean wentDirect;
    /** True once the caller has written all request content. */
    private boolean finished;
    /** True once any request content was passed to a host. */
    private boolean sent;
    /** True once the handler received an event that it may have passed on to a client. */
    private boolean answerBegun;

    private boolean ended;

    private OriginTries(OriginAccess access, FetchPlan plan, String group, OriginResponseHandler handler) {
        this.access = access;
        this.plan = plan;
        this.handler = handler;
        this.finished = plan.contentLength() == 0;
        this.tries = access.groups().begin(group, this, access.clock().millis());
    }

    /** Sends a request to the origin of its rule, or to one host of the rule's group. */
    public static OriginCall fetch(OriginAccess access, FetchPlan plan, OriginResponseHandler handler) {
        String group = plan.mapped().originGroup();
        if (group == null) {
            OriginRequest request = OriginRequests.compose(plan, access.settings());
            return TracedCall.fetch(access.origins(), request, handler, plan.span());
        }
        OriginTries started = new OriginTries(access, plan, group, handler);
        if (!started.tryNext()) {
            access.loop().execute(started::noneUp);
        }
        return started;
    }

    @Override
    public long hash(OriginGroupConfig group) {
        return hash(group, plan);
    }

    /** Returns the hash of a request by which the group's policy selects a host; 0 for policies without a hash. */
    public static long hash(OriginGroupConfig group, FetchPlan plan) {
        TargetUri url = plan.keyUrl();
        if (group.policy() == OriginGroupConfig.Policy.STICKY) {
            byte[] address = plan.client().remoteAddress().getAddress().getAddress();
            return KeyHash.of(address, 0, address.length);
        }
        if (group.policy() != OriginGroupConfig.Policy.CONSISTENT_HASH) {
            return 0;
        }
        byte[] target = url.targetBytes();
        return switch (group.hashKey()) {
            case PATH -> KeyHash.of(target, url.pathStart(), url.pathEnd());
            case PATH_QUERY -> KeyHash.of(target, url.pathStart(), url.queryEnd());
            case HOST -> KeyHash.of(url.hostBytes(), 0, url.hostBytes().length);
            case URL, CACHE_KEY -> {
                byte[] key = group.hashKey() == OriginGroupConfig.HashKey.URL
                        ? CacheKey.of(url).bytes()
                        : plan.primaryBytes();
                yield KeyHash.of(key, 0, key.length);
            }
        };
    }

    // Calls to the hosts

    /** Sends the request to the next host. Returns false if there is none. */
    private boolean tryNext() {
        GroupTries.Try next = tries.next(mayRepeat(), access.clock().millis());
        if (next == null && (!tries.group().config().goDirect() || wentDirect)) {
            return false;
        }
        if (current != null) {
            access.counters().increment(Counter.ORIGIN_TRIES_MORE);
        }
        HostCall call = new HostCall(next);
        current = call;
        wentDirect |= next == null;
        OriginRequest request = next == null
                ? OriginRequests.compose(plan, access.settings())
                : OriginRequests.compose(plan, access.settings(), tries.group(), next.host());
        call.call = TracedCall.fetch(access.origins(), request, call, plan.span());
        return true;
    }

    /** Returns true if a retry is safe even if a host has already received the request. */
    private boolean mayRepeat() {
        return !answerBegun && !sent && plan.request().method().isIdempotent();
    }

    private boolean mayTryNext(OriginFailure failure) {
        return switch (failure.reason()) {
            case DNS, CONNECT_REFUSED, CONNECT_TIMEOUT, QUEUE_FULL, QUEUE_TIMEOUT, TUNNEL_LIMIT ->
                !answerBegun && !sent;
            case TLS, FIRST_BYTE_TIMEOUT, RESET, TRUNCATED, BAD_RESPONSE, IDLE_TIMEOUT, REQUEST_TIMEOUT -> mayRepeat();
            default -> false;
        };
    }

    private void noneUp() {
        if (!ended) {
            end();
            handler.onFailure(new OriginFailure(
                    OriginFailure.Reason.NONE_UP, "origins " + tries.group().name() + ": " + tries.text(), true));
        }
    }

    private void end() {
        ended = true;
        ByteBuf piece;
        while ((piece = unsentContent.pollFirst()) != null) {
            piece.release();
        }
    }

    /**
     * The host of the last request, for the log. Null if there was no request, or if it went to the rule's own origin.
     */
    public @Nullable String host() {
        HostCall last = current;
        return last == null || last.attempt == null
                ? null
                : last.attempt.host().origin().authority();
    }

    /** The request to one host. Events that arrive after the request has moved to another host are dropped. */
    private final class HostCall implements OriginResponseHandler {
        private final GroupTries.@Nullable Try attempt;
        private final long sentNanos = System.nanoTime();
        private @Nullable OriginCall call;
        private int status;

        /** @param attempt the group's attempt with this host; null for the rule's own origin */
        private HostCall(GroupTries.@Nullable Try attempt) {
            this.attempt = attempt;
        }

        private boolean isCurrent() {
            return current == this && !ended;
        }

        @Override
        public void onContinue() {
            if (isCurrent()) {
                answerBegun = true;
                handler.onContinue();
            }
        }

        @Override
        public void onInterim(ResponseHead head) {
            if (isCurrent()) {
                answerBegun = true;
                handler.onInterim(head);
            }
        }

        @Override
        public void onRequestWritable() {
            if (isCurrent() && flush(call)) {
                handler.onRequestWritable();
            }
        }

        @Override
        public void onHead(ResponseHead head, ResponseFraming framing) {
            status = head.status();
            if (attempt != null) {
                attempt.responded(status, head.version(), access.clock().millis(), System.nanoTime() - sentNanos);
            }
            if (!isCurrent()) {
                return;
            }
            if (attempt != null && tries.group().isRetried(status) && mayRepeat() && tryNext()) {
                attempt.refused(status);
                boolean isShort = framing.contentLength() >= 0 && framing.contentLength() <= DRAINED_BYTES_MAX;
                if (!isShort && call != null) {
                    call.cancel();
                }
                return;
            }
            answerBegun = true;
            handler.onHead(head, framing);
        }

        /** Reports the host's result immediately, because the lifetime of a tunnel does not show the host's load. */
        @Override
        public void onSwitched(ResponseHead head, SwitchedConnection connection) {
            if (attempt != null) {
                attempt.responded(
                        head.status(), head.version(), access.clock().millis(), System.nanoTime() - sentNanos);
                attempt.answered(head.status(), access.clock().millis());
            }
            if (isCurrent()) {
                end();
                handler.onSwitched(head, connection);
            } else {
                connection.close();
            }
        }

        @Override
        public void onContent(ByteBuf content) {
            if (isCurrent()) {
                handler.onContent(content);
            } else {
                content.release();
            }
        }

        @Override
        public void onComplete(@Nullable FieldSection trailers) {
            if (attempt != null) {
                attempt.answered(status, access.clock().millis());
            }
            if (isCurrent()) {
                end();
                handler.onComplete(trailers);
            }
        }

        @Override
        public void onFailure(OriginFailure failure) {
            if (attempt != null) {
                attempt.failed(failure.reason(), access.clock().millis());
            }
            if (!isCurrent() || (failure.beforeHead() && mayTryNext(failure) && tryNext())) {
                return;
            }
            end();
            handler.onFailure(
                    tries.isWorthLogging() && failure.beforeHead()
                            ? new OriginFailure(
                                    failure.reason(), "origins " + tries.group().name() + ": " + tries.text(), true)
                            : failure);
        }
    }

    // Methods for the caller

    /** Passes queued content to the host while it accepts content. Returns true if the caller may write more. */
    private boolean flush(@Nullable OriginCall call) {
        ByteBuf piece;
        while (call != null && call.isRequestWritable() && (piece = unsentContent.pollFirst()) != null) {
            sent = true;
            call.write(piece);
        }
        if (call != null && unsentContent.isEmpty() && finished && plan.contentLength() != 0) {
            sent = true;
            call.finishRequest();
        }
        return unsentContent.isEmpty() && !finished;
    }

    @Override
    public void write(ByteBuf content) {
        if (ended) {
            content.release();
            return;
        }
        unsentContent.addLast(content);
        if (current != null) {
            flush(current.call);
        }
    }

    @Override
    public void finishRequest() {
        if (!finished && !ended) {
            finished = true;
            if (current != null && current.call != null && (sent || current.call.isRequestWritable())) {
                flush(current.call);
            }
        }
    }

    @Override
    public boolean isRequestWritable() {
        return !ended
                && unsentContent.isEmpty()
                && current != null
                && current.call != null
                && current.call.isRequestWritable();
    }

    @Override
    public SlowClients.OriginDemand demand() {
        return current == null || current.call == null ? SlowClients.OriginDemand.NONE : current.call.demand();
    }

    @Override
    public void pauseReading() {
        if (current != null && current.call != null) {
            current.call.pauseReading();
        }
    }

    @Override
    public void resumeReading() {
        if (current != null && current.call != null) {
            current.call.resumeReading();
        }
    }

    @Override
    public void cancel() {
        if (ended) {
            return;
        }
        end();
        HostCall last = current;
        if (last != null) {
            if (last.attempt != null) {
                last.attempt.abandoned();
            }
            if (last.call != null) {
                last.call.cancel();
            }
        }
    }
}
