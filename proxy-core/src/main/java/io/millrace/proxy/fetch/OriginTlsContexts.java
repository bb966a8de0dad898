package io.millrace.proxy.fetch;

import io.millrace.proxy.config.OriginGroupConfig;
import io.millrace.proxy.config.OriginTlsConfig.Context;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.config.RemapRuleConfig;
import io.millrace.proxy.tls.FileStamp;
import io.netty.handler.ssl.SslContext;
import io.netty.util.concurrent.DefaultThreadFactory;
import java.nio.file.Path;
import java.util.HashSet;
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
 * TLS contexts for origins, one for each different setting, made anew when one of its files changes.
 *
 * <p>All event loops share them, and with them the sessions that they resume. A faulty file leaves the context of before
 * in use; a setting that never had a good one has no connections. Thread-safe.
 */
public final class OriginTlsContexts implements AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(OriginTlsContexts.class);

    private final Map<Context, Entry> entries = new ConcurrentHashMap<>();
    private final ReentrantLock lock = new ReentrantLock();
    private @Nullable ScheduledExecutorService checking;
    private @Nullable Future<?> check;
    private long checkNanos;

    /** One setting and what was made of it. Written under the lock; event loops read the volatile fields. */
    private static final class Entry {
        final Context config;
        List<FileStamp> stamps = List.of();
        volatile @Nullable SslContext made;
        volatile @Nullable String fault;

        Entry(Context config) {
            this.config = config;
        }
    }

    /** Makes the contexts that a configuration needs and keeps no others. Blocks on files. */
    public void apply(ProxyConfig config) {
        Set<Context> used = used(config);
        lock.lock();
        try {
            entries.keySet().removeIf(key -> key.hasFiles() && !used.contains(key));
            used.forEach(this::prepare);
            boolean watches = used.stream().anyMatch(Context::hasFiles);
            long nanos = config.tls().checkNanos();
            if (check != null && (!watches || nanos != checkNanos)) {
                check.cancel(false);
                check = null;
            }
            if (watches && check == null) {
                checkNanos = nanos;
                if (checking == null) {
                    checking = Executors.newSingleThreadScheduledExecutor(
                            new DefaultThreadFactory("millrace-origin-tls", true));
                }
                check = checking.scheduleWithFixedDelay(this::checkFiles, nanos, nanos, TimeUnit.NANOSECONDS);
            }
        } finally {
            lock.unlock();
        }
    }

    private static Set<Context> used(ProxyConfig config) {
        Set<Context> used = new HashSet<>();
        if (config.forwardProxy().enabled()) {
            used.add(config.forwardRule().originTls().context());
        }
        for (RemapRuleConfig rule : config.remap()) {
            OriginGroupConfig group = config.originGroups().stream()
                    .filter(each -> each.name().equals(rule.origins()))
                    .findFirst()
                    .orElse(null);
            if (rule.to().isSecure() || (group != null && isSecure(group))) {
                used.add(rule.originTls().context());
            }
        }
        for (OriginGroupConfig group : config.originGroups()) {
            if (isSecure(group)) {
                used.add(group.tls().context());
            }
        }
        return used;
    }

    private static boolean isSecure(OriginGroupConfig group) {
        return group.hosts().stream().anyMatch(host -> "https".equals(host.url().scheme()));
    }

    private Entry prepare(Context config) {
        Entry entry = entries.computeIfAbsent(config, Entry::new);
        if (entry.made == null) {
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
            log.error("TLS to origins: the check for changed files failed; it is repeated", e);
        }
    }

    /** Makes the context of an entry, or notes why there is none. */
    private static void make(Entry entry) {
        // Older than the content, so that a change in between is seen at the next check.
        List<FileStamp> stamps = stamps(entry.config);
        boolean again = entry.made != null;
        try {
            entry.made = OriginTls.of(entry.config);
            if (again || entry.fault != null) {
                log.info("TLS to origins: loaded {}", files(entry.config).toList());
            }
            entry.fault = null;
        } catch (SSLException | RuntimeException e) {
            String fault = String.valueOf(e.getMessage());
            if (!fault.equals(entry.fault)) {
                log.error(
                        "TLS to origins: {}; {}",
                        fault,
                        again ? "the version loaded before stays in use" : "connections that need it fail");
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
     * Returns the context of a setting, which {@link #apply} has made in most cases.
     *
     * @throws SSLException when there is none; the message names the file and the reason
     */
    SslContext context(Context config) throws SSLException {
        Entry entry = entries.get(config);
        if (entry == null) {
            // Settings of a request that is older than a reload, or of an origin that only a client named.
            lock.lock();
            try {
                entry = prepare(config);
            } finally {
                lock.unlock();
            }
        }
        SslContext made = entry.made;
        if (made == null) {
            throw new SSLException(String.valueOf(entry.fault));
        }
        return made;
    }

    /** Ends the checks; contexts stay usable. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (checking != null) {
                checking.shutdownNow();
            }
        } finally {
            lock.unlock();
        }
    }
}
