package io.millrace.proxy.admin.data.copy;

import io.millrace.proxy.admin.resource.AdminCaller;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log lines about copied responses: the first one of a client at once, then their number at most once a minute.
 * Thread-safe.
 */
final class CopyAudit {
    private static final Logger log = LoggerFactory.getLogger(CopyAudit.class);
    private static final long QUIET_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Limit of clients that are counted; with more of them, all counts begin again. */
    private static final int CLIENTS_MAX = 256;

    private final String verb;
    private final LongSupplier nanoTime;
    private final Map<String, long[]> byClient = new HashMap<>();

    /** @param verb what is done with responses, such as {@code export} */
    CopyAudit(String verb, LongSupplier nanoTime) {
        this.verb = verb;
        this.nanoTime = nanoTime;
    }

    synchronized void add(AdminCaller caller, String url) {
        String client = caller.text();
        if (byClient.size() >= CLIENTS_MAX) {
            byClient.clear();
        }
        long now = nanoTime.getAsLong();
        long[] state = byClient.get(client);
        if (state == null) {
            byClient.put(client, new long[] {now, 0});
            log.info("{} of stored responses by {}: begins with {}", verb, client.isEmpty() ? "unknown" : client, url);
            return;
        }
        state[1]++;
        if (now - state[0] >= QUIET_NANOS) {
            log.info("{} of stored responses by {}: {} more, up to {}", verb, client, state[1], url);
            state[0] = now;
            state[1] = 0;
        }
    }
}
