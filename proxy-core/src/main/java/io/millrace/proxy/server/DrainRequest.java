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
 * An operator's word that clients are to go elsewhere, as Traffic Server's {@code server drain}: answers carry {@code Connection:
 * close} and readiness says draining, while connections are accepted as before. A file keeps it for the next worker.
 *
 * <p>Thread-safe; reads and writes the file on the caller's thread.
 */
public final class DrainRequest {
    private static final Logger log = LoggerFactory.getLogger(DrainRequest.class);

    private final List<ServingLoop> loops;
    private final @Nullable Path mark;
    private final ReentrantLock changing = new ReentrantLock();
    private volatile boolean isSet;

    /** @param mark exists while it is set; null where nobody remembers it */
    public DrainRequest(List<ServingLoop> loops, @Nullable Path mark) {
        this.loops = loops;
        this.mark = mark;
    }

    /** Takes over what was said to the worker before. */
    public void restore() {
        if (mark != null && Files.exists(mark)) {
            log.warn("draining, as was asked of the worker before; millctl server drain --undo ends it");
            apply(true);
        }
    }

    public boolean isSet() {
        return isSet;
    }

    /** Sets it or takes it back. */
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
            log.info(drains ? "draining: answers carry Connection: close" : "no longer draining");
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
            log.warn("the next worker will not know of the drain: {}", e.toString());
        }
    }

    private void apply(boolean drains) {
        isSet = drains;
        for (ServingLoop loop : loops) {
            loop.loop().execute(() -> loop.connections().closeAfterAnswers(drains));
        }
    }
}
