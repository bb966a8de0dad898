package io.millrace.proxy.admin.data.copy;

import io.millrace.proxy.admin.resource.AdminCaller;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs the copied responses of each client: the first response at once, then the number of further responses at most
 * once a minute. Thread-safe.
 */
final class CopyAudit {
    private static final Logger log = LoggerFactory.getLogger(CopyAudit.class);
    /** Shortest time between two log lines of one client. */
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Limit of clients with a count. Once it is reached, the next response resets the counts of all clients. */
    private static final int CLIENTS_MAX = 256;

    private final String verb;
    private final LongSupplier nanoTime;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock. */
    private final Map<String, Counted> byClient = new HashMap<>();

    /** The responses of a client since its last log line. */
    private static final class Counted {
        private long lineNanos;
        private long responses;

        Counted(long lineNanos) {
            this.lineNanos = lineNanos;
        }
    }

    /** @param verb action on the responses, such as {@code export} */
    CopyAudit(String verb, LongSupplier nanoTime) {
        this.verb = verb;
        this.nanoTime = nanoTime;
    }

    void add(AdminCaller caller, String url) {
        lock.lock();
        try {
            count(caller.text(), url, nanoTime.getAsLong());
        } finally {
            lock.unlock();
        }
    }

    private void count(String client, String url, long now) {
        if (byClient.size() >= CLIENTS_MAX) {
            byClient.clear();
        }
        Counted counted = byClient.get(client);
        if (counted == null) {
            byClient.put(client, new Counted(now));
            log.info("{} of stored responses by {}: begins with {}", verb, client.isEmpty() ? "unknown" : client, url);
            return;
        }
        counted.responses++;
        if (now - counted.lineNanos >= QUIET_NANOS) {
            log.info("{} of stored responses by {}: {} more, up to {}", verb, client, counted.responses, url);
            counted.lineNanos = now;
            counted.responses = 0;
        }
    }
}
