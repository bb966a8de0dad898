package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import io.millrace.proxy.admin.resource.FailureReply;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The replies to requests that open pages of the dashboard repeat. All pages share one reply for two seconds, so that
 * their number does not change the load on the worker.
 *
 * <p>Only requests of a dashboard session are answered with a shared reply, except for a {@link #snapshot}. Scripts and
 * {@code millctl} get a new reply. A request that changes something invalidates all kept replies, so that a page sees
 * its own change.
 *
 * <p>Thread-safe.
 */
public final class SharedReplies {
    /**
     * Lifetime of a shared reply. It equals the interval of a page's most frequent requests, so a page never gets the
     * same reply twice.
     */
    static final Duration LIFE = Duration.ofSeconds(2);

    /** Limit of kept replies; beyond it the oldest is dropped. The pages of one kind need about ten replies. */
    static final int REPLIES_MAX = 64;

    /** Limit of the content of all kept replies, in bytes; beyond it the oldest is dropped. */
    static final long BYTES_MAX = 8 << 20;

    /**
     * Limit of the length of a target whose reply is shared. A longer target contains text that a person entered, so
     * other pages do not send the same request.
     */
    private static final int TARGET_LENGTH_MAX = 2048;

    /** The age of a shared reply, in milliseconds. */
    private static final String AGE_FIELD = "Millrace-Age-Millis";

    private static final String METRIC = "millrace_dashboard_replies_total";

    /** The queries that open pages repeat. A reply depends only on the target, and on whether the role is viewer. */
    private static final Set<String> REPEATED = Set.of(
            "/v1/status",
            "/v1/alarms",
            "/v1/events",
            "/v1/history",
            "/v1/origins",
            "/v1/hosts",
            "/v1/server",
            "/v1/memory",
            "/v1/storage",
            "/v1/cache/curve",
            "/v1/tls/certificates",
            "/v1/log/kept",
            "/v1/fleet",
            "/v1/fleet/config",
            "/v1/fleet/read");

    /**
     * Paths of requests that do not invalidate the kept replies. No repeated query shows their changes at once, and
     * there may be many such requests in a second.
     */
    private static final List<String> UNRELATED_CHANGES =
            List.of("/v1/cache/", "/v1/session", "/v1/dashboard/", "/service/", "/zones/", "/client/");

    private final Executor blockingCalls;
    private final LongSupplier nanoTime;
    private final Lock lock = new ReentrantLock();
    /** The kept replies and those in progress by target and role, the oldest first. */
    private final Map<String, Shared> byKey = new LinkedHashMap<>();

    private final LongAdder rendered = new LongAdder();
    private final LongAdder shared = new LongAdder();
    private final LongAdder unchanged = new LongAdder();

    /**
     * Creates an instance that has no replies yet.
     *
     * @param blockingCalls runs blocking resources
     * @param nanoTime as {@link System#nanoTime}
     */
    public SharedReplies(Executor blockingCalls, LongSupplier nanoTime) {
        this.blockingCalls = blockingCalls;
        this.nanoTime = nanoTime;
    }

    /** A complete reply. The tag identifies its content. */
    private record Rendered(AdminReply reply, String tag, long atNanos) {}

    /** A reply that is kept or in progress, and the time of its first request. */
    private record Shared(CompletableFuture<Rendered> future, long startNanos, long timeoutNanos) {
        boolean isOver(long now) {
            return now - startNanos >= (future.isDone() ? LIFE.toNanos() : timeoutNanos);
        }

        long bytes() {
            return future.isDone() && !future.isCompletedExceptionally()
                    ? future.join().reply().body().length
                    : 0;
        }
    }

    /**
     * Returns a resource that shares its replies if open pages repeat its requests. Returns a resource that invalidates
     * the kept replies if its requests change what pages show. Returns other resources as they are.
     */
    public AdminResource sharing(AdminResource resource) {
        boolean isQuery = resource.method().equals("GET");
        if (isQuery) {
            return REPEATED.contains(resource.path()) ? new SharedResource(resource, this) : resource;
        }
        return UNRELATED_CHANGES.stream().anyMatch(resource.path()::startsWith)
                ? resource
                : new ChangingResource(resource, this);
    }

    /** Returns a query at {@code path} with the replies of {@code source}. All clients share them, also scripts. */
    public AdminResource snapshot(String path, AdminResource source) {
        return new SharedSnapshot(path, source, this);
    }

    /** Returns true if a request is from a page of the dashboard, and its reply may be shared. */
    static boolean isShared(AdminRequest request) {
        return request.overTcp()
                && request.caller().purgeRights() == null
                && request.target().length() <= TARGET_LENGTH_MAX
                && request.sender().field(Dashboard.PROOF_FIELD) != null;
    }

    /** Invalidates all kept replies, so that each later request gets a new one. */
    void forget() {
        lock.lock();
        try {
            byKey.clear();
        } finally {
            lock.unlock();
        }
    }

    /** Answers a request with a reply that is at most {@link #LIFE} old. */
    void answer(AdminResource source, AdminRequest request, AdminResponder responder) {
        boolean hasViewerRole = request.caller().hasViewerRole();
        Shared created = null;
        Shared used;
        long now = nanoTime.getAsLong();
        String key = hasViewerRole + " " + request.target();
        lock.lock();
        try {
            Shared kept = byKey.get(key);
            if (kept == null || kept.isOver(now)) {
                created = new Shared(
                        new CompletableFuture<>(), now, source.timeout().toNanos());
                byKey.remove(key);
                byKey.put(key, created);
                dropOld(now);
                used = created;
            } else {
                used = kept;
            }
        } finally {
            lock.unlock();
        }
        (created == null ? shared : rendered).increment();
        if (created != null) {
            render(source, neutral(request, hasViewerRole), created.future());
        }
        String clientTag = request.sender().field("if-none-match");
        used.future().whenComplete((reply, failure) -> {
            if (failure == null) {
                responder.reply(replyTo(clientTag, reply));
            } else {
                responder.fail(FailureReply.exceptionOf(failure));
            }
        });
    }

    /**
     * Returns a copy of the request without the identity of its sender. The copy still shows whether the role is
     * viewer.
     */
    private static AdminRequest neutral(AdminRequest request, boolean hasViewerRole) {
        AdminCaller caller = hasViewerRole ? new AdminCaller(-1, null, null, null, true) : AdminCaller.UNKNOWN;
        return new AdminRequest("GET", request.target(), request.path(), new byte[0], request.overTcp(), caller);
    }

    private void render(AdminResource source, AdminRequest request, CompletableFuture<Rendered> future) {
        call(source, request, new AdminResponder() {
            @Override
            public void reply(AdminReply reply) {
                future.complete(new Rendered(reply, tag(reply), nanoTime.getAsLong()));
            }

            @Override
            public void fail(AdminException error) {
                future.completeExceptionally(error);
            }
        });
    }

    private static String tag(AdminReply reply) {
        return '"' + Secret.digest(reply.body()) + '"';
    }

    private AdminReply replyTo(@Nullable String clientTag, Rendered one) {
        AdminReply reply = one.reply();
        if (reply.status() != 200) {
            return reply;
        }
        long ageMillis = TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - one.atNanos());
        Map<String, String> fields = Map.of("ETag", one.tag(), AGE_FIELD, Long.toString(Math.max(0, ageMillis)));
        if (!one.tag().equals(clientTag)) {
            return reply.with(fields);
        }
        unchanged.increment();
        return new AdminReply(304, reply.contentType(), new byte[0]).with(fields);
    }

    /** Removes replies whose time is over. Above a limit, also removes the oldest replies. */
    private void dropOld(long now) {
        byKey.values().removeIf(each -> each.isOver(now));
        long bytes = 0;
        for (Shared each : byKey.values()) {
            bytes += each.bytes();
        }
        Iterator<Shared> oldest = byKey.values().iterator();
        while (byKey.size() > REPLIES_MAX || bytes > BYTES_MAX) {
            bytes -= oldest.next().bytes();
            oldest.remove();
        }
    }

    /** Calls a resource, on the thread for blocking requests if it blocks. */
    void call(AdminResource source, AdminRequest request, AdminResponder responder) {
        if (!source.isBlocking()) {
            callNow(source, request, responder);
            return;
        }
        try {
            blockingCalls.execute(() -> callNow(source, request, responder));
        } catch (RejectedExecutionException e) {
            responder.fail(new AdminException(503, "busy", "too many admin requests are waiting; try again"));
        }
    }

    // Any failure of a resource is answered.
    @SuppressWarnings("IllegalCatch")
    private static void callNow(AdminResource source, AdminRequest request, AdminResponder responder) {
        try {
            source.handle(request, responder);
        } catch (AdminException e) {
            responder.fail(e);
        } catch (RuntimeException e) {
            responder.fail(FailureReply.exceptionOf(e));
        }
    }

    /** Returns the counters in the text format of Prometheus. */
    public String prometheusText() {
        return "# HELP " + METRIC + " Replies to open pages of the dashboard: rendered, shared with another viewer, and"
                + " unchanged (rendered or shared replies that were sent as 304 without content).\n# TYPE " + METRIC
                + " counter\n"
                + line("rendered", rendered)
                + line("shared", shared)
                + line("unchanged", unchanged);
    }

    private static String line(String result, LongAdder count) {
        return METRIC + "{application=\"millrace\",result=\"" + result + "\"} " + count.sum() + ".0\n";
    }
}
