package io.millrace.proxy.admin.status;

import org.jspecify.annotations.Nullable;

/** Source of liveness and readiness. Thread-safe; never blocks. */
public interface HealthSource {
    /** Returns the reason why the process should be restarted; null while its event loops work. */
    @Nullable
    String notLive();

    /** Returns the reason why clients should send no new requests, such as {@code draining}. Returns null if ready. */
    @Nullable
    String notReady();
}
