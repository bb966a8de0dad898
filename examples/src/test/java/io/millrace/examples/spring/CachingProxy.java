package io.millrace.examples.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.millrace.proxy.ProxyServer;
import io.millrace.proxy.ProxyServerBuilder;
import io.millrace.proxy.cache.CachePurge;
import io.millrace.proxy.cache.PurgeResult;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.spi.Extension;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.env.Environment;
import org.springframework.stereotype.Component;

/** A caching proxy for the web server of the same application. It starts after the server, and stops before it. */
@Component
public class CachingProxy implements SmartLifecycle {
    private final Environment environment;
    private final MeterRegistry meters;
    private final Executor executor;
    private final ObjectProvider<Extension> extensions;
    private volatile ProxyServer proxy;

    public CachingProxy(
            Environment environment, MeterRegistry meters, Executor executor, ObjectProvider<Extension> extensions) {
        this.environment = environment;
        this.meters = meters;
        this.executor = executor;
        this.extensions = extensions;
    }

    @Override
    public void start() {
        ProxyServerBuilder builder = ProxyServer.builder()
                .config(ProxyConfig.builder()
                        .listen(environment.getProperty("proxy.listen", "127.0.0.1:8081"))
                        .map("/", "http://127.0.0.1:" + environment.getRequiredProperty("local.server.port"))
                        .set("cache.ram_size", environment.getProperty("proxy.ram", "64MiB"))
                        .build())
                .meterRegistry(meters);
        extensions.orderedStream().forEach(builder::extension);
        try {
            proxy = builder.start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void stop() {
        ProxyServer started = proxy;
        proxy = null;
        started.drain(TimeUnit.SECONDS.toNanos(10)).toCompletableFuture().join();
        started.close();
    }

    @Override
    public boolean isRunning() {
        return proxy != null;
    }

    /** The port of clients. */
    public int port() {
        return proxy.port();
    }

    /** Purges the stored responses that have a tag. */
    public CompletionStage<PurgeResult> purge(String tag) {
        return proxy.cache(executor).purge(CachePurge.tagged(tag));
    }
}
