package io.millrace.proxy.server;

import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.exchange.ExchangeLoop;
import io.millrace.proxy.exchange.settings.ExchangeSettings;
import io.millrace.proxy.extension.ExtensionSet;
import io.millrace.proxy.net.Listener;
import io.millrace.proxy.observe.MetricsRegistry;
import io.millrace.proxy.observe.log.live.LiveLog;
import io.millrace.proxy.tls.ServerTls;
import io.millrace.store.CacheStore;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Read access to one proxy, for its admin API. Thread-safe. */
public interface ProxyView {
    /** The states of a proxy, in the order in which they occur. */
    enum State {
        NEW,
        RUNNING,
        DRAINING,
        CLOSED
    }

    /** The current state of the proxy. */
    State state();

    /** The version, for example {@code 0.1.0}. */
    String version();

    /** Time since the proxy was built. */
    Duration uptime();

    /** The transport: {@code epoll} or {@code nio}. */
    String transport();

    /** The TLS provider, with its version. */
    String tls();

    /** The current configuration. */
    ProxyConfig config();

    /** The settings for new exchanges, the objects that process requests. */
    ExchangeSettings settings();

    /** The listening addresses, in the order of the configuration. */
    List<Listener> listeners();

    /** The event loops with their components; at least one. */
    List<ServingLoop> loops();

    /** The components of exchanges that all event loops share. */
    ExchangeLoop.Shared shared();

    /** The stored responses. */
    CacheStore<StoredHead> store();

    /** The certificates of the listeners. */
    ServerTls serverTls();

    /** The access logs that cannot be written now, each with the reason. */
    Map<String, String> logFailures();

    /** The live log; null without an admin API. */
    @Nullable
    LiveLog liveLog();

    /** The open extensions. */
    ExtensionSet extensions();

    /** The counters and gauges. */
    MetricsRegistry metrics();

    /** All metrics in Prometheus' text format. */
    String metricsText();

    /** The pool of all buffers of the proxy. */
    BufferPool allocator();

    /** The budget for buffers of connections ({@code limits.memory_in_flight}). */
    ConnectionMemory memory();
}
