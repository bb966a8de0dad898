package io.millrace.proxy.admin.dashboard;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.concurrent.CompletionStage;

/** Opens listeners of the admin API on ports of loopback. Thread-safe. */
public interface LoopbackListeners {
    /** An open listener. Thread-safe. */
    interface Listener {
        /** Its address with its port. */
        InetSocketAddress address();

        /** Stops accepting connections. A second call has no effect. */
        void close();
    }

    /** Opens a listener on a free port. Completes with an IOException if there is none. */
    CompletionStage<Listener> open();

    /** Runs a task later, unless the admin server is closed by then. */
    void schedule(Runnable task, Duration delay);
}
