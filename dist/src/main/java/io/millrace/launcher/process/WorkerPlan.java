package io.millrace.launcher.process;

import io.millrace.launcher.sockets.ListeningSockets;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.ListenerSockets;
import io.netty.channel.unix.FileDescriptor;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The configuration, start command and sockets with which a worker is started. Immutable, except that the sockets can
 * be closed.
 *
 * @param config configuration of the worker
 * @param starter starts the process
 * @param sockets listening sockets; null if workers bind their own sockets
 */
public record WorkerPlan(
        ConfigSource config,
        WorkerStarter starter,
        @Nullable ListeningSockets sockets) {
    public List<ListenerSockets> listeners() {
        return sockets == null ? List.of() : sockets.listeners();
    }

    /** The descriptors of the sockets. This object owns them. */
    public List<FileDescriptor> descriptors() {
        return sockets == null ? List.of() : sockets.descriptors();
    }

    /** Returns a copy with another configuration. */
    public WorkerPlan with(ConfigSource changed) {
        return new WorkerPlan(changed, starter, sockets);
    }

    /** Returns a copy with other sockets. */
    public WorkerPlan with(ListeningSockets changed) {
        return new WorkerPlan(config, starter, changed);
    }

    /** Closes the sockets that {@code other} does not contain. */
    public void closeSocketsExcept(@Nullable WorkerPlan other) {
        if (sockets != null) {
            sockets.closeExcept(other == null ? null : other.sockets());
        }
    }
}
