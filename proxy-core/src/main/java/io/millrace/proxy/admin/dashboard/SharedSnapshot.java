package io.millrace.proxy.admin.dashboard;

import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.AdminResponder;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A cached reply of another resource, shared by all viewers of the dashboard. It is requested at most once a second.
 * Therefore the number of viewers does not change the load on the worker.
 *
 * <p>Thread-safe.
 */
public final class SharedSnapshot implements AdminResource {
    static final Duration AGE_MAX = Duration.ofSeconds(1);

    private final String path;
    private final AdminResource source;
    private final LongSupplier nanoTime;
    private final Lock lock = new ReentrantLock();
    private @Nullable CompletableFuture<AdminReply> last;
    private long lastNanos;

    /**
     * Creates the resource.
     *
     * @param source a resource that needs no parameters and does not block
     * @param nanoTime as {@link System#nanoTime}
     */
    public SharedSnapshot(String path, AdminResource source, LongSupplier nanoTime) {
        this.path = path;
        this.source = source;
        this.nanoTime = nanoTime;
    }

    @Override
    public String method() {
        return "GET";
    }

    @Override
    public String path() {
        return path;
    }

    @Override
    public Duration timeout() {
        return source.timeout();
    }

    @Override
    public void handle(AdminRequest request, AdminResponder responder) {
        responder.replyWhen(snapshot(), Function.identity());
    }

    private CompletableFuture<AdminReply> snapshot() {
        lock.lock();
        try {
            long now = nanoTime.getAsLong();
            CompletableFuture<AdminReply> shared = last;
            Duration age = shared != null && shared.isDone() ? AGE_MAX : timeout();
            if (shared != null && now - lastNanos < age.toNanos()) {
                return shared;
            }
            CompletableFuture<AdminReply> next = new CompletableFuture<>();
            last = next;
            lastNanos = now;
            try {
                source.handle(
                        new AdminRequest("GET", source.path(), source.path(), new byte[0], false), next::complete);
            } catch (AdminException e) {
                next.completeExceptionally(e);
            }
            return next;
        } finally {
            lock.unlock();
        }
    }
}
