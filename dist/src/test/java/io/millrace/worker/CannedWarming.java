package io.millrace.worker;

import io.millrace.proxy.config.ProxyConfig;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

/**
 * A warm-up whose behaviour the name of the origin determines: {@code hangs}, {@code dies}, {@code fails},
 * {@code throws}, {@code late}.
 */
final class CannedWarming implements Warming.Starter {
    @Override
    public long limitNanos(ProxyConfig config) {
        String origin = origin(config);
        // A hanging warm-up has a limit longer than any test.
        return origin.contains("warm-") ? TimeUnit.SECONDS.toNanos(origin.contains("warm-hangs") ? 60 : 1) : 0;
    }

    private static String origin(ProxyConfig config) {
        return config.remap().get(0).to().toString();
    }

    @Override
    public Warming start(ProxyConfig config) {
        String origin = origin(config);
        if (origin.contains("warm-dies")) {
            Runtime.getRuntime().halt(3);
        }
        if (origin.contains("warm-throws")) {
            throw new IllegalStateException("the canned warm-up was asked to throw");
        }
        CompletableFuture<String> finished = new CompletableFuture<>();
        if (origin.contains("warm-fails")) {
            finished.completeExceptionally(new IllegalStateException("the canned warm-up was asked to fail"));
        } else if (!origin.contains("warm-hangs") && !origin.contains("warm-late")) {
            finished.complete("canned");
        }
        return new Warming() {
            @Override
            public CompletionStage<String> finished() {
                return finished;
            }

            @Override
            public void stop() {}

            @Override
            public void close() {}
        };
    }
}
