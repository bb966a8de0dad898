package io.millrace.proxy;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.exchange.ExchangeLoop;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.net.Listener;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.log.live.LiveLog;
import io.millrace.proxy.server.BufferPool;
import io.millrace.proxy.server.ConnectionMemory;
import io.millrace.proxy.server.ProxyView;
import io.millrace.proxy.server.ServingLoop;
import io.millrace.proxy.tls.ServerTls;
import io.millrace.store.CacheStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Read access to one {@link ProxyServer}, for its admin API. Thread-safe. */
record ServerView(ProxyServer proxy) implements ProxyView {
    @Override
    public State state() {
        return switch (proxy.state()) {
            case NEW -> State.NEW;
            case RUNNING -> State.RUNNING;
            case DRAINING -> State.DRAINING;
            case CLOSED -> State.CLOSED;
        };
    }

    @Override
    public String version() {
        return Version.current();
    }

    @Override
    public Duration uptime() {
        return proxy.uptime();
    }

    @Override
    public String transport() {
        return proxy.transport();
    }

    @Override
    public String tls() {
        return proxy.tls();
    }

    @Override
    public ProxyConfig config() {
        return proxy.config();
    }

    @Override
    public ExchangeSettings settings() {
        return proxy.settings();
    }

    @Override
    public List<Listener> listeners() {
        return proxy.listeners();
    }

    @Override
    public List<ServingLoop> loops() {
        return proxy.loops();
    }

    @Override
    public ExchangeLoop.Shared shared() {
        return proxy.shared();
    }

    @Override
    public CacheStore<StoredHead> store() {
        return proxy.store();
    }

    @Override
    public @Nullable LiveLog liveLog() {
        return proxy.liveLog();
    }

    @Override
    public ServerTls serverTls() {
        return proxy.serverTls();
    }

    @Override
    public Map<String, String> logFailures() {
        return proxy.logFailures();
    }

    @Override
    public MetricsRegistry metrics() {
        return proxy.metrics();
    }

    @Override
    public String metricsText() {
        return proxy.metricsText();
    }

    @Override
    public BufferPool allocator() {
        return proxy.allocator();
    }

    @Override
    public ConnectionMemory memory() {
        return proxy.memory();
    }

    @Override
    public ExtensionSet extensions() {
        return proxy.extensions();
    }
}
