package io.millrace.wasm.callout;

import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import io.millrace.wasm.abi.ModuleLog;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The HTTP client of one extension. It speaks HTTP/1.1, reuses connections, and follows no redirects. Reloads of the
 * module do not change it.
 *
 * <p>Thread-safe. Never blocks: threads of its own resolve names and receive responses.
 */
public final class CalloutClient implements AutoCloseable {
    private static final int THREADS = 4;
    private static final long IDLE_SECONDS = 10;

    private static final List<String> SAMPLE =
            List.of(":authority", "localhost", ":method", "POST", ":path", "/", "accept", "*/*");

    private final CalloutSettings settings;
    private final ModuleLog log;
    private final ExtensionCounter calls;
    private final ExtensionCounter failures;
    private final ThreadPoolExecutor threads;
    private final HttpClient client;
    private final OpenLimits limits = new OpenLimits();

    /** Creates a client without connections. */
    public CalloutClient(CalloutSettings settings, ExtensionContext context, ModuleLog log) {
        this.settings = settings;
        this.log = log;
        calls = context.counter("callouts");
        failures = context.counter("callouts_failed");
        AtomicInteger count = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread =
                            new Thread(task, "millrace-wasm-callout-" + context.name() + "-" + count.getAndIncrement());
                    thread.setDaemon(true);
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
        client = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .followRedirects(HttpClient.Redirect.NEVER)
                .proxy(HttpClient.Builder.NO_PROXY)
                .executor(threads)
                .build();
        // Loads the classes of requests now, not in the first callback of the module that creates a request.
        HttpRequest ignored = CalloutRequest.of(URI.create("http://localhost"), SAMPLE, new byte[1]);
    }

    /** The upstreams and limits. */
    public CalloutSettings settings() {
        return settings;
    }

    /** The number of calls whose results are not released. */
    int open() {
        return limits.calls();
    }

    /** The number of tasks that wait for a thread. */
    int queued() {
        return threads.getQueue().size();
    }

    /**
     * Sends a request.
     *
     * @param onEnd called once with the result, during this call or later, on any thread. The call stays open until the
     *     result is released
     * @return the exchange, which the caller may cancel; null if the request was refused, and {@code onEnd} is not
     *     called
     */
    @Nullable
    Future<?> send(HttpRequest request, Consumer<CalloutResponse> onEnd) {
        OpenLimits.Slot slot = limits.open();
        if (slot == null) {
            refused("more than " + OpenLimits.CALLS_MAX + " calls are open");
            return null;
        }
        long bytes = request.bodyPublisher()
                .map(HttpRequest.BodyPublisher::contentLength)
                .orElse(0L);
        if (!slot.reserve(bytes)) {
            slot.release();
            refused(OpenLimits.BYTES_REASON);
            return null;
        }
        CompletableFuture<HttpResponse<byte[]>> result = new CompletableFuture<>();
        Runnable task = () -> exchange(request, result, slot);
        CompletableFuture<HttpResponse<byte[]>> ignored = result.whenComplete((response, fault) -> {
            if (fault != null) {
                forget(task);
                failed(request.uri(), fault);
            }
            onEnd.accept(fault == null ? CalloutResponse.of(response, slot) : CalloutResponse.failed(slot));
        });
        try {
            // Another thread sends it: the first request loads many classes, which would count in the callback's time.
            threads.execute(task);
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(e);
        }
        return result;
    }

    /** Removes a waiting task. Tasks of cancelled calls would accumulate while all threads resolve names. */
    private void forget(Runnable task) {
        boolean ignored = threads.remove(task);
    }

    /** Sends a request, and passes its end on. A cancellation of the result cancels the request. */
    private void exchange(HttpRequest request, CompletableFuture<HttpResponse<byte[]>> result, OpenLimits.Slot slot) {
        if (result.isDone()) {
            return;
        }
        try {
            CompletableFuture<HttpResponse<byte[]>> sent =
                    client.sendAsync(request, head -> new LimitedBody(settings.bodyBytesMax(), slot));
            sent.whenComplete((response, fault) -> {
                if (fault == null) {
                    result.complete(response);
                } else {
                    result.completeExceptionally(fault);
                }
            });
            result.whenComplete((response, fault) -> {
                if (fault != null) {
                    sent.cancel(true);
                }
            });
        } catch (RuntimeException e) {
            result.completeExceptionally(e);
        }
    }

    /** Counts a call, before it is sent or refused. */
    void count() {
        calls.add(1);
    }

    /** Counts and logs the failure of a call that is not sent. */
    void refused(String reason) {
        failures.add(1);
        log.once("callout refused " + reason, "an HTTP call of the module was refused: " + reason);
    }

    private void failed(URI url, Throwable fault) {
        failures.add(1);
        Throwable cause = fault instanceof CompletionException && fault.getCause() != null ? fault.getCause() : fault;
        String upstream = url.getScheme() + "://" + url.getRawAuthority();
        log.once(
                "callout " + upstream + cause.getClass(),
                "an HTTP call of the module to " + upstream + " has failed: "
                        + (cause instanceof CancellationException
                                ? "no response in time, or the request has ended"
                                : cause));
    }

    /** Ends the threads after their queued tasks. Calls that are still open may end without a result. */
    @Override
    public void close() {
        threads.shutdown();
    }
}
