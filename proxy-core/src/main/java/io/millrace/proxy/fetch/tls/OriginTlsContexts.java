package io.millrace.proxy.fetch.tls;

import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.edge.MirrorConfig;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.key.ConfigValues;
import io.millrace.proxy.config.origins.OriginConfig.Http2;
import io.millrace.proxy.config.origins.OriginGroupConfig;
import io.millrace.proxy.config.remap.RemapRuleConfig;
import io.millrace.proxy.config.tls.OriginTlsConfig.Context;
import io.millrace.proxy.tls.FileStamp;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The TLS contexts for connections to origins: one for each distinct setting, rebuilt when a file changes.
 *
 * <p>All event loops share the contexts, including their sessions for resumption. If a changed file is faulty, the
 * previous context stays in use. Connections fail if their setting never had a valid context. Thread-safe.
 */
public final class OriginTlsContexts implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OriginTlsContexts.class);

    private final Map<Context, Entry> entries = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ScheduledExecutorService checker;
    private @Nullable Future<?> checkTask;
    private long checkNanos;

    /** One setting with its contexts. Written under the lock; event loops read the volatile fields. */
    private static final class Entry {
        final Context config;
        List<FileStamp> stamps = List.of();
        /** The HTTP/2 modes for which contexts were requested. Guarded by the lock. */
        final Set<Http2> modes = EnumSet.of(Http2.OFF);

        volatile Map<Http2, SslContext> contexts = Map.of();
        /** The error of the last attempt to create the contexts; null if it succeeded. */
        volatile @Nullable String fault;

        Entry(Context config) {
            this.config = config;
        }
    }

    /** Creates the contexts a configuration needs, and removes unused contexts made from files. Blocks on files. */
    public void apply(ProxyConfig config) {
        Map<Context, Set<Http2>> used = used(config);
        lock.lock();
        try {
            entries.keySet().removeIf(key -> key.hasFiles() && !used.containsKey(key));
            used.forEach(this::prepare);
            boolean watches = used.keySet().stream().anyMatch(Context::hasFiles);
            long nanos = config.tls().checkNanos();
            if (checkTask != null && (!watches || nanos != checkNanos)) {
                checkTask.cancel(false);
                checkTask = null;
            }
            if (watches && checkTask == null) {
                checkNanos = nanos;
                if (checker == null) {
                    checker = Executors.newSingleThreadScheduledExecutor(
                            new DefaultThreadFactory("millrace-origin-tls", true));
                }
                checkTask = checker.scheduleWithFixedDelay(this::checkFiles, nanos, nanos, TimeUnit.NANOSECONDS);
            }
        } finally {
            lock.unlock();
        }
    }

    private static Map<Context, Set<Http2>> used(ProxyConfig config) {
        Map<Context, Set<Http2>> used = new HashMap<>();
        if (config.forwardProxy().enabled()) {
            RemapRuleConfig rule = config.forwardRule();
            add(used, rule.originTls().context(), rule.originHttp2());
        }
        for (RemapRuleConfig rule : config.remap()) {
            OriginGroupConfig group = config.originGroups().stream()
                    .filter(each -> each.name().equals(rule.origins()))
                    .findFirst()
                    .orElse(null);
            if (rule.to().isSecure() || (group != null && isSecure(group))) {
                Http2 groupHttp2 = group == null ? null : group.http2();
                add(used, rule.originTls().context(), groupHttp2 == null ? rule.originHttp2() : groupHttp2);
            }
        }
        for (OriginGroupConfig group : config.originGroups()) {
            if (isSecure(group)) {
                add(used, group.tls().context(), group.checkHttp2());
            }
        }
        for (ConfigValues rule : config.values().elements(ConfigKeys.REMAP)) {
            MirrorConfig mirror = MirrorConfig.from(rule, config.values());
            if (mirror != null && mirror.to().isSecure()) {
                add(used, mirror.tls().context(), Http2.OFF);
            }
        }
        return used;
    }

    private static void add(Map<Context, Set<Http2>> used, Context config, Http2 http2) {
        used.computeIfAbsent(config, key -> EnumSet.of(Http2.OFF)).add(http2);
    }

    private static boolean isSecure(OriginGroupConfig group) {
        return group.hosts().stream().anyMatch(host -> "https".equals(host.url().scheme()));
    }

    private Entry prepare(Context config, Set<Http2> modes) {
        Entry entry = entries.computeIfAbsent(config, Entry::new);
        if (entry.modes.addAll(modes) || entry.contexts.isEmpty()) {
            make(entry);
        }
        return entry;
    }

    private void checkFiles() {
        try {
            lock.lock();
            try {
                for (Entry entry : entries.values()) {
                    if (!entry.stamps.equals(stamps(entry.config))) {
                        make(entry);
                    }
                }
            } finally {
                lock.unlock();
            }
        } catch (RuntimeException e) {
            log.error("TLS to origins: the check for changed files failed and will be repeated", e);
        }
    }

    /** Creates the contexts of an entry, or notes the error. */
    private static void make(Entry entry) {
        // The stamps (identity, size and time of each file) are read before the content of the files. If a file changes
        // in between, the next check detects this.
        List<FileStamp> stamps = stamps(entry.config);
        boolean isReload = !entry.contexts.isEmpty();
        try {
            Map<Http2, SslContext> contexts = new EnumMap<>(Http2.class);
            for (Http2 mode : entry.modes) {
                contexts.put(mode, OriginTls.of(entry.config, mode));
            }
            boolean changed = isReload && !stamps.equals(entry.stamps);
            entry.contexts = contexts;
            if (changed || entry.fault != null) {
                log.info("TLS to origins: loaded {}", files(entry.config).toList());
            }
            entry.fault = null;
        } catch (SSLException | RuntimeException e) {
            String fault = String.valueOf(e.getMessage());
            if (!fault.equals(entry.fault)) {
                log.error(
                        "TLS to origins: {}; {}",
                        fault,
                        isReload ? "the version loaded before stays in use" : "connections that need it fail");
            }
            entry.fault = fault;
        }
        entry.stamps = stamps;
    }

    private static List<FileStamp> stamps(Context config) {
        return files(config).map(FileStamp::of).toList();
    }

    private static Stream<Path> files(Context config) {
        return Stream.of(config.caFile(), config.certificate(), config.key()).flatMap(Stream::ofNullable);
    }

    /**
     * Returns the context of a setting. Usually {@link #apply} has created it already.
     *
     * @param http2 determines the protocols offered by ALPN
     * @throws SSLException when there is none; the message names the file and the reason
     */
    public SslContext context(Context config, Http2 http2) throws SSLException {
        Entry entry = entries.get(config);
        if (entry == null || (!entry.contexts.containsKey(http2) && entry.fault == null)) {
            // No context was prepared for these settings: the request is older than a reload, or the origin comes from
            // the URL of a client and not from the configuration.
            lock.lock();
            try {
                entry = prepare(config, Set.of(http2));
            } finally {
                lock.unlock();
            }
        }
        SslContext found = entry.contexts.get(http2);
        if (found == null) {
            throw new SSLException(String.valueOf(entry.fault));
        }
        return found;
    }

    /** Ends the checks. Contexts stay usable. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (checker != null) {
                checker.shutdownNow();
            }
        } finally {
            lock.unlock();
        }
    }
}
