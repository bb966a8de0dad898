package io.millrace.proxy.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An operator's request to drain the proxy, like Traffic Server's {@code server drain}. While it is set, responses
 * contain {@code Connection: close}, and the readiness probe reports draining. New connections are still accepted. A
 * mark file passes the request on to the next worker (proxy process).
 *
 * <p>Thread-safe. Methods read and write the file on the caller's thread.
 */
public final class DrainRequest {
    private static final Logger log = LoggerFactory.getLogger(DrainRequest.class);

    private final List<ServingLoop> loops;
    private final @Nullable Path mark;
    private final ReentrantLock changing = new ReentrantLock();
    private volatile boolean isSet;

    /** @param mark the file, which exists while the request is set; null to keep the request in memory only */
    public DrainRequest(List<ServingLoop> loops, @Nullable Path mark) {
        this.loops = loops;
        this.mark = mark;
    }

    /** Restores the request of the previous worker from the file. */
    public void restore() {
        if (mark != null && Files.exists(mark)) {
            log.warn("draining, because the drain that an operator has commanded is still in force;"
                    + " millctl server drain --undo ends the drain");
            apply(true);
        }
    }

    public boolean isSet() {
        return isSet;
    }

    /** Sets or clears the request. */
    public void set(boolean drains) {
        changing.lock();
        try {
            change(drains);
        } finally {
            changing.unlock();
        }
    }

    private void change(boolean drains) {
        if (drains != isSet) {
            log.info(drains ? "draining: responses have Connection: close" : "no longer draining");
        }
        apply(drains);
        if (mark == null) {
            return;
        }
        try {
            if (drains) {
                Files.write(mark, new byte[0]);
            } else {
                Files.deleteIfExists(mark);
            }
        } catch (IOException e) {
            log.warn("the drain cannot be recorded, so the next worker will not drain: {}", e.toString());
        }
    }

    private void apply(boolean drains) {
        isSet = drains;
        for (ServingLoop loop : loops) {
            loop.loop().execute(() -> loop.connections().closeAfterAnswers(drains));
        }
    }
}
