package io.millrace.proxy.admin.status;

import org.jspecify.annotations.Nullable;

/** Knows whether the proxy lives and takes requests. Thread-safe; never blocks. */
public interface HealthSource {
    /** Why the process should be restarted, or null while its event loops turn. */
    @Nullable
    String notLive();

    /** Why no new requests should be sent here, such as {@code draining}, or null when it is ready. */
    @Nullable
    String notReady();
}
